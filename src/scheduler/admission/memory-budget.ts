/**
 * What queries may hold outside of tasks: groups, rows and dictionaries' maps on their way from scans
 * to the answer. What a task holds while it runs is held to the same budget by the task itself, and
 * bounded by `executor/thread/memory-limit.ts`.
 */
import { AssayError } from '../../error.ts'
import { releaseWhenIdle } from '../../executor/thread/idle-memory.ts'
import { overBudget } from '../../executor/thread/memory-limit.ts'

export interface MemoryLimits {
  /** Bytes that one query may hold. */
  readonly perQuery: number
  /** Bytes that all queries together may hold. */
  readonly total: number
}

export class MemoryBudget {
  readonly limits: MemoryLimits
  #used = 0

  constructor(limits: MemoryLimits) {
    this.limits = limits
  }

  get used(): number {
    return this.#used
  }

  /** A share that begins empty. */
  share(): MemoryShare {
    return new MemoryShare(this)
  }

  /** Only for shares: takes bytes for a query that holds `held` already. Throws LIMIT_MEMORY. */
  take(bytes: number, held: number): void {
    const { perQuery, total } = this.limits
    if (held + bytes > perQuery) throw overBudget(perQuery)
    if (this.#used + bytes > total) {
      throw new AssayError(
        'LIMIT_MEMORY',
        `all queries together would hold more than their budget of ${megabytes(total)}`,
        { hint: 'try again when others have ended, or raise --total-query-memory-mb' },
      )
    }
    this.#used += bytes
  }

  /** Only for shares. */
  giveBack(bytes: number): void {
    this.#used -= bytes
    releaseWhenIdle(bytes)
  }
}

/** What one query holds. */
export class MemoryShare {
  readonly #budget: MemoryBudget
  #bytes = 0
  #lent = 0

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Bytes that the query may hold. */
  get limit(): number {
    return this.#budget.limits.perQuery
  }

  /** Throws LIMIT_MEMORY, which names the budget, and takes nothing then. */
  take(bytes: number): void {
    this.#budget.take(bytes, this.#bytes + this.#lent)
    this.#bytes += bytes
  }

  /** The same, of what a task is lent: the caller gives it back when the task is done. */
  lend(bytes: number): void {
    this.#budget.take(bytes, this.#bytes + this.#lent)
    this.#lent += bytes
  }

  /** The same of what it can do without; false, and nothing is taken, where there is no room. */
  lendIfRoom(bytes: number): boolean {
    try {
      this.lend(bytes)
      return true
    } catch {
      return false
    }
  }

  takeBack(bytes: number): void {
    this.#budget.giveBack(bytes)
    this.#lent -= bytes
  }

  /** Gives back all that was taken, but for what tasks are lent. */
  release(): void {
    this.#budget.giveBack(this.#bytes)
    this.#bytes = 0
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20).toLocaleString('en')} MiB`
}
