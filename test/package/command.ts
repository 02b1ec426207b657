/** Commands as a person gives them in an empty folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Surroundings {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

/** What a command that ended well has printed, errors included. Throws with all of it when it ends otherwise. */
export async function run(command: string, { folder, environment }: Surroundings): Promise<string> {
  const child = spawn('bash', ['-c', command], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      printed += bytes.toString()
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${printed}`)
  return printed
}

/** A service that a command has started, with all that is started by it. */
export class Started {
  readonly #child: ChildProcess
  #printed = ''

  constructor(command: string, { folder, environment }: Surroundings) {
    // A group of its own: npm starts a shell, and that the service.
    this.#child = spawn('bash', ['-c', command], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (bytes: Buffer) => {
        this.#printed += bytes.toString()
        this.#child.emit('printed')
      })
    }
    this.#child.on('close', () => this.#child.emit('printed'))
  }

  get printed(): string {
    return this.#printed
  }

  /** What the pattern's group is in what has been printed. Throws when the command ends without it. */
  async find(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#printed)
      if (found) return found[1]!
      if (this.#hasEnded) throw new Error(`it ended:\n${this.#printed}`)
      await once(this.#child, 'printed')
    }
  }

  /** Ends it as Ctrl-C does. Throws if it does not end well; npm tells of a signal in its own way. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return
    process.kill(-this.#child.pid!, 'SIGINT')
    await once(this.#child, 'close')
    const { exitCode, signalCode } = this.#child
    if (exitCode !== 0 && exitCode !== 130 && signalCode !== 'SIGINT') {
      throw new Error(`it ended with ${exitCode ?? signalCode}:\n${this.#printed}`)
    }
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}
