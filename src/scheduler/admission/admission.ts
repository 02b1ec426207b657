/**
 * Bounds how many queries are at work on the workers. Those beyond wait, and when too many wait, the
 * next is refused: a queue that takes minutes serves nobody.
 */
import { AssayError } from '../../error.ts'
import { FairQueue } from './fair-queue.ts'
import type { RunningQuery } from './running-query.ts'

export interface AdmissionLimits {
  /** Queries that may have tasks on the workers, or results of tasks, at a time. */
  readonly running: number
  /** Queries that may wait. */
  readonly queued: number
}

interface Waiting {
  readonly query: RunningQuery
  readonly admit: () => void
  readonly refuse: (reason: AssayError) => void
}

/** How much of the time that queries took lately the newest one makes up. */
const newestShare = 0.05
const longestRetrySeconds = 60

export class Admission {
  readonly #limits: AdmissionLimits
  /** And since when. */
  readonly #running = new Map<RunningQuery, number>()
  readonly #waiting = new FairQueue<Waiting>()
  /** What each of them waits for; several tasks of one query wait together. */
  readonly #turns = new Map<RunningQuery, Promise<void>>()
  /** Milliseconds that queries held their places, on average lately. */
  #usualMs = 20

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running.size
  }

  get queued(): number {
    return this.#waiting.size
  }

  /**
   * Resolves when the query may give tasks to workers; undefined when it may at once. Rejects when it
   * is cancelled meanwhile. Throws LIMIT_OVERLOADED when too many wait.
   *
   * @param due when it is its turn; see `FairQueue`
   */
  enter(query: RunningQuery, due: number): Promise<void> | undefined {
    if (this.#running.has(query)) return undefined
    const turn = this.#turns.get(query)
    if (turn) return turn
    if (this.#running.size < this.#limits.running) {
      this.#admit(query)
      return undefined
    }
    // One that has begun and waited for its reader is let in again, however many wait.
    const isNew = query.rowsSent === 0
    if (isNew && this.#waiting.size >= this.#limits.queued) {
      throw new AssayError(
        'LIMIT_OVERLOADED',
        `${this.#waiting.size.toLocaleString('en')} queries are waiting already`,
        { hint: 'try again in a moment', retryAfterSeconds: this.#secondsToWait() },
      )
    }
    query.state = 'queued'
    const newTurn = new Promise<void>((admit, refuse) => {
      this.#waiting.push({ query, admit, refuse }, isNew ? due : Number.NEGATIVE_INFINITY)
    })
    this.#turns.set(query, newTurn)
    return newTurn
  }

  /** The query has nothing to do with workers for now, or has ended. */
  leave(query: RunningQuery): void {
    const since = this.#running.get(query)
    if (since === undefined) return
    this.#running.delete(query)
    this.#usualMs += (performance.now() - since - this.#usualMs) * newestShare
    while (this.#running.size < this.#limits.running) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#admit(next.query)
      next.query.state = 'running'
      next.admit()
    }
  }

  /** Gives up waiting. */
  dropCancelled(): void {
    for (const { query, refuse } of this.#waiting.take(({ query }) => query.reason !== undefined)) {
      this.#turns.delete(query)
      refuse(query.reason!)
    }
  }

  #admit(query: RunningQuery): void {
    this.#turns.delete(query)
    this.#running.set(query, performance.now())
  }

  /** About as long as those that wait now will take. */
  #secondsToWait(): number {
    const ms = (this.#waiting.size / this.#limits.running) * this.#usualMs
    return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(ms / 1000)))
  }
}
