/** How fast what is stored is read for damage, and what was found. */
import type { Scrubbed } from '../../storage/maintenance/scrub.ts'

const tickMs = 1000
/** After a round, the next begins a week after its begin. */
const roundMs = 7 * 24 * 3600 * 1000
/** A step of the thread of maintenance reads so much, which takes some milliseconds. */
const mostStepBytes = 4 * 2 ** 20

export interface ScrubPaceOptions {
  /** 0: nothing is read. */
  readonly bytesPerSecond: number
  /** Whether others need the processor or the disk. */
  readonly isBusy: () => boolean
  readonly step: (bytes: number) => Promise<Scrubbed>
  readonly onFound: (found: Scrubbed) => void
  readonly onError: (thrown: unknown) => void
}

export interface ScrubStatus {
  readonly bytes: number
  readonly rounds: number
  /** When the last round ended, in ms since 1970; 0: none has. */
  readonly lastRound: number
  /** Damage that was found, by kind. */
  readonly found: Readonly<Record<'segments' | 'indexes' | 'records', number>>
}

export class ScrubPace {
  readonly #options: ScrubPaceOptions
  readonly #timer: NodeJS.Timeout | undefined
  readonly #found = { segments: 0, indexes: 0, records: 0 }
  #bytes = 0
  #rounds = 0
  #lastRound = 0
  #roundBegun = 0
  /** What may be read now; below zero after a value that was larger. */
  #credit = 0
  #isAtWork = false

  constructor(options: ScrubPaceOptions) {
    this.#options = options
    if (options.bytesPerSecond === 0) return
    this.#timer = setInterval(() => void this.#tick(), tickMs)
    this.#timer.unref()
  }

  get status(): ScrubStatus {
    return {
      bytes: this.#bytes,
      rounds: this.#rounds,
      lastRound: this.#lastRound,
      found: { ...this.#found },
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #tick(): Promise<void> {
    const { bytesPerSecond, isBusy, onError } = this.#options
    if (this.#isAtWork || isBusy()) return
    const isDone = this.#lastRound > this.#roundBegun
    if (isDone && Date.now() - this.#roundBegun < roundMs) return
    if (isDone || this.#roundBegun === 0) this.#roundBegun = Date.now()
    this.#credit = Math.min(this.#credit + bytesPerSecond, bytesPerSecond)
    this.#isAtWork = true
    try {
      while (this.#credit > 0 && !isBusy() && !(await this.#step()));
    } catch (thrown) {
      onError(thrown)
    } finally {
      this.#isAtWork = false
    }
  }

  /** Whether a round has ended. */
  async #step(): Promise<boolean> {
    const { step, onFound } = this.#options
    const scrubbed = await step(Math.min(this.#credit, mostStepBytes))
    this.#credit -= scrubbed.bytes
    this.#bytes += scrubbed.bytes
    for (const { kind } of scrubbed.segments)
      this.#found[kind === 'key index' ? 'indexes' : 'segments']++
    this.#found.records += scrubbed.records.length
    if (scrubbed.segments.length + scrubbed.records.length > 0) onFound(scrubbed)
    if (scrubbed.isRound) {
      this.#rounds++
      this.#lastRound = Math.max(Date.now(), this.#roundBegun + 1)
    }
    return scrubbed.isRound
  }
}
