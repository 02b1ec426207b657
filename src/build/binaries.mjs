/**
 * Puts the binaries of packages into `dist/native`, where `src/native-binary.ts` looks for them: those of this machine
 * with each build, and those of every system before the package is packed:
 *
 *     node src/build/binaries.mjs         of all systems
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fitNode24, mendInstalled, mendLmdb } from './mend-lmdb.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Packages of other systems, which npm leaves out of `node_modules`. */
const fetched = join(root, 'dist/packages')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

export const thisSystem = `${process.platform}-${process.arch}`
const systems = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']
/** Of Node 20, 22 and 24. */
const abis = [115, 127, 137]

const lmdbPath = (abi) => `node.abi${abi}.glibc.node`

/** What a system needs: the name here, the package that has it, its path there, and what is to be changed in it. */
function binariesOf(system) {
  const isLinux = system.startsWith('linux-')
  const lmdb = `@lmdb/lmdb-${system}`
  const lz4 = (library) => ({
    package: `@antoniomuso/lz4-napi-${system}${library}`,
    path: `lz4-napi.${system}${library}.node`,
  })
  const uwsName = (abi) => `uws_${system.replace('-', '_')}_${abi}.node`
  const uws = abis.map((abi) => ({
    name: isLinux ? `uws.abi${abi}.glibc.node` : `uws.abi${abi}.node`,
    package: 'uWebSockets.js',
    path: uwsName(abi),
  }))
  const files = {
    name: isLinux ? 'files.glibc.node' : 'files.node',
    package: 'fs-native-extensions',
    path: `prebuilds/${system}/fs-native-extensions.node`,
  }
  if (!isLinux) {
    return [
      ...uws,
      files,
      { name: 'lmdb.node', package: lmdb, path: 'node.napi.node' },
      { name: 'lz4.node', ...lz4('') },
    ]
  }
  return [
    ...uws,
    files,
    // Those of an ABI give values where LMDB has them mapped; that of any copies them into each thread.
    { name: 'lmdb.abi115.glibc.node', package: lmdb, path: lmdbPath(115) },
    { name: 'lmdb.abi127.glibc.node', package: lmdb, path: lmdbPath(127) },
    { name: 'lmdb.abi137.glibc.node', package: lmdb, path: lmdbPath(127), mend: fitNode24 },
    { name: 'lmdb.glibc.node', package: lmdb, path: 'node.napi.glibc.node' },
    { name: 'lmdb.musl.node', package: lmdb, path: 'node.napi.musl.node' },
    { name: 'lz4.glibc.node', ...lz4('-gnu') },
    { name: 'lz4.musl.node', ...lz4('-musl') },
  ]
}

/** Those of this machine that npm has installed: it leaves out what is for another C library. */
export function copyInstalled() {
  const lmdb = join(root, 'node_modules/@lmdb', `lmdb-${thisSystem}`)
  if (thisSystem.startsWith('linux-') && existsSync(lmdb)) {
    mendInstalled(lmdb)
    // For what runs from the sources, where lmdb looks for it itself.
    const [source, fitting] = [join(lmdb, lmdbPath(127)), join(lmdb, lmdbPath(137))]
    if (existsSync(source)) replace(fitting, fitNode24(readFileSync(source)))
  }
  const binaries = binariesOf(thisSystem)
  copy(
    thisSystem,
    binaries.filter((each) => existsSync(installedPath(each))),
    installedPath,
  )
}

function copyAll() {
  fetchMissing(systems.flatMap(binariesOf))
  const pathOf = (binary) => {
    const installed = installedPath(binary)
    return existsSync(installed) ? installed : fetchedPath(binary)
  }
  for (const system of systems) copy(system, binariesOf(system), pathOf)
}

/** Files are replaced, not written to: a service that runs has them mapped. */
function copy(system, binaries, pathOf) {
  const folder = join(root, 'dist/native', system)
  mkdirSync(folder, { recursive: true })
  const names = binaries.map(({ name }) => name)
  for (const name of readdirSync(folder)) if (!names.includes(name)) rmSync(join(folder, name))
  for (const binary of binaries) {
    const { name, package: owner, mend = (bytes) => bytes } = binary
    const source = pathOf(binary)
    const bytes = readFileSync(source)
    const isLmdb = owner.startsWith('@lmdb/lmdb-linux-')
    const mended = mend(isLmdb ? mendLmdb(bytes, `${system}/${name}`) : bytes)
    replace(join(folder, name), mended, mended.equals(bytes) ? source : undefined)
  }
}

/**
 * @param same a file with these bytes, to which a link is made where the disk lets it: in a process that loads both, they
 *   are one library, and LMDB must not be there twice
 */
function replace(file, bytes, same) {
  const part = `${file}.${process.pid}.part`
  rmSync(part, { force: true })
  if (!same || !linked(same, part)) writeFileSync(part, bytes)
  chmodSync(part, 0o755)
  renameSync(part, file)
  // Of two links to one file neither takes the place of the other.
  rmSync(part, { force: true })
}

function linked(source, file) {
  try {
    linkSync(source, file)
    return true
  } catch {
    return false
  }
}

/** Packages of other systems, in the versions of the lock file, whose bytes are what it says. */
function fetchMissing(binaries) {
  const names = binaries
    .filter((each) => !existsSync(installedPath(each)) && !existsSync(fetchedPath(each)))
    .map((each) => each.package)
  const missing = [...new Set(names)]
  if (missing.length === 0) return
  mkdirSync(fetched, { recursive: true })
  const wanted = missing.map((name) => `${name}@${lockedPackage(name).version}`)
  const packed = JSON.parse(
    // What the command that runs this was told, npm passes on.
    npm('pack', '--json', '--dry-run=false', '--pack-destination', fetched, ...wanted),
  )
  for (const { name, filename } of Object.values(packed)) {
    const archive = join(fetched, filename)
    const digest = createHash('sha512').update(readFileSync(archive)).digest('base64')
    if (lockedPackage(name).integrity !== `sha512-${digest}`) {
      throw new Error(`${name} is not the package that package-lock.json names`)
    }
    const folder = fetchedFolder(name)
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['-xzf', archive, '-C', folder, '--strip-components', '1'])
    rmSync(archive)
  }
}

function lockedPackage(name) {
  const locked = lock.packages[`node_modules/${name}`]
  if (locked === undefined) throw new Error(`package-lock.json does not name ${name}`)
  return locked
}

function installedPath(binary) {
  return join(root, 'node_modules', binary.package, binary.path)
}

function fetchedPath(binary) {
  return join(fetchedFolder(binary.package), binary.path)
}

function fetchedFolder(name) {
  return join(fetched, `${name.replace('/', '+')}@${lockedPackage(name).version}`)
}

function npm(...args) {
  return execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) copyAll()
