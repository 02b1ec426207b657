import { setTimeout as sleep } from 'node:timers/promises'
import { AssayError } from '../../error.ts'

/** Lets no more be read a second than was asked for. */
export class Pace {
  readonly #bytesPerMs: number
  #nextMs = performance.now()

  /** @param megabytesPerSecond any number when not given */
  constructor(megabytesPerSecond: string | undefined) {
    const megabytes = Number(megabytesPerSecond ?? Number.POSITIVE_INFINITY)
    if (!(megabytes > 0)) {
      throw new AssayError('COMMAND_INVALID', '--mb-per-second takes a number greater than 0')
    }
    this.#bytesPerMs = (megabytes * 2 ** 20) / 1000
  }

  async after(bytes: number): Promise<void> {
    const now = performance.now()
    this.#nextMs = Math.max(now, this.#nextMs) + bytes / this.#bytesPerMs
    if (this.#nextMs > now + 1) await sleep(this.#nextMs - now)
  }
}
