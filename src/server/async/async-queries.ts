/** Queries that nobody waits for: they run beside the others, and their results are kept for a time. */
import { randomUUID } from 'node:crypto'
import type { Access } from '../../access/access.ts'
import type { Gate } from '../../access/gate.ts'
import type { Principal } from '../../access/principal.ts'
import type { CatalogChange } from '../../catalog/catalog.ts'
import type { Member } from '../../catalog/entry.ts'
import type { Engine, QueryRequest } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import type { OutputFormat } from '../../format/output-format.ts'
import { textOfQuery } from '../../parser/given-query.ts'
import type { AsyncLimits } from '../../scheduler/admission/query-limits.ts'
import type { QueryProgress } from '../../scheduler/admission/running-query.ts'
import type { Logger } from '../logger.ts'
import { NotingView } from './noting-view.ts'
import { type AsyncQueryState, ResultStore } from './result-store.ts'

/** Queries that run at a time, so that those that somebody waits for have the workers, too. */
const mostRunning = 2

/** Queries of an organization that may wait. */
const mostQueued = 100

const tidyEveryMs = 60_000

export interface AsyncQueriesOptions extends AsyncLimits {
  readonly engine: Engine
  readonly access: Access
  readonly dataDirectory: string
  readonly logger: Logger
  readonly now?: () => number
}

export interface AsyncRequest {
  readonly request: Omit<QueryRequest, 'signal' | 'onCancelled' | 'onProgress'>
  readonly format: OutputFormat
  readonly batchSize: number
}

interface Job {
  state: AsyncQueryState
  /** Undefined of a query that has ended. */
  work: Work | undefined
}

interface Work {
  /** The session that it was begun in may end before it. */
  readonly principal: Omit<Principal, 'sessionId'>
  readonly asked: AsyncRequest
  readonly cancel: AbortController
  progress: QueryProgress | undefined
}

export class AsyncQueries {
  readonly #options: AsyncQueriesOptions
  readonly #store: ResultStore
  readonly #jobs = new Map<string, Job>()
  readonly #running = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  readonly #stopListening: (() => void)[]
  #closing = false

  private constructor(options: AsyncQueriesOptions, store: ResultStore) {
    this.#options = options
    this.#store = store
    this.#timer = setInterval(() => void this.#tidy().catch(this.#complain), tidyEveryMs)
    this.#timer.unref()
    const { access } = options
    this.#stopListening = [
      access.catalog.onChange((changes) => this.#follow(changes)),
      access.onExpiry(() => this.#recheck()),
    ]
  }

  /** Results of an earlier run are there again; queries that had not ended have failed. */
  static async open(options: AsyncQueriesOptions): Promise<AsyncQueries> {
    const store = await ResultStore.open(options.dataDirectory)
    const queries = new AsyncQueries(options, store)
    for (const state of await store.states()) {
      queries.#jobs.set(state.id, { state, work: undefined })
      if (state.ended !== null) continue
      const outcome = { status: 'failed', error: 'the service was restarted' } as const
      await queries.#end(state.id, outcome).catch(queries.#complain)
    }
    for (const { state } of [...queries.#jobs.values()]) {
      const { organizationId, userId } = state
      if (userId === null || options.access.index.isMember(organizationId, userId)) continue
      await queries.#forget(state.id)
    }
    await queries.#tidy()
    return queries
  }

  /** Throws the faults of the query, and LIMIT_OVERLOADED when too many wait already. */
  async start(asked: AsyncRequest, gate: Gate): Promise<AsyncQueryState> {
    this.#options.engine.reserve.requireRoom(0)
    // What is wrong with the query itself is told at once.
    const view = new NotingView(asked.request.view)
    await this.#options.engine.query({ ...asked.request, view })
    const { organizationId, userId } = gate.principal
    const waiting = this.#withStatus('queued').filter((job) => {
      return job.state.organizationId === organizationId
    })
    if (this.#closing || waiting.length >= mostQueued) {
      throw new AssayError('LIMIT_OVERLOADED', `${waiting.length} async queries are waiting`, {
        hint: 'try again when some of them have ended',
      })
    }
    const state: AsyncQueryState = {
      id: randomUUID(),
      organizationId,
      userId,
      query: textOfQuery(asked.request.query),
      ...(asked.request.from !== undefined && { from: asked.request.from }),
      ...(asked.request.project !== undefined && { project: asked.request.project }),
      format: asked.format,
      batchSize: asked.batchSize,
      seen: view.seen,
      status: 'queued',
      created: this.#now(),
      ended: null,
      rowCount: 0,
      bytes: 0,
      error: null,
    }
    const { sessionId: _, ...principal } = gate.principal
    const cancel = new AbortController()
    const work: Work = { principal, asked, cancel, progress: undefined }
    await this.#store.write(state)
    this.#jobs.set(state.id, { state, work })
    this.#startNext()
    return this.#jobs.get(state.id)?.state ?? state
  }

