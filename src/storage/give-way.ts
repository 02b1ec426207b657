/**
 * Threads whose work nobody waits for, or waits for longer, than for an answer to a query: those that
 * prepare inserts and write segments. They pause while queries run.
 */
import { availableParallelism } from 'node:os'

/** A pause that is shorter costs more than it gives. */
const shortestPauseMs = 2
/** A query that takes longer runs beside this thread from then on. */
const longestPauseMs = 100

/** Processors for the main thread, the writer and one of these threads: a query that leaves them is let be. */
const processorsBeside = 3

/** Of the time that a thread goes on, how much it may pause: queries that never end leave it four fifths. */
const pausedShare = 0.25

/** Pauses a thread while tasks of queries run that want its processor. */
export class Pauses {
  readonly #running: Int32Array
  readonly #longestMs: number
  readonly #room = Math.max(0, availableParallelism() - processorsBeside)
  /** How long it may pause. */
  #creditMs: number
  #since = performance.now()

  /** @param running one number in shared memory: how many tasks of queries run; who lowers it notifies */
  constructor(running: Int32Array, longestMs = longestPauseMs) {
    this.#running = running
    this.#longestMs = longestMs
    this.#creditMs = longestMs
  }

  /** To be called every millisecond or so, but never with a lock that others wait for. */
  take(): void {
    if (Atomics.load(this.#running, 0) <= this.#room) return
    const begun = performance.now()
    const earnedMs = (begun - this.#since) * pausedShare
    this.#creditMs = Math.min(this.#longestMs, this.#creditMs + earnedMs)
    this.#since = begun
    if (this.#creditMs < shortestPauseMs) return
    const until = begun + this.#creditMs
    while (this.#since < until) {
      const running = Atomics.load(this.#running, 0)
      if (running <= this.#room) break
      Atomics.wait(this.#running, 0, running, until - this.#since)
      this.#since = performance.now()
    }
    this.#creditMs -= this.#since - begun
  }
}

/** Of this thread. */
let pauses: Pauses | undefined

/** @param running see `Pauses` */
export function giveWay(running: Int32Array): void {
  pauses = new Pauses(running)
}

/** Pauses this thread while queries run, if it is one that gives way: see `Pauses.take`. */
export function letQueriesPass(): void {
  pauses?.take()
}
