/** One `bt` with a home of its own, talking to one service. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AnyJson, testKey } from '../../support/running-service.ts'

export interface Outcome {
  readonly code: number
  /** What scripts read. */
  readonly out: string
  /** What people read. */
  readonly told: string
}

export interface CommandOptions {
  readonly input?: string
  /** Null takes a variable away. */
  readonly environment?: Readonly<Record<string, string | null>>
}

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

export class CommandLine {
  /** Of the user, and where commands are run. */
  readonly home = mkdtempSync(join(tmpdir(), 'assay-bt-home-'))
  readonly #binary: string
  readonly #environment: Readonly<Record<string, string>>

  constructor(binary: string, url: string) {
    this.#binary = binary
    const browser = join(this.home, 'bin')
    this.#environment = {
      PATH: `${browser}:${process.env.PATH}`,
      HOME: this.home,
      BRAINTRUST_API_URL: url,
      BRAINTRUST_APP_URL: url,
      BRAINTRUST_API_KEY: testKey,
      BRAINTRUST_NO_INPUT: '1',
      BRAINTRUST_NO_COLOR: '1',
    }
    // The packages that files of a user import.
    symlinkSync(modules, join(this.home, 'node_modules'))
    this.write('bin/xdg-open', '#!/bin/sh\necho "$@" >> "$HOME/opened"\n', 0o755)
  }

  write(name: string, text: string, mode = 0o644): void {
    const path = join(this.home, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
  }

  read(name: string): string {
    return readFileSync(join(this.home, name), 'utf8')
  }

  run(args: readonly string[], { input = '', environment = {} }: CommandOptions = {}) {
    const all = Object.entries({ ...this.#environment, ...environment })
    const env = Object.fromEntries(all.filter((one): one is [string, string] => one[1] !== null))
    return new Promise<Outcome>((resolve) => {
      const options = { cwd: this.home, env, timeout: 120_000, maxBuffer: 64 * 2 ** 20 }
      const child = execFile(this.#binary, args, options, (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0
        resolve({ code, out: stdout, told: stderr })
      })
      child.stdin?.end(input)
    })
  }

  /** All that a command prints; throws if it fails. */
  async ok(args: readonly string[], options?: CommandOptions): Promise<string> {
    const { code, out, told } = await this.run(args, options)
    if (code !== 0) throw new Error(`bt ${args.join(' ')} ended with ${code}:\n${told}\n${out}`)
    return out + told
  }

  async json(args: readonly string[], options?: CommandOptions): Promise<AnyJson> {
    const { code, out, told } = await this.run([...args, '--json'], options)
    if (code !== 0) throw new Error(`bt ${args.join(' ')} ended with ${code}:\n${told}\n${out}`)
    return JSON.parse(out) as AnyJson
  }

  remove(): void {
    rmSync(this.home, { recursive: true })
  }
}
