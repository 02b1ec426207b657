/**
 * How fast writes may begin while rows come faster than segments are made of them. Each waits a little, so
 * that all together come as fast as they are flushed, and none waits for as long as a flush takes, as some
 * would if all went on until much is in no segment, and then stood still.
 */

/** While less is in no segment writes begin at once: a flush begins at 64 MiB. */
const freeBytes = 80 * 2 ** 20
/** With so much they come as fast as they are flushed; with less faster, with more slower. */
const levelBytes = 112 * 2 ** 20
const fullBytes = 192 * 2 ** 20
/** What of the flush's rate is left to writes, however much is in no segment: nothing waits for good. */
const leastShare = 1 / 16

/** Bytes in a millisecond, until a large flush has been measured. */
const firstRate = 20_000
/** What the latest flush says of the rate, beside those before it. */
const latestShare = 0.4
/** A flush of less does not tell how fast large ones are. */
const tellingBytes = 16 * 2 ** 20

/** No write, however large, holds up those after it for longer. */
const longestMs = 1000
/** A write that waits looks again after so long, since there may be less to wait for. */
const lookAgainMs = 50
/** What is made up for when a timer comes late. */
const lateMs = 5

/**
 * Bytes that may come in a millisecond.
 *
 * @param unflushed bytes that are in no segment, less those that a flush has probably seen to
 * @param flushRate bytes that are flushed in a millisecond
 */
export function allowedRate(unflushed: number, flushRate: number): number {
  if (unflushed < freeBytes) return Number.POSITIVE_INFINITY
  const share = (fullBytes - unflushed) / (fullBytes - levelBytes)
  return flushRate * Math.max(leastShare, share)
}

interface WaitingWrite {
  readonly bytes: number
  readonly begin: () => void
}

interface RunningFlush {
  readonly bytes: number
  readonly begun: number
  /** When it could have begun, if the one before had taken no longer. */
  readonly due: number
}

/** Lets writes begin, in the order in which they ask. */
export class WritePace {
  readonly #unflushed: () => number | undefined
  #waiting: WaitingWrite[] = []
  /** Bytes that have begun, and for which there has been no time yet. */
  #ahead = 0
  /** When these were counted. */
  #countedAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  #flushRate = firstRate
  #flush: RunningFlush | undefined
  /** When the last flush ended, if it has left enough for the next. */
  #nextDue: number | undefined
  #isOpen = false

  /** @param unflushed bytes that are in no segment; undefined while nobody flushes, and nothing waits */
  constructor(unflushed: () => number | undefined) {
    this.#unflushed = unflushed
  }

  /** Resolves when a write of so many bytes may begin. */
  enter(bytes: number): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push({ bytes, begin })
      if (this.#waiting.length === 1) this.update()
    })
  }

  /** To be called when there may be less to wait for. */
  update(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rate = this.#rate()
    this.#count(rate)
    while (this.#waiting.length > 0 && this.#ahead <= 0) {
      const { bytes, begin } = this.#waiting.shift()!
      if (rate < Number.POSITIVE_INFINITY) {
        this.#ahead = Math.min(this.#ahead + bytes, longestMs * rate)
      }
      begin()
    }
    if (this.#waiting.length === 0) return
    this.#timer = setTimeout(() => this.update(), Math.min(this.#ahead / rate, lookAgainMs))
  }

  /** From now on nothing waits. */
  open(): void {
    this.#isOpen = true
    this.update()
  }

  /** @param bytes less than one when nobody knows, as of what was written before a start */
  flushBegins(bytes: number): void {
    const begun = performance.now()
    this.#flush = { bytes, begun, due: this.#nextDue ?? begun }
  }

  /** @param isMore whether the next one may begin at once */
  flushEnds(succeeded: boolean, isMore: boolean): void {
    const flush = this.#flush
    const now = performance.now()
    this.#flush = undefined
    this.#nextDue = isMore ? now : undefined
    if (succeeded && flush && flush.bytes >= tellingBytes) {
      const latest = flush.bytes / Math.max(1, now - flush.due)
      const isFirst = this.#flushRate === firstRate
      this.#flushRate += (latest - this.#flushRate) * (isFirst ? 1 : latestShare)
    }
    this.update()
  }

  #rate(): number {
    const unflushed = this.#unflushed()
    if (this.#isOpen || unflushed === undefined) return Number.POSITIVE_INFINITY
    if (!this.#flush || this.#flush.bytes < 1) return allowedRate(unflushed, this.#flushRate)
    // Bytes only leave what is in no segment when the flush ends: how far it is by now is a guess.
    const { bytes, begun } = this.#flush
    const passedMs = Math.max(1, performance.now() - begun)
    const flushed = Math.min(bytes, passedMs * this.#flushRate)
    return allowedRate(unflushed - flushed, Math.min(this.#flushRate, bytes / passedMs))
  }

  #count(rate: number): void {
    const now = performance.now()
    const passedMs = now - this.#countedAt
    this.#countedAt = now
    if (rate === Number.POSITIVE_INFINITY) this.#ahead = 0
    else {
      const ahead = Math.min(this.#ahead, longestMs * rate)
      this.#ahead = Math.max(ahead - passedMs * rate, -lateMs * rate)
    }
  }
}
