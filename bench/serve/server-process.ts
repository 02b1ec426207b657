import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const startSeconds = 120

/** A server in a process of its own, whose log goes to a file, as in production. */
export class ServerProcess {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /**
   * Resolves when the server has written a line of JSON with its `url`.
   *
   * @param args of Node
   * @param directory where the log is written
   */
  static async start(
    name: string,
    args: readonly string[],
    directory: string,
    environment: Record<string, string> = {},
  ): Promise<ServerProcess> {
    const log = join(directory, `${name}.log`)
    const file = openSync(log, 'w')
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', file, 'inherit'],
    })
    closeSync(file)
    for (let tries = 0; tries < startSeconds * 20; tries++) {
      const url = /"url":"([^"]+)"/.exec(readFileSync(log, 'utf8'))?.[1]
      if (url !== undefined) return new ServerProcess(child, url)
      if (child.exitCode !== null) throw new Error(`${name} ended: ${readFileSync(log, 'utf8')}`)
      await wait(50)
    }
    child.kill()
    throw new Error(`${name} did not listen within ${startSeconds} s`)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exit
  }
}
