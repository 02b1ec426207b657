/**
 * Builds the page into `dist/src/ui`: modules with the hash of their content in their names, each also
 * compressed, and `index.html`, which names those of the first load. Fails when that load is too large.
 * Beside them `docs.json` has the pages of `src/docs` as HTML, and names their script and style.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { documentFolder, documentPages } from '../build/document-pages.mjs'
import { licensesOf } from '../build/licenses.mjs'

const source = fileURLToPath(new URL('.', import.meta.url))
const target = fileURLToPath(new URL('../../dist/src/ui/', import.meta.url))

/** What a first load may weigh, compressed by gzip. */
const firstLoadBytes = 250 * 1024

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })

const options = {
  absWorkingDir: source,
  entryPoints: { main: 'main.tsx', docs: 'docs/main.ts' },
  outdir: target,
  bundle: true,
  format: 'esm',
  splitting: true,
  minify: true,
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  alias: { hysnappy: './plain-snappy.ts' },
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
}
const result = await build({
  ...options,
  plugins: [wholeFirstLoad(await build({ ...options, write: false }))],
})

const { outputs } = result.metafile
const entry = entryOf('main.tsx')
const firstLoad = firstLoadOf(result.metafile)
const style = entry[1].cssBundle
if (style) firstLoad.add(style)

const html = readFileSync(join(source, 'index.html'), 'utf8')
  .replace('{{script}}', `assets/${basename(entry[0])}`)
  .replace('{{style}}', `assets/${basename(style)}`)
writeFileSync(join(target, 'index.html'), html)

writeDocuments(entryOf('docs/main.ts'))

// Not served: it is there for who passes the page on.
writeFileSync(join(target, 'licenses.txt'), licensesOf(source, Object.keys(result.metafile.inputs)))

let bytes = gzipSync(html).length
for (const path of Object.keys(outputs)) {
  const file = join(source, path)
  const content = readFileSync(file)
  const gzip = gzipSync(content, { level: 9 })
  writeFileSync(`${file}.gz`, gzip)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }))
  if (firstLoad.has(path)) bytes += gzip.length
}

const shown = `${(bytes / 1024).toFixed(1)} KiB`
if (bytes > firstLoadBytes) throw new Error(`the first load is ${shown} compressed: too much`)
console.log(`page: ${shown} for the first load, compressed`)

/** The entry and all that it imports before it runs. */
function firstLoadOf({ outputs }) {
  const found = new Set()
  const visit = (path) => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: imported, kind } of outputs[path].imports) {
      if (kind === 'import-statement') visit(imported)
    }
  }
  visit(entryOf('main.tsx', outputs)[0])
  return found
}

/**
 * Puts the modules of the first load into few files. Modules share a file when the same entries need them, and
 * what is loaded later needs some of these each: more than forty files, which browsers ask for six at a time.
 * So all that is loaded later imports all of them, which are there by then.
 */
function wholeFirstLoad({ metafile }) {
  const inFirstLoad = new Set(
    [...firstLoadOf(metafile)].flatMap((path) => Object.keys(metafile.outputs[path].inputs)),
  )
  const later = new Set(
    Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.flatMap(({ path, kind }) => (kind === 'dynamic-import' ? [path] : [])),
    ),
  )
  const absolute = (path) => join(source, path)
  const imports = [...inFirstLoad]
    .filter((path) => /\.tsx?$/.test(path) && path !== 'main.tsx')
    .map((path) => `import ${JSON.stringify(absolute(path))}`)
    .join(';')
  const places = new Map(
    [...later].filter((path) => !inFirstLoad.has(path)).map((path) => [absolute(path), path]),
  )
  return {
    name: 'whole-first-load',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        if (!places.has(path)) return undefined
        return {
          contents: `${readFileSync(path, 'utf8')}\n;${imports}\n`,
          loader: path.endsWith('x') ? 'tsx' : 'ts',
        }
      })
    },
  }
}

function entryOf(file, outputs = result.metafile.outputs) {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === file)
  if (!found) throw new Error(`there is no output of ${file}`)
  return found
}

function writeDocuments([script, { cssBundle }]) {
  const pages = documentPages(copyPicture)
  const icon = /<link rel="icon" href="([^"]+)"/.exec(html)?.[1]
  const files = { script: basename(script), style: basename(cssBundle), icon }
  writeFileSync(join(target, 'docs.json'), JSON.stringify({ ...files, pages }))
}

/** A picture that pages show, which has the hash of its content in its name like all files. */
function copyPicture(name) {
  const bytes = readFileSync(join(documentFolder, name))
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8).toUpperCase()
  const file = name.replace('.', `-${hash}.`)
  writeFileSync(join(target, file), bytes)
  return { url: `assets/${file}`, ...sizeOf(bytes, name) }
}

/** In pixels, as the header of an extended WebP says. */
function sizeOf(bytes, name) {
  if (bytes.toString('latin1', 8, 16) !== 'WEBPVP8X') throw new Error(`${name} is no extended WebP`)
  return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
}
