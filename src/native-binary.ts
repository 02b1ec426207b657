/**
 * Binaries of packages in a build: `src/build/binaries.mjs` puts them into `native` beside it, a folder for each
 * system, in files named after what they fit:
 *
 *     native/linux-x64/lmdb.abi115.glibc.node     one version of Node's ABI, one C library
 *     native/linux-x64/lmdb.musl.node             any version, one C library
 *     native/darwin-arm64/lz4.node                any version
 *
 * Nothing in the sources names this module. A build puts it in the place of what packages load their binaries with
 * (`src/build/bundle.mjs`), so that an installation is these files alone: nothing is fetched, compiled or changed by it.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { codeFile } from './installation.ts'

const system = `${process.platform}-${process.arch}`

/** The one that fits this process best. Throws where there is none, or the system does not take it. */
export function loadBinary(name: string): unknown {
  const library = libraryOf(process.execPath)
  const abi = `abi${process.versions.modules}`
  const tags = library === '' ? [[abi], []] : [[abi, library], [library]]
  const paths = tags.map((tag) => {
    const file = [name, ...tag, 'node'].join('.')
    return fileURLToPath(codeFile(`native/${system}/${file}`))
  })
  const [best, other] = paths.filter((path) => existsSync(path))
  if (best === undefined) {
    const where = library === '' ? system : `${system} with ${library}`
    throw new Error(`there is no binary of ${name} for ${where} and Node ${process.versions.node}`)
  }
  const load = createRequire(import.meta.url)
  if (other === undefined) return load(best)
  try {
    return load(best)
  } catch {
    // One for any version asks less of Node and of the system.
    return load(other)
  }
}

/** The functions of a binary that can be done without: where there is none, each says that the system has no such call. */
export function loadBinaryOr<Name extends string>(name: string, functions: readonly Name[]) {
  try {
    return loadBinary(name) as Record<Name, unknown>
  } catch (cause) {
    const missing = () => {
      const message = cause instanceof Error ? cause.message : String(cause)
      throw Object.assign(new Error(message), { code: 'ENOSYS' })
    }
    return Object.fromEntries(functions.map((each) => [each, missing]))
  }
}

/** The C library of a program on Linux, by the loader that it names. */
function libraryOf(program: string): '' | 'glibc' | 'musl' {
  if (process.platform !== 'linux') return ''
  const file = openSync(program, 'r')
  try {
    return loaderOf(file).includes('/ld-musl-') ? 'musl' : 'glibc'
  } finally {
    closeSync(file)
  }
}

/** The path of the loader in an ELF file of 64 bits: most have it at their beginning, those that were patched at their end. */
function loaderOf(file: number): string {
  const bytesAt = (position: number, length: number) => {
    const bytes = Buffer.alloc(length)
    readSync(file, bytes, 0, length, position)
    return bytes
  }
  const head = bytesAt(0, 64)
  const entryBytes = head.readUInt16LE(54)
  const entryCount = head.readUInt16LE(56)
  const entries = bytesAt(Number(head.readBigUInt64LE(32)), entryBytes * entryCount)
  const namesLoader = 3
  for (let at = 0; at < entries.length; at += entryBytes) {
    if (entries.readUInt32LE(at) !== namesLoader) continue
    const position = Number(entries.readBigUInt64LE(at + 8))
    return bytesAt(position, Number(entries.readBigUInt64LE(at + 32))).toString('latin1')
  }
  return ''
}
