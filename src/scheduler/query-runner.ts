/** Runs queries beside each other: admits them, ends them in time, and knows which ones there are. */
import type { EvaluationContext } from '../binder/evaluate.ts'
import { AssayError } from '../error.ts'
import type { RowForm } from '../executor/print/row-form.ts'
import { type GivenQuery, textOfQuery } from '../parser/given-query.ts'
import { explainPhysical } from '../planner/explain.ts'
import type { PhysicalQuery } from '../planner/physical-plan.ts'
import { Admission } from './admission/admission.ts'
import { Deadline } from './admission/deadline.ts'
import { MemoryBudget } from './admission/memory-budget.ts'
import type { QueryLimits } from './admission/query-limits.ts'
import { RunningQueries } from './admission/running-queries.ts'
import type { QueryOwner, RunningQuery, RunningQueryOptions } from './admission/running-query.ts'
import type { RowChunk } from './answer/answer-frame.ts'
import { type RunOptions, runQuery } from './run-plan.ts'
import type { AuditLog } from './scan/audit-log.ts'
import type { QuerySnapshot } from './scan/snapshot.ts'
import { UsageCache } from './scan/usage-cache.ts'
import type { QueriesStatus } from './status.ts'
import type { QueryPool } from './thread/query-pool.ts'
import { QueryTasks } from './thread/query-tasks.ts'

export interface QueryRun
  extends Pick<RunOptions, 'split' | 'onSemiJoinSet' | 'onMadeColumns' | 'withoutDamaged'> {
  readonly id: string
  readonly owner: QueryOwner | undefined
  readonly text: GivenQuery
  readonly physical: PhysicalQuery
  readonly context: EvaluationContext
  readonly snapshot: QuerySnapshot
  readonly form: RowForm
  readonly audit: AuditLog
  readonly timeoutSeconds: number | undefined
  readonly signal: AbortSignal | undefined
  /** Is told when the query is cancelled by others than the signal. */
  readonly onCancelled?: ((reason: AssayError) => void) | undefined
  readonly onProgress: RunningQueryOptions['onProgress']
}

interface RunnerLogger {
  warn(details: object, message: string): void
}

export class QueryRunner {
  readonly queries: RunningQueries
  readonly #admission: Admission
  readonly #memory: MemoryBudget
  readonly #pool: QueryPool
  readonly #limits: QueryLimits
  readonly #logger: RunnerLogger | undefined
  readonly #usage = new UsageCache()
  #slowQueries = 0
  readonly #left = { count: 0, seconds: 0 }

  constructor(pool: QueryPool, limits: QueryLimits, logger: RunnerLogger | undefined) {
    this.queries = new RunningQueries(limits.concurrent)
    this.#admission = new Admission(limits.admission)
    this.#memory = new MemoryBudget(limits.memory)
    this.#pool = pool
    this.#limits = limits
    this.#logger = logger
  }

  status(): QueriesStatus {
    return {
      open: this.queries.size,
      running: this.#admission.running,
      queued: this.#admission.queued,
      slow: this.#slowQueries,
      left: { ...this.#left },
      memoryBytes: this.#memory.used,
    }
  }

  /** False when there is no such query. Without a reason, it was asked for. */
  cancelById(
    id: string,
    reason = new AssayError('QUERY_CANCELLED', 'the query was cancelled by request'),
  ): boolean {
    const query = this.queries.get(id)
    if (!query) return false
    this.#cancel(query, reason)
    return true
  }

  /** The rows of the answer. Leaving early cancels the query. */
  async *run(run: QueryRun): AsyncGenerator<RowChunk> {
    const { signal } = run
    const query = this.queries.start({
      ...run,
      startedAt: Date.now(),
      memory: this.#memory,
      onLeft: (milliseconds) => {
        this.#left.count++
        this.#left.seconds += milliseconds / 1000
      },
    })
    const onAbort = () => this.#cancel(query, undefined)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    const deadline = new Deadline(this.#secondsOf(run), (reason) => this.#cancel(query, reason))
    const started = performance.now()
    let readerMs = 0
    try {
      const chunks = runQuery({
        ...run,
        query: run.physical,
        pool: new QueryTasks(this.#pool, this.#admission, query, {
          noteDamage: run.withoutDamaged,
          cold: run.snapshot.cold,
        }),
        usage: this.#usage,
        cancelled: query.cancelled,
      })
      for await (const chunk of chunks) {
        deadline.check()
        if (query.reason) throw query.reason
        query.rowsSent += chunk.rowCount
        query.tellProgress()
        // While it waits for its reader, others may have its place.
        this.#admission.leave(query)
        query.state = 'sending'
        query.awaitsReader = true
        const handedOver = performance.now()
        yield chunk
        readerMs += performance.now() - handedOver
        query.state = 'running'
        query.awaitsReader = false
      }
      deadline.check()
    } catch (thrown) {
      deadline.check()
      throw isCancelled(thrown) ? (query.reason ?? thrown) : thrown
    } finally {
      deadline.clear()
      signal?.removeEventListener('abort', onAbort)
      // What was begun ahead has ended or is of no use.
      query.cancel()
      this.#admission.leave(query)
      query.memory.release()
      this.queries.end(query)
      this.noteTime(run, query, performance.now() - started - readerMs)
    }
  }

  /** Ends a query: what of it waits at once, its tasks within a batch. */
  #cancel(query: RunningQuery, reason: AssayError | undefined): void {
    query.cancel(reason)
    this.#pool.dropCancelled()
    this.#admission.dropCancelled()
  }

  #secondsOf({ timeoutSeconds }: QueryRun): number | undefined {
    const { maximumSeconds } = this.#limits
    if (maximumSeconds === undefined) return timeoutSeconds
    return Math.min(timeoutSeconds ?? maximumSeconds, maximumSeconds)
  }

  /** Logs a query that took long; one that was answered at once has no id. */
  noteTime(
    {
      physical,
      text,
      owner,
      id,
    }: Pick<QueryRun, 'physical' | 'text' | 'owner'> & Partial<QueryRun>,
    { workerMs, rowsRead, rowsSent }: Pick<RunningQuery, 'workerMs' | 'rowsRead' | 'rowsSent'>,
    ms: number,
  ): void {
    const { slowMs } = this.#limits
    if (slowMs === undefined || ms < slowMs) return
    this.#slowQueries++
    this.#logger?.warn(
      {
        queryId: id,
        traceId: owner?.requestId,
        organizationId: owner?.organizationId,
        userId: owner?.userId,
        query: textOfQuery(text).slice(0, loggedText),
        ms: Math.round(ms),
        workerMs: Math.round(workerMs),
        rowsRead,
        rowsSent,
        plan: explainPhysical(physical).slice(0, loggedText),
      },
      'slow query',
    )
  }
}

const loggedText = 10_000

function isCancelled(thrown: unknown): boolean {
  return thrown instanceof AssayError && thrown.code === 'QUERY_CANCELLED'
}
