/** The queries that stay open: when each may run again, and whether its reader may still see it. */
import type { Access } from '../../access/access.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import type { QueryStatus } from '../../scheduler/admission/running-query.ts'
import { SharedAnswers } from './shared-answers.ts'

/** What there is to know of an open query here. */
export interface LiveQuery {
  readonly status: QueryStatus
  /** Asks for rights again, and finds out anew what it reads. */
  recheck(): void
  cancel(reason: AssayError): void
}

/** More are refused: each takes a part of what all may use together. */
const mostOpen = 4096

/**
 * Changes of the catalog within this time are looked at together. That takes as long as planning each
 * query anew, and at most a tenth of all time.
 */
const recheckMs = 50
const recheckFactor = 9

/**
 * How many run at a time, so that one that takes long does not hold up all others, and the share of the time
 * in which each of these places is used: together they take half a thread.
 */
const places = 4
const busyShare = 0.125
const longestPauseMs = 60_000

export class LiveQueries {
  readonly answers: SharedAnswers
  readonly #open = new Set<LiveQuery>()
  readonly #waiting: (() => void)[] = []
  readonly #stopListening: () => void
  #busy = 0
  #recheck: NodeJS.Timeout | undefined
  #recheckMs = recheckMs
  #closed: AssayError | undefined
  #rounds = 0

  constructor(engine: Engine, access: Access) {
    this.answers = new SharedAnswers(engine, () => this.turn())
    const stopHearingChanges = engine.catalog.onChange(() => {
      if (this.#open.size === 0) return
      this.#recheck ??= setTimeout(() => this.#recheckAll(), this.#recheckMs)
    })
    const stopHearingExpiry = access.onExpiry(() => this.#recheckAll())
    this.#stopListening = () => {
      stopHearingChanges()
      stopHearingExpiry()
    }
  }

  get size(): number {
    return this.#open.size
  }

  /** How often one of them has run again, so far. */
  get rounds(): number {
    return this.#rounds
  }

  /** Throws the same as `requirePlace`. `remove` must follow. */
  add(query: LiveQuery): void {
    this.requirePlace()
    this.#open.add(query)
  }

  /** Throws LIMIT_OVERLOADED when there are too many. */
  requirePlace(): void {
    if (this.#closed) throw this.#closed
    if (this.#open.size >= mostOpen) {
      throw new AssayError('LIMIT_OVERLOADED', `${mostOpen} live queries are open already`, {
        hint: 'close some of them, or ask again from time to time with POST /btql',
      })
    }
  }

  remove(query: LiveQuery): void {
    this.#open.delete(query)
  }

  list(): QueryStatus[] {
    return Array.from(this.#open, ({ status }) => status)
  }

  /** False when there is none of that id. */
  cancel(id: string): boolean {
    for (const query of this.#open) {
      if (query.status.id !== id) continue
      query.cancel(new AssayError('QUERY_CANCELLED', 'the query was cancelled by request'))
      return true
    }
    return false
  }

  /**
   * Resolves when it is the caller's turn to run its query again. Few run at a time, in the order in which
   * they ask, and a place that was used rests for longer. What is returned ends the turn, and may be
   * called again.
   */
  async turn(): Promise<() => void> {
    if (this.#busy < places) this.#busy++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#rounds++
    const started = performance.now()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const pause = ((performance.now() - started) * (1 - busyShare)) / busyShare
      setTimeout(() => this.#next(), Math.min(pause, longestPauseMs)).unref()
    }
  }

  /** Ends all of them, and takes no more. */
  close(reason: AssayError): void {
    this.#closed = reason
    this.#stopListening()
    clearTimeout(this.#recheck)
    for (const query of this.#open) query.cancel(reason)
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#busy--
  }

  #recheckAll(): void {
    clearTimeout(this.#recheck)
    this.#recheck = undefined
    const started = performance.now()
    for (const query of this.#open) query.recheck()
    this.#recheckMs = Math.max(recheckMs, (performance.now() - started) * recheckFactor)
  }
}
