/** Compiles what stands between a process and the disk (`io-shim.c`), and arms it to fail. */
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readSync, writeSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Bits of what calls do. */
export const callKinds = {
  write: 1,
  sync: 2,
  rename: 4,
  truncate: 8,
  open: 16,
  mmap: 32,
  link: 64,
  unlink: 128,
  mkdir: 256,
} as const

const everyKind = Object.values(callKinds).reduce((all, kind) => all | kind, 0)

/** Nothing is done; half of a write is; all is, and it is said that it failed. */
const modes = ['error', 'short', 'late'] as const

export interface Fault {
  readonly error: 'ENOSPC' | 'EIO' | 'EINTR' | 'EMFILE'
  readonly mode?: (typeof modes)[number]
  /** Of all calls if not given. */
  readonly kind?: keyof typeof callKinds
  /** How many calls fail, from the first on; one if not given. */
  readonly failures?: number
}

/** What calls were seen since a fault was armed. */
export interface Seen {
  readonly calls: number
  readonly failed: number
  /** Of the last that failed: `write records/data.mdb`. */
  readonly last: string
}

/** The library, to be given as LD_PRELOAD; undefined, with a line printed, where it cannot be made. */
export function compileShim(): string | undefined {
  const library = join(mkdtempSync(join(tmpdir(), 'io-shim-')), 'io-shim.so')
  const source = fileURLToPath(new URL('io-shim.c', import.meta.url))
  const compilers = process.platform === 'linux' ? ['cc', 'gcc', 'clang'] : []
  for (const compiler of compilers) {
    const args = ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']
    if (spawnSync(compiler, args, { stdio: 'ignore' }).status === 0) return library
  }
  process.stdout.write('left out: failing disks need Linux and a C compiler (cc, gcc or clang)\n')
  return undefined
}

const controlBytes = 8 * 4 + 256

/** The file that a process with the library looks at on each call. */
export class FaultControl {
  readonly path: string
  readonly #file: number
  readonly #directory: string

  constructor(path: string, directory: string) {
    this.path = path
    this.#directory = directory
    // Where a process has it mapped, it must never be shorter.
    this.#file = openSync(path, existsSync(path) ? 'r+' : 'w+')
    writeSync(this.#file, new Uint8Array(controlBytes))
  }

  /** The call of that number fails, counted from now on. */
  arm(first: number, { error, mode = 'error', kind, failures = 1 }: Fault): void {
    this.#write([0, 0, 0, 0, 0, 0, 0, 0])
    const kinds = kind === undefined ? everyKind : callKinds[kind]
    const number = constants.errno[error]
    this.#write([0, number, modes.indexOf(mode), kinds, failures, 0, 0, 0])
    this.#write([first])
  }

  disarm(): Seen {
    this.#write([0])
    const bytes = Buffer.alloc(controlBytes)
    readSync(this.#file, bytes, 0, controlBytes, 0)
    const fired = bytes.readInt32LE(24)
    const kind = bytes.readInt32LE(28)
    const name = Object.entries(callKinds).find(([, bit]) => bit === kind)?.[0]
    const path = bytes.toString('utf8', 32, bytes.indexOf(0, 32)).replace(`${this.#directory}/`, '')
    return {
      calls: bytes.readInt32LE(20),
      failed: fired,
      last: fired > 0 ? `${name} ${path}` : '',
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(numbers: readonly number[]): void {
    writeSync(this.#file, new Uint8Array(Int32Array.from(numbers).buffer), 0, numbers.length * 4, 0)
  }
}
