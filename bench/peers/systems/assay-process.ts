/** The service as users run it, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const key = 'sk-bench-peers-0123456789'

export interface AssayOptions {
  /** The built `main.js`. */
  readonly server: string
  readonly directory: string
  readonly workers: number
  /** Besides that of this process. */
  readonly environment?: Readonly<Record<string, string>>
}

export class AssayProcess {
  readonly url: string
  readonly key = key
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /** Resolves when the service listens. */
  static async start(options: AssayOptions): Promise<AssayProcess> {
    const { server, directory, workers, environment } = options
    const ports = ['--port', '0', '--otlp-grpc-port', 'off']
    const flags = [...ports, '--data-dir', directory, '--workers', String(workers)]
    const child = spawn(process.execPath, [server, 'serve', ...flags], {
      // What was answered before is not measured.
      env: {
        ...process.env,
        ASSAY_BOOTSTRAP_KEY: key,
        ASSAY_KEPT_ANSWERS_MB: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // A bench that fails leaves no service behind, which would keep its data from the next one.
    const end = () => void child.kill()
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    const lines = createInterface({ input: child.stdout })
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the service ended with code ${code}`)))
      lines.on('line', (line) => {
        const { msg, url, level } = JSON.parse(line) as { msg: string; url?: string; level: number }
        if (msg === 'listening' && url !== undefined) resolve(url)
        else if (level >= warningLevel) process.stderr.write(`${line}\n`)
      })
    })
    return new AssayProcess(child, url)
  }

  get pid(): number {
    return this.#child.pid!
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exit
  }
}

/** Of pino. */
const warningLevel = 40
