import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** How much of a processor the turns of a service's main thread took (`turn-watch.js`). */
export class WatchedTurns {
  readonly #file: string

  /** @param directory for the file that the service writes to */
  constructor(directory: string) {
    this.#file = join(directory, 'turns')
    this.forget()
  }

  /** For the service that is watched. */
  get environment(): Record<string, string> {
    const watch = new URL('turn-watch.js', import.meta.url).href
    return { NODE_OPTIONS: `--import=${watch}`, TURN_WATCH_FILE: this.#file }
  }

  forget(): void {
    writeFileSync(this.#file, '')
  }

  /** Milliseconds of the longest turn since then; 0 if all were short. */
  get longest(): number {
    return Math.max(0, ...readFileSync(this.#file, 'utf8').split('\n').map(Number))
  }
}
