/**
 * Builds into `dist` what has changed since the last build, and says what it does:
 *
 *     node src/build.mjs            what has changed
 *     node src/build.mjs --all      everything
 *
 * Types are not checked here (`npm run typecheck` does that), so that a start waits for seconds at most.
 * The loops in WebAssembly are kept in the repository: they are compiled when their source has changed
 * since the last build here.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyInstalled, thisSystem } from './build/binaries.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** What each step was built from, by name. */
const stampFile = 'dist/built.json'
const loops = ['kernels.wasm', 'rows.wasm', 'export.wasm']
/** Written by npm whenever it has installed something. */
const installed = 'node_modules/.package-lock.json'

/** In the order in which they are built. `without` are files and folders of others; `output` is the last that each makes. */
const steps = [
  {
    name: 'binaries',
    shown: 'copying the binaries of packages',
    inputs: [installed, 'src/build'],
    without: [],
    output: `dist/native/${thisSystem}`,
    run: copyInstalled,
  },
  {
    name: 'loops',
    shown: 'compiling the loops in WebAssembly',
    inputs: ['src/kernel/assembly'],
    without: [],
    output: 'src/kernel/export.wasm',
    run: () => {
      for (const folder of ['assembly', 'assembly/rows', 'assembly/export']) {
        node(
          'node_modules/assemblyscript/bin/asc.js',
          '--config',
          `src/kernel/${folder}/asconfig.json`,
        )
      }
    },
  },
  {
    name: 'service',
    shown: 'compiling the service',
    inputs: ['src', 'workers', 'tsconfig.json', installed],
    without: ['src/ui', 'src/kernel/assembly'],
    output: 'dist/src/kernel/export.wasm',
    run: async () => {
      // What was made of files that are no more goes, too.
      for (const folder of ['dist/src', 'dist/workers']) removeAllBut(folder, 'ui')
      await (await import('./build/bundle.mjs')).bundle()
      mkdirSync(at('dist/src/kernel'))
      for (const name of loops) copyFileSync(at('src/kernel', name), at('dist/src/kernel', name))
    },
  },
  {
    name: 'page',
    shown: 'bundling the page',
    inputs: ['src', installed],
    without: [
      'src/server',
      'src/storage',
      'src/executor',
      'src/scheduler',
      'src/planner',
      'src/cli',
    ],
    output: 'dist/src/ui/index.html',
    run: () => node('src/ui/build.mjs'),
  },
]

const stamps = readStamps()
const isAll = process.argv.includes('--all')
for (const step of steps) {
  const before = stamps[step.name]
  // Those of a clone that was never built are what its source gives, as a test holds.
  const isKept = step.name === 'loops' && before === undefined
  const now = digest(step)
  const isBuilt = existsSync(at(step.output)) && (before === now || isKept)
  if (isAll || !isBuilt) await make(step)
  stamps[step.name] = digest(step)
}
mkdirSync(at('dist'), { recursive: true })
writeFileSync(at(stampFile), `${JSON.stringify(stamps, undefined, 2)}\n`)

async function make({ shown, run }) {
  const begun = performance.now()
  process.stderr.write(`assay: ${shown} … `)
  await run()
  process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(1)} s\n`)
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(at(stampFile), 'utf8'))
  } catch {
    return {}
  }
}

/** Names, sizes and times of all files of a step: reading them all would take as long as some steps. */
function digest({ inputs, without }) {
  const hash = createHash('sha256')
  const add = (path) => {
    if (without.includes(path)) return
    const status = statSync(at(path))
    if (status.isDirectory())
      for (const name of readdirSync(at(path)).sort()) add(`${path}/${name}`)
    else hash.update(`${path} ${status.size} ${status.mtimeMs}\n`)
  }
  for (const path of inputs) add(path)
  return hash.digest('hex')
}

function removeAllBut(folder, kept) {
  mkdirSync(at(folder), { recursive: true })
  for (const name of readdirSync(at(folder))) {
    if (name !== kept) rmSync(at(folder, name), { recursive: true })
  }
}

function node(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

function at(...path) {
  return join(root, ...path)
}
