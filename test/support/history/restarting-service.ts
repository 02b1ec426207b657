/** A service in a process of its own that is stopped and killed while clients use it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { testKey } from '../running-service.ts'

export class RestartingService {
  readonly #program: string
  readonly #directory: string
  #child: ChildProcess
  #up: Promise<string>
  #errors = ''

  /** @param program `history-child`, compiled */
  constructor(program: string, directory: string) {
    this.#program = program
    this.#directory = directory
    this.#child = this.#spawn()
    this.#up = this.#addressOf(this.#child)
  }

  /** Its address, once it listens. */
  get url(): Promise<string> {
    return this.#up
  }

  /** Ends it by this signal, and starts another over its folder. */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ended = this.end(signal)
    this.#up = ended.then(() => {
      this.#child = this.#spawn()
      return this.#addressOf(this.#child)
    })
    await this.#up
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null) throw new Error(`the service ended by itself: ${this.#errors}`)
    child.kill(signal)
    const [code, by] = await once(child, 'close')
    if (signal === 'SIGTERM' ? code !== 0 : by !== signal) {
      throw new Error(`the service ended with ${code ?? by}: ${this.#errors}`)
    }
  }

  #spawn(): ChildProcess {
    const child = spawn(process.execPath, [this.#program, this.#directory], {
      env: {
        PATH: process.env.PATH,
        ASSAY_BOOTSTRAP_KEY: testKey,
        ASSAY_OTLP_GRPC_PORT: 'off',
        ASSAY_WORKERS: '1',
      },
    })
    child.stderr?.on('data', (data) => {
      this.#errors += data
    })
    return child
  }

  async #addressOf(child: ChildProcess): Promise<string> {
    const ended = once(child, 'close').then(() => {
      throw new Error(`the service did not start: ${this.#errors}`)
    })
    ended.catch(() => undefined)
    const [url] = await Promise.race([
      once(createInterface({ input: child.stdout! }), 'line'),
      ended,
    ])
    return String(url)
  }
}
