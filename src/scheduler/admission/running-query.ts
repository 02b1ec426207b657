/** One query from its start to the last byte that its reader takes. */
import { AssayError } from '../../error.ts'
import { type GivenQuery, textOfQuery } from '../../parser/given-query.ts'
import type { MemoryBudget, MemoryShare } from './memory-budget.ts'

/** On whose behalf a query runs. */
export interface QueryOwner {
  readonly organizationId: string
  readonly userId: string
  readonly keyId: string
  /** Names the request in logs, headers and errors. */
  readonly requestId: string
}

export interface QueryProgress {
  /** Rows that the query will read, as soon as that is known. */
  readonly rowsToRead: number
  /** Rows that it has read, or was told not to be worth it, for its sets of traces, too. */
  readonly rowsRead: number
  /** Rows of the answer that have left. */
  readonly rowsSent: number
}

/** What may be told of a query to others. */
export interface QueryStatus {
  readonly id: string
  readonly owner: QueryOwner | undefined
  /** The query, or as much of its beginning as is worth showing. */
  readonly text: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** `queued`: it waits for others. `sending`: it waits for its reader. `live`: it waits for writes. */
  readonly state: 'queued' | 'running' | 'sending' | 'live'
  readonly progress: QueryProgress
  /** Worker time so far. */
  readonly workerMs: number
  readonly memoryBytes: number
}

export interface RunningQueryOptions {
  readonly id: string
  readonly owner: QueryOwner | undefined
  readonly text: GivenQuery
  readonly startedAt: number
  readonly memory: MemoryBudget
  /** Is told when it is cancelled for a reason of ours; whoever leaves knows it. */
  readonly onCancelled?: ((reason: AssayError) => void) | undefined
  /** Is told how far it has come. */
  readonly onProgress?: ((progress: QueryProgress) => void) | undefined
  /** Is told how long tasks were still at work when it was cancelled, once the last of them has ended. */
  readonly onLeft?: ((milliseconds: number) => void) | undefined
}

const shownText = 1000

export class RunningQuery {
  readonly id: string
  readonly owner: QueryOwner | undefined
  /** Bytes that it holds outside of tasks. */
  readonly memory: MemoryShare
  /** Non-zero once it is cancelled; shared with the workers, who read it once per batch. */
  readonly cancelled = new Int32Array(new SharedArrayBuffer(4))
  /** Milliseconds that workers have spent on it. */
  workerMs = 0
  rowsToRead = 0
  /** Rows that tasks have taken, whether they read them or not. */
  rowsTaken = 0
  rowsRead = 0
  rowsSent = 0
  state: QueryStatus['state'] = 'running'
  /** Rows were handed over, and whoever reads them has not asked for more. */
  awaitsReader = false
  readonly #text: GivenQuery
  readonly #startedAt: number
  readonly #onCancelled: RunningQueryOptions['onCancelled']
  readonly #onProgress: RunningQueryOptions['onProgress']
  readonly #onLeft: RunningQueryOptions['onLeft']
  #ending: AbortController | undefined
  #tasksAtWork = 0
  #isCancelled = false
  /** By the clock of `performance`, if tasks were at work. */
  #leftAt: number | undefined
  #reason: AssayError | undefined

  constructor(options: RunningQueryOptions) {
    const { id, owner, text, startedAt, memory, onCancelled, onProgress, onLeft } = options
    this.id = id
    this.owner = owner
    this.#text = text
    this.#startedAt = startedAt
    this.memory = memory.share()
    this.#onCancelled = onCancelled
    this.#onProgress = onProgress
    this.#onLeft = onLeft
  }

  /** Tasks that were begun and have not ended. */
  get tasksAtWork(): number {
    return this.#tasksAtWork
  }

  beginTask(): void {
    this.#tasksAtWork++
  }

  endTask(): void {
    this.#tasksAtWork--
    if (this.#tasksAtWork > 0 || this.#leftAt === undefined) return
    this.#onLeft?.(performance.now() - this.#leftAt)
    this.#leftAt = undefined
  }

  /** Its tasks end within a batch, and whoever reads the rows gets the reason. */
  cancel(given?: AssayError): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#reason = given
    if (this.#tasksAtWork > 0) this.#leftAt = performance.now()
    Atomics.store(this.cancelled, 0, 1)
    this.#ending?.abort(this.reason)
    if (given) this.#onCancelled?.(given)
  }

  /** Aborted when it is cancelled, with the reason; for what waits for others than tasks. */
  get ending(): AbortSignal {
    this.#ending ??= new AbortController()
    if (this.#isCancelled) this.#ending.abort(this.reason)
    return this.#ending.signal
  }

  /** Why it was cancelled; undefined when it was not. */
  get reason(): AssayError | undefined {
    // Every query is cancelled when it ends, and an error costs more than the rest of that.
    if (!this.#isCancelled) return undefined
    this.#reason ??= new AssayError('QUERY_CANCELLED', 'the query was cancelled')
    return this.#reason
  }

  /** Must be called when one of the numbers has grown. */
  tellProgress(): void {
    this.#onProgress?.(this.progress)
  }

  get progress(): QueryProgress {
    const { rowsToRead, rowsTaken, rowsSent } = this
    return { rowsToRead: Math.max(rowsToRead, rowsTaken), rowsRead: rowsTaken, rowsSent }
  }

  get status(): QueryStatus {
    const { id, owner, state, workerMs, progress } = this
    return {
      id,
      owner,
      text: textOfQuery(this.#text).slice(0, shownText),
      startedAt: this.#startedAt,
      state,
      progress,
      workerMs,
      memoryBytes: this.memory.bytes,
    }
  }
}
