import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const main = new URL('../../dist/src/main.js', import.meta.url).pathname

/** The command line as it is built. From its sources it would take four times as long to start. */
const built = [process.execPath, main]

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The command line as users run it, without a terminal. */
export async function runAssay(
  args: readonly string[],
  options: { input?: string | Buffer; environment?: Record<string, string> } = {},
): Promise<Outcome> {
  const child = spawnAssay(args, options.environment)
  child.stdin?.end(options.input ?? '')
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (data) => {
    stdout += data
  })
  child.stderr?.on('data', (data) => {
    stderr += data
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

export function spawnAssay(
  args: readonly string[],
  environment: Record<string, string> = {},
  [program, ...before]: readonly string[] = built,
): ChildProcess {
  return spawn(program!, [...before, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      // Tests that run beside each other share no port.
      ASSAY_OTLP_GRPC_PORT: 'off',
      ASSAY_HTTP_SERVER: process.env.ASSAY_HTTP_SERVER,
      ...environment,
    },
  })
}

export interface ServeProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly exit: Promise<number | null>
  /** Everything that was written so far. */
  readonly output: () => string
  /** What of it went to standard error. */
  readonly errors: () => string
}

/** `assay serve` on a port of its own; resolves when it listens. */
export async function serveAssay(
  directory: string,
  environment: Record<string, string> = {},
  port = 0,
  command = built,
): Promise<ServeProcess> {
  const args = ['serve', '--port', String(port), '--data-dir', directory, '--workers', '1']
  const child = spawnAssay(args, environment, command)
  let output = ''
  let errors = ''
  child.stderr?.on('data', (data) => {
    output += data
    errors += data
  })
  const exit = once(child, 'close').then(([code]) => code as number | null)
  const lines = createInterface({ input: child.stdout! })
  const url = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      output += `${line}\n`
      const { msg, url } = JSON.parse(line) as { msg?: string; url?: string }
      if (msg === 'listening' && url) resolve(url)
    })
    exit.then(() => reject(new Error(`assay serve ended: ${output}`)))
  })
  return { child, url: await url, exit, output: () => output, errors: () => errors }
}