  /** The caller's own, newest first. */
  list(gate: Gate): AsyncQueryState[] {
    const own = [...this.#jobs.values()].filter(({ state }) => isOwner(state, gate))
    return own.map(({ state }) => state).sort((a, b) => b.created - a.created)
  }

  /** Throws the same for a query that is not there and one of somebody else's. */
  state(id: string, gate: Gate): AsyncQueryState {
    return this.#job(id, gate).state
  }

  /**
   * Throws what the query itself would, for who may not read its sources any more, and for who sees
   * less of them than when it began.
   */
  async requireSources(state: AsyncQueryState, gate: Gate): Promise<void> {
    const { query, from, project, seen = [] } = state
    const view = new NotingView(gate)
    await this.#options.engine.query({
      query,
      ...(from !== undefined && { from }),
      ...(project !== undefined && { project }),
      view,
    })
    if (view.covers(seen)) return
    throw new AssayError('ACCESS_DENIED', 'The result has rows that are not to be read any more', {
      hint: 'run the query again',
    })
  }

  progress(id: string): QueryProgress | undefined {
    return this.#jobs.get(id)?.work?.progress
  }

  /** When the result goes, in ms since 1970; null while the query has not ended. */
  expires({ ended }: AsyncQueryState): number | null {
    return ended === null ? null : ended + this.#options.lifetimeMs
  }

  /** Ends a query that has not ended; what it has found so far is dropped. */
  async cancel(id: string, gate: Gate): Promise<AsyncQueryState> {
    const job = this.#job(id, gate)
    if (job.work) {
      job.work.cancel.abort()
      // First, so that there is room for what is noted.
      await this.#store.removeRows(id)
      await this.#end(id, { status: 'canceled' })
    }
    return job.state
  }

  /** Cancels it if need be, and forgets it. */
  async remove(id: string, gate: Gate): Promise<AsyncQueryState> {
    const { state, work } = this.#job(id, gate)
    await this.#forget(id)
    return work ? { ...state, status: 'canceled', ended: this.#now() } : state
  }

  openRows(id: string) {
    return this.#store.read(id)
  }

  /** Ends what is running; after a restart it is known to have failed. */
  async close(): Promise<void> {
    this.#closing = true
    clearInterval(this.#timer)
    for (const stop of this.#stopListening) stop()
    for (const { work } of this.#jobs.values()) work?.cancel.abort()
    await Promise.allSettled(this.#running)
  }

  async #forget(id: string): Promise<void> {
    const work = this.#jobs.get(id)?.work
    this.#jobs.delete(id)
    work?.cancel.abort()
    await this.#store.remove(id)
  }

  /** Who is no member any more has no results to come back to. */
  #follow(changes: readonly CatalogChange[]): void {
    for (const { kind, before, after } of changes) {
      if (kind !== 'member' || after || !before) continue
      const { org_id, user_id } = before as Member
      for (const { state } of [...this.#jobs.values()]) {
        if (state.organizationId !== org_id || state.userId !== user_id) continue
        this.#forget(state.id).catch(this.#complain)
      }
    }
    this.#recheck()
  }

  /** Ends what was begun by those who are not let in any more. */
  #recheck(): void {
    for (const { state, work } of [...this.#jobs.values()]) {
      if (!work) continue
      try {
        this.#options.access.requireValid(work.principal)
      } catch (thrown) {
        work.cancel.abort()
        const error = this.#describe(state.id, thrown)
        this.#end(state.id, { status: 'failed', error }).catch(this.#complain)
      }
    }
  }

  #job(id: string, gate: Gate): Job {
    const job = this.#jobs.get(id)
    if (job && isOwner(job.state, gate)) return job
    throw new AssayError(
      'ROUTE_NOT_FOUND',
      `There is no async query ${id.slice(0, 100)} of yours`,
      {
        hint: 'its result may have gone: results are kept for a time after their query has ended',
      },
    )
  }

  #withStatus(status: AsyncQueryState['status']): Job[] {
    return [...this.#jobs.values()].filter((job) => job.state.status === status)
  }

  #startNext(): void {
    while (!this.#closing && this.#running.size < mostRunning) {
      const job = this.#withStatus('queued').find(({ work }) => work)
      if (!job?.work) return
      job.state = { ...job.state, status: 'running' }
      const run = this.#run(job, job.work).catch(this.#complain)
      const ended = run.finally(() => {
        this.#running.delete(ended)
        this.#startNext()
      })
      this.#running.add(ended)
    }
  }

  async #run({ state: { id } }: Job, work: Work): Promise<void> {
    try {
      const { rowCount, bytes } = await this.#writeRows(id, work)
      await this.#end(id, { status: 'succeeded', rowCount, bytes })
    } catch (thrown) {
      await this.#store.removeRows(id)
      // A query that was cancelled has ended already; one that the service left is ended by the next.
      if (this.#closing || this.#jobs.get(id)?.work !== work) return
      await this.#end(id, { status: 'failed', error: this.#describe(id, thrown) })
    }
    await this.#tidy()
  }

  /** Asks for the next rows when the last are written. */
  async #writeRows(id: string, work: Work): Promise<{ rowCount: number; bytes: number }> {
    const { engine, totalBytes } = this.#options
    const { asked, cancel } = work
    const isLines = asked.format === 'jsonl'
    const newline = Buffer.from('\n')
    const file = await this.#store.create(id)
    let [rowCount, written] = [0, 0]
    try {
      const result = await engine.query({
        ...asked.request,
        signal: cancel.signal,
        onProgress: (progress) => {
          work.progress = progress
        },
      })
      for await (const chunk of result.rows) {
        if (isLines && chunk.rowCount === 0) continue
        const parts = isLines ? [chunk.bytes, newline] : [chunk.bytes]
        rowCount += chunk.rowCount
        for (const part of parts) written += part.length
        if (written > totalBytes) {
          throw new AssayError('LIMIT_MEMORY', `the result is longer than ${totalBytes} bytes`, {
            hint: 'add a limit or a filter',
          })
        }
        engine.reserve.requireRoom(parts.reduce((sum, { length }) => sum + length, 0))
        await file.append(parts)
      }
      await file.sync()
      return { rowCount, bytes: written }
    } finally {
      await file.close()
    }
  }

  async #end(id: string, outcome: Partial<AsyncQueryState>): Promise<void> {
    const job = this.#jobs.get(id)
    if (!job || job.state.ended !== null) return
    job.state = { ...job.state, ...outcome, ended: this.#now() }
    job.work = undefined
    try {
      await this.#store.write(job.state)
    } catch (thrown) {
      if (job.state.status === 'succeeded') {
        // Nobody would know of it after a restart.
        const error = this.#describe(id, thrown)
        job.state = { ...job.state, status: 'failed', rowCount: 0, bytes: 0, error }
      }
      throw thrown
    }
  }

  /** Lets go of results that are too old, and of the oldest as long as there are too many bytes. */
  async #tidy(): Promise<void> {
    const now = this.#now()
    const ended = [...this.#jobs.values()]
      .map(({ state }) => state)
      .filter((state) => state.ended !== null)
      .sort((a, b) => a.ended! - b.ended!)
    let bytes = ended.reduce((sum, state) => sum + state.bytes, 0)
    for (const state of ended) {
      const isLate = now >= this.expires(state)!
      if (!isLate && bytes <= this.#options.totalBytes) continue
      bytes -= state.bytes
      this.#jobs.delete(state.id)
      await this.#store.remove(state.id)
    }
  }

  #describe(id: string, thrown: unknown): string {
    const error = toAssayError(thrown)
    if (error.family !== 'internal') return `${error.code}: ${error.message}`
    this.#options.logger.error({ err: error.cause ?? error, asyncQuery: id }, 'async query failed')
    return `something went wrong here; the server's log tells what, under ${id}`
  }

  readonly #complain = (error: unknown) => {
    this.#options.logger.error({ err: error }, 'async queries')
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now()
  }
}

/** Whoever has the data directory in hands, and no user id, owns what it has asked itself. */
function isOwner({ organizationId, userId }: AsyncQueryState, { principal }: Gate): boolean {
  return principal.organizationId === organizationId && principal.userId === userId
}
