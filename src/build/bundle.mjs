/**
 * Puts the program and the modules of its threads into `dist`, with all packages that they use: a start reads a few
 * files, and nothing else has to be installed. What packages load their binaries with is replaced by
 * `src/native-binary.ts`, which takes those that `binaries.mjs` has put there.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licensesOf } from './licenses.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What stands in the place of a module that a package loads, or of a package. */
const replaced = new Map([
  ['uWebSockets.js', binary('loadBinary("uws")')],
  ['lz4-napi', binary('loadBinary("lz4")')],
  // LMDB's own loader. It is told a folder.
  ['node-gyp-build-optional-packages', binary('() => loadBinary("lmdb")')],
  ['fs-native-extensions/binding', binary('loadBinaryOr("files", ["tryLock", "trimSync"])')],
  // Reads texts of MessagePack faster, of which there are none.
  ['msgpackr-extract', 'module.exports = undefined'],
])

/** Changes in packages that take the places of their files as given, in the versions that `package.json` names. */
const changed = new Map([
  [
    'piscina/dist/index.js',
    [
      "(0, node_path_1.resolve)(__dirname, 'worker.js')",
      `require(${JSON.stringify(join(root, 'src/installation.ts'))}).codeFile('workers/piscina.js')`,
    ],
  ],
  // Our modules are ES modules: to try `require` first loads them in another way with each version of Node.
  ['piscina/dist/worker.js', ['.then(s => __importStar(require(s)))', '.then(() => undefined)']],
])

/** Also writes the licenses of the packages. */
export async function bundle() {
  const program = { in: 'src/main.ts', out: 'src/main' }
  const { metafile } = await bundleInto(join(root, 'dist'), program)
  // Of these there are binaries alone.
  const binaries = ['uWebSockets.js', 'lz4-napi'].map((name) => `node_modules/${name}/package.json`)
  const files = [...Object.keys(metafile.inputs), ...binaries]
  writeFileSync(join(root, 'dist/src/licenses.txt'), licensesOf(root, files))
}

/** Puts a program and the modules of the threads into a folder; `out` is in a folder of it. */
export function bundleInto(folder, program) {
  return build({
    absWorkingDir: root,
    entryPoints: [
      program,
      ...readdirSync(join(root, 'workers')).map((name) => ({
        in: `workers/${name}`,
        out: `workers/${name.replace(/\.ts$/, '')}`,
      })),
      { in: 'node_modules/piscina/dist/worker.js', out: 'workers/piscina' },
    ],
    outdir: folder,
    // All files lie in folders of it: `src/installation.ts` goes by that.
    chunkNames: 'src/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Loaded for threads with a priority that the pool sets; ours set it themselves.
    external: ['@napi-rs/nice'],
    plugins: [nativePackages],
    metafile: true,
    sourcemap: true,
    legalComments: 'none',
    // Of packages that are not modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  })
}

const nativePackages = {
  name: 'native-packages',
  setup(esbuild) {
    const isReplaced =
      /^(uWebSockets\.js|lz4-napi|node-gyp-build-optional-packages|msgpackr-extract)$/
    esbuild.onResolve({ filter: isReplaced }, ({ path }) => ({ path, namespace: 'replaced' }))
    esbuild.onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
      importer.endsWith('fs-native-extensions/index.js')
        ? { path: 'fs-native-extensions/binding', namespace: 'replaced' }
        : undefined,
    )
    esbuild.onLoad({ filter: /./, namespace: 'replaced' }, ({ path }) => ({
      contents: replaced.get(path),
      resolveDir: root,
    }))
    esbuild.onLoad({ filter: /piscina\/dist\/(index|worker)\.js$/ }, ({ path }) => {
      const [name, [before, after]] = [...changed].find(([each]) => path.endsWith(each))
      const text = readFileSync(path, 'utf8')
      if (!text.includes(before)) throw new Error(`${name} has no more ${before}`)
      return { contents: text.replace(before, () => after) }
    })
  },
}

function binary(expression) {
  return `const { loadBinary, loadBinaryOr } = require('./src/native-binary.ts')
module.exports = ${expression}`
}
