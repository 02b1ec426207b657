import { AssayError } from '../../error.ts'

/** The longest that a timer can wait. */
const longestTimerMs = 2 ** 31 - 1

/** The time by which a query must have ended, its answer read. */
export class Deadline {
  readonly #seconds: number
  readonly #end: number
  readonly #timer: NodeJS.Timeout | undefined

  /** `cancel` is called when the time is over, with why. Without a number there is no such time. */
  constructor(seconds: number | undefined, cancel: (reason: AssayError) => void) {
    this.#seconds = seconds ?? Number.POSITIVE_INFINITY
    this.#end = performance.now() + this.#seconds * 1000
    if (seconds === undefined) return
    const wait = Math.min(seconds * 1000, longestTimerMs)
    this.#timer = setTimeout(() => cancel(this.#isOver()), wait)
  }

  /** Throws QUERY_TIMEOUT when the time is over. */
  check(): void {
    if (performance.now() >= this.#end) throw this.#isOver()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #isOver(): AssayError {
    const message = `the query took longer than ${this.#seconds} seconds`
    const hint = 'narrow it down by time or id, or allow it more in query_timeout_seconds'
    return new AssayError('QUERY_TIMEOUT', message, { hint })
  }
}
