/** Environments of Python's packages, made once and kept outside of the repository. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findTool, madeOnce, run } from './language-tools.ts'

const folder = new URL('../clients/python/', import.meta.url).pathname
const script = 'import sys, ensurepip, venv; print(sys.version_info >= (3, 11), sys.version)'

/** Python 3.11 or later that can make environments. */
const python = findTool('Python', ['python3', '-c', script], (text) => text.startsWith('True'))
export const pythonMissing = python === undefined

/** Packages of one file of requirements, and programs that run with them. */
export class PythonEnvironment {
  readonly #python: string

  private constructor(python: string) {
    this.#python = python
  }

  /**
   * Installs what is not there yet.
   *
   * @param requirements a file of `test/clients/python`, with exact versions of all packages
   */
  static async prepare(requirements: string): Promise<PythonEnvironment> {
    const file = join(folder, requirements)
    const kept = await madeOnce('python', [python!, file], async (made) => {
      await run('python3', ['-m', 'venv', made])
      const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', file]
      await run(join(made, 'bin/python'), [...install, '--disable-pip-version-check'])
    })
    return new PythonEnvironment(join(kept, 'bin/python'))
  }

  /**
   * Runs a program of `test/clients/python`.
   *
   * @param environment given to it beside the path; nothing else of this process's environment is
   * @returns the JSON of the last line that it prints
   */
  async run(program: string, environment: Record<string, string>): Promise<never> {
    const stdout = await this.#run([join(folder, program)], environment)
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as never
  }

  /** Runs a command that a package brings, in `test/clients/python`, and returns what it prints. */
  runModule(args: readonly string[], environment: Record<string, string>): Promise<string> {
    return this.#run(['-m', ...args], environment)
  }

  async #run(args: readonly string[], environment: Record<string, string>): Promise<string> {
    const { stdout } = await run(this.#python, ['-W', 'ignore', ...args], {
      cwd: folder,
      env: fullEnvironment(environment),
      maxBuffer: 64 * 2 ** 20,
    })
    return stdout
  }

  /** Starts a program that answers each line with one of JSON. */
  start(program: string, environment: Record<string, string>): PythonDialogue {
    const env = fullEnvironment(environment)
    return new PythonDialogue(spawn(this.#python, ['-W', 'ignore', join(folder, program)], { env }))
  }
}

function fullEnvironment(given: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: tmpdir(), PYTHONDONTWRITEBYTECODE: '1', ...given }
}

/** A program that goes on until its input ends. */
export class PythonDialogue {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: NodeJS.AsyncIterator<string>
  #errors = ''

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    child.stderr.on('data', (data) => {
      this.#errors += data
    })
  }

  ask(line: string): Promise<unknown> {
    this.#child.stdin.write(`${line}\n`)
    return this.next()
  }

  async next(): Promise<unknown> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`the program ended: ${this.#errors}`)
    return JSON.parse(value as string)
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const closed = once(this.#child, 'close')
    this.#child.stdin.end()
    await closed
  }
}
