/**
 * One query whose answer is sent as messages; of a live one, also what is written later.
 *
 * A live query knows the version up to which its client has everything, and runs again for what came
 * after it. So nothing is kept for a slow reader, however much is written meanwhile, and no record is
 * missed or told twice: each round is one snapshot, and begins where the one before it ended.
 */
import { createHash, type Hash, randomUUID } from 'node:crypto'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Gate } from '../../access/gate.ts'
import type { Engine, QueryRequest, QueryResult, QuerySummary } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import { faultText, textOfQuery } from '../../parser/given-query.ts'
import type { QueryWarning } from '../../planner/lint.ts'
import type { QueryProgress, QueryStatus } from '../../scheduler/admission/running-query.ts'
import type { RowChunk } from '../../scheduler/answer/answer-frame.ts'
import type { Watched } from '../../scheduler/live-plan.ts'
import type { ObjectWritten } from '../../scheduler/write-watch.ts'
import { errorFields } from '../error-response.ts'
import type { Logger } from '../logger.ts'
import { tailOf } from '../query-answer.ts'
import { queryRows } from '../query-rows.ts'
import type { LiveQueries, LiveQuery } from './live-queries.ts'
import type { MessageSink, StreamMessage } from './message.ts'
import { longestShared } from './shared-answers.ts'
import type { StreamRequest } from './stream-request.ts'

export interface StreamOptions {
  readonly engine: Engine
  readonly live: LiveQueries
  readonly sink: MessageSink
  readonly logger: Logger
  readonly request: StreamRequest
  /** What the client calls it, on a connection with several. */
  readonly name: string | undefined
  readonly traceId: string
  /** The gate of who asks as of now; throws when the key or the session is not valid any more. */
  readonly gateNow: () => Gate
}

/** Between two messages that tell how far a query has come. */
const progressEveryMs = 100

/** How long writes gather before a live query runs again, if it takes no time. */
const gatherMs = { rows: 25, answer: 100 }

/** A query that takes long is run again after so many times as long. */
const pauseFactor = 4
const longestGatherMs = 10_000

/** Rows of one object that are looked through for records that were changed; with more, all is sent again. */
const mostChangedRows = 5000

/** A reader of a live query that takes longer over one round is told that it is too slow. */
const longestRoundMs = 30_000

/** Characters of a query in lists. */
const shownText = 1000

/** Before a round that was refused because of too much other work is tried again. */
const retryMs = 1000

export class QueryStream implements LiveQuery {
  readonly id = randomUUID()
  readonly #options: StreamOptions
  readonly #cancel = new AbortController()
  readonly #startedAt = Date.now()
  #reason: AssayError | undefined
  #watched: Watched | undefined
  #stopListening: (() => void) | undefined
  #isWaiting = false
  #wake: (() => void) | undefined
  #leave: (() => void) | undefined
  /** What has come since the last round. */
  #isTouched = false
  readonly #changedObjects = new Set<number>()
  /** All of the answer is sent again in the next round. */
  #isReplaced = false
  #isTitled = false
  #warnings: readonly QueryWarning[] = []
  #rowCount = 0
  #readerMs = 0
  #lastProgress = 0
  /** Of the answer that the client has, and its length in bytes. */
  #digest = ''
  #answerBytes = 0

  constructor(options: StreamOptions) {
    this.#options = options
  }

  get status(): QueryStatus {
    const { view, query } = this.#options.request.request
    return {
      id: this.id,
      owner: view.owner,
      text: textOfQuery(query).slice(0, shownText),
      startedAt: this.#startedAt,
      state: this.#isWaiting ? 'live' : 'running',
      progress: { rowsToRead: 0, rowsRead: 0, rowsSent: this.#rowCount },
      workerMs: 0,
      memoryBytes: 0,
    }
  }

  /** Throws the faults of the query, and LIMIT_OVERLOADED when there are too many live ones. */
  check(): void {
    const { engine, live, request } = this.#options
    engine.watch(request.request)
    if (request.isLive) live.requirePlace()
  }

  /** Resolves when all is sent, or an error in its place. */
  async run(): Promise<void> {
    const started = performance.now()
    const { traceId, request, logger } = this.#options
    let code: string | undefined
    try {
      await this.#sendAll()
    } catch (thrown) {
      const error = this.#reason ?? toAssayError(thrown)
      code = error.code
      if (error.family === 'internal') {
        logger.error({ traceId, err: error.cause ?? error }, 'stream failed')
      }
      const queryText = faultText(request.request.query)
      this.#send({ type: 'error', ...errorFields(error, { traceId, queryText }) })
    } finally {
      this.#stopListening?.()
      this.#options.live.remove(this)
      const ms = Math.round(performance.now() - started)
      logger.info(
        { traceId, ms, rows: this.#rowCount, live: request.isLive, ...(code && { code }) },
        'stream',
      )
    }
  }

  /** Ends it; its client is told the reason if it is still there. */
  cancel(reason: AssayError): void {
    this.#reason ??= reason
    this.#cancel.abort(reason)
    this.#leave?.()
    this.#wake?.()
  }

  recheck(): void {
    const { engine, request, gateNow } = this.#options
    try {
      const watched = engine.watch({ ...request.request, view: gateNow() })
      if (sameObjects(watched, this.#watched)) return
      // What is in an object that has come is older than what the client has, perhaps.
      this.#watch(watched)
      this.#isReplaced = true
      this.#touch()
    } catch (thrown) {
      this.cancel(toAssayError(thrown))
    }
  }

  async #sendAll(): Promise<void> {
    const { engine, request } = this.#options
    if (!request.isLive) {
      this.#tellEnd(await this.#answer({}))
      return
    }
    this.#options.live.add(this)
    this.#watch(engine.watch(request.request))
    let at = request.since
    if (at === undefined || this.#watched?.kind === 'answer') {
      at = engine.lastTransactionId()
      this.#tellCurrent(at, await this.#answer({}))
    } else {
      // Nobody has listened since then.
      for (const { number } of this.#watched?.objects ?? []) this.#changedObjects.add(number)
      this.#touch()
    }
    let pauseMs = 0
    for (;;) {
      await this.#touched()
      await delay(pauseMs, undefined, { signal: this.#cancel.signal })
      this.#readerMs = 0
      const round = await this.#round(at)
      at = round.at
      if (this.#readerMs > longestRoundMs) throw tooSlow()
      const least = gatherMs[this.#watched?.kind ?? 'answer']
      pauseMs = Math.min(longestGatherMs, Math.max(least, round.took * pauseFactor))
    }
  }

  /** One that is cancelled while it waits gives its turn away. */
  async #turn(): Promise<() => void> {
    const turn = this.#options.live.turn()
    try {
      await this.#unlessCancelled(turn)
    } catch (thrown) {
      void turn.then((done) => done())
      throw thrown
    }
    return turn
  }

  /** Sends what is new since a version. One that is refused for too much other work is tried again. */
  async #round(at: string): Promise<Round> {
    const changed = new Set(this.#changedObjects)
    const isReplaced = this.#isReplaced
    const before = this.#rowCount
    this.#isTouched = false
    this.#isReplaced = false
    this.#changedObjects.clear()
    try {
      if (this.#watched?.kind === 'answer' && this.#answerBytes <= longestShared) {
        const round = await this.#sharedRound(at, isReplaced)
        if (round) return round
      }
      return await this.#ownRound(at, isReplaced, changed)
    } catch (thrown) {
      if (!isOverload(thrown) || this.#rowCount > before) throw thrown
      await delay(retryMs, undefined, { signal: this.#cancel.signal })
      for (const object of changed) this.#changedObjects.add(object)
      this.#isReplaced ||= isReplaced
      this.#isTouched = true
      return { at, took: 0 }
    }
  }

  /** Takes the answer that others wait for, too; undefined when there is none for all of them. */
  async #sharedRound(at: string, isReplaced: boolean): Promise<Round | undefined> {
    const { live } = this.#options
    const { id: _, signal, ...request } = this.#request({})
    const answer = live.answers.take(request, this.#cancel.signal)
    await this.#unlessCancelled(answer)
    const found = await answer
    if (!found) return undefined
    const { through, result, chunks, digest, summary, took } = found
    let rowCount = 0
    if (isReplaced || digest !== this.#digest) {
      this.#noteWarnings(result)
      this.#sendSchema(result, true)
      for (const chunk of chunks) rowCount += await this.#sendChunk(chunk)
      this.#digest = digest
    }
    const now = through > at ? through : at
    this.#tellCurrent(now, { summary, rowCount })
    return { at: now, took }
  }

  /** Runs the query for this client alone. */
  async #ownRound(at: string, isReplaced: boolean, changed: ReadonlySet<number>): Promise<Round> {
    const { engine } = this.#options
    const done = await this.#turn()
    const started = performance.now()
    // From here to the first query nothing else runs, so that both are of one moment.
    const through = engine.lastTransactionId()
    try {
      this.#cancel.signal.throwIfAborted()
      const isAnswer = this.#watched?.kind === 'answer'
      const more = { version: through }
      if (isAnswer || isReplaced || !(await this.#sendRemoved(changed, at, through))) {
        this.#tellCurrent(through, await this.#answer({ more, replaces: true, done }))
      } else {
        const later = { ...more, since: at }
        const { rowCount } = await this.#answer({ more: later, adds: true, done })
        this.#tellCurrent(through, { rowCount })
      }
    } finally {
      done()
    }
    return { at: through, took: performance.now() - started - this.#readerMs }
  }

  /**
   * Tells of records that were changed or deleted and that the query does not give now; false when they
   * are too many to be told one by one.
   */
  async #sendRemoved(changed: ReadonlySet<number>, since: string, through: string) {
    const { engine } = this.#options
    for (const { number, type, id } of this.#watched?.objects ?? []) {
      if (!changed.has(number)) continue
      const changedIds = await engine.changedIds(number, since, through, mostChangedRows)
      if (!changedIds) return false
      const request = this.#request({ since, version: through, idsOf: number, format: 'json' })
      // Others that were changed may be records that are not for the caller.
      const visible = request.view.readable(type, id)?.visibleIds
      const ids = visible ? new Set(visible.filter((one) => changedIds.has(one))) : changedIds
      if (ids.size === 0) continue
      for (const row of await queryRows(engine, request)) ids.delete(String(row.id))
      if (ids.size === 0) continue
      this.#send({ type: 'removed', object_type: type, object_id: id, ids: [...ids] })
    }
    return true
  }

  /** Runs the query and sends what it gives. */
  async #answer(how: AnswerOptions): Promise<{ summary: QuerySummary; rowCount: number }> {
    const { engine, request } = this.#options
    const result = await engine.query(
      this.#request({ ...how.more, isFirst: how.more === undefined }),
    )
    this.#noteWarnings(result)
    if (!(how.adds && this.#isTitled)) this.#sendSchema(result, how.replaces)
    const rows = result.rows[Symbol.asyncIterator]()
    const digest = createHash('sha1')
    let length = 0
    let rowCount = 0
    let next = await rows.next()
    try {
      how.done?.()
      for (; !next.done; next = await rows.next()) {
        if (request.isLive) await updateInTurns(digest, next.value.bytes)
        length += next.value.bytes.length
        rowCount += await this.#sendChunk(next.value)
      }
    } finally {
      await rows.return?.()
    }
    this.#digest = digest.digest('hex')
    this.#answerBytes = length
    return { summary: result.finish(), rowCount }
  }

  #noteWarnings(result: QueryResult): void {
    const { warnings, showsWarnings } = this.#options.request
    this.#warnings = showsWarnings ? [...warnings, ...result.warnings] : []
  }

  #request({ isFirst, ...more }: Partial<QueryRequest> & { isFirst?: boolean }): QueryRequest {
    const { request: asked, showsProgress } = this.#options.request
    const isLogged = isFirst === true && asked.auditLog === true
    return {
      ...asked,
      ...more,
      view: isFirst === true ? asked.view : this.#options.gateNow(),
      id: this.id,
      signal: this.#cancel.signal,
      auditLog: isLogged,
      ...(isLogged && { onAuditEvent: (event) => this.#send({ type: 'audit', event }) }),
      ...(isFirst === true &&
        showsProgress && { onProgress: (progress) => this.#tellProgress(progress) }),
    }
  }

  async #sendChunk({ rowCount, bytes }: RowChunk): Promise<number> {
    this.#cancel.signal.throwIfAborted()
    const { sink, request, name } = this.#options
    this.#rowCount += rowCount
    const message: StreamMessage = { type: 'batch', id: name, row_count: rowCount }
    const started = performance.now()
    if (request.format !== 'json') {
      await this.#unlessCancelled(sink.sendBytes({ ...message, bytes: bytes.length }, bytes))
    } else if (rowCount > 0) await this.#unlessCancelled(sink.sendRows(message, bytes))
    this.#readerMs += performance.now() - started
    return rowCount
  }

  /** A reader that takes nothing holds nothing once the query is cancelled. */
  async #unlessCancelled(awaited: Promise<unknown>): Promise<void> {
    const cancelled = new Promise<void>((resolve) => {
      this.#leave = resolve
    })
    await Promise.race([awaited, cancelled])
    this.#leave = undefined
    this.#cancel.signal.throwIfAborted()
  }

  #sendSchema({ schema, planSummary }: QueryResult, replaces = false): void {
    const { traceId, request } = this.#options
    this.#isTitled = true
    this.#send({
      type: 'schema',
      query_id: this.id,
      trace_id: traceId,
      format: request.format,
      ...(this.#watched && { live: this.#watched.kind }),
      ...(replaces && { replaces }),
      plan: planSummary,
      ...(request.isLive && this.#warnings.length > 0 && { warnings: this.#warnings }),
      schema,
    })
  }

  #tellProgress({ rowsToRead, rowsRead, rowsSent }: QueryProgress): void {
    const now = performance.now()
    if (now - this.#lastProgress < progressEveryMs) return
    this.#lastProgress = now
    this.#send({
      type: 'progress',
      share: rowsToRead === 0 ? 0 : Math.min(1, rowsRead / rowsToRead),
      rows_to_read: rowsToRead,
      rows_read: rowsRead,
      rows_sent: rowsSent,
    })
  }

  #tellEnd({ summary, rowCount }: { summary: QuerySummary; rowCount: number }): void {
    this.#send({ type: 'end', row_count: rowCount, ...tailOf(summary, this.#warnings) })
  }

  /** @param answered of a whole answer with its summary: what only adds to one has no next page */
  #tellCurrent(at: string, answered: { summary?: QuerySummary; rowCount: number }): void {
    const { summary, rowCount } = answered
    const cursor = summary?.cursor
    this.#send({
      type: 'current',
      xact_id: at,
      row_count: rowCount,
      ...(cursor !== undefined && { cursor }),
    })
  }

  #send(message: StreamMessage): void {
    const { type, ...fields } = message
    const { sink, name } = this.#options
    sink.send({ type, ...(name !== undefined && { id: name }), ...fields })
  }

  #watch(watched: Watched): void {
    this.#stopListening?.()
    this.#watched = watched
    const numbers = watched.objects.map(({ number }) => number)
    this.#stopListening = this.#options.engine.onWrite(numbers, (written) => this.#note(written))
  }

  #note({ object, isAllNew }: ObjectWritten): void {
    if (!isAllNew) this.#changedObjects.add(object)
    this.#touch()
  }

  #touch(): void {
    this.#isTouched = true
    this.#wake?.()
  }

  /** Resolves when something has come that the last round did not see. */
  async #touched(): Promise<void> {
    if (!this.#isTouched && !this.#reason) {
      this.#isWaiting = true
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#isWaiting = false
      this.#wake = undefined
    }
    this.#cancel.signal.throwIfAborted()
  }
}

interface Round {
  /** The version up to which the client has everything. */
  readonly at: string
  /** Milliseconds, without those of the reader. */
  readonly took: number
}

interface AnswerOptions {
  /** Undefined of the first answer. */
  readonly more?: Partial<QueryRequest>
  /** Whether it takes the place of the one before. */
  readonly replaces?: boolean
  /** Whether it adds to the one before. */
  readonly adds?: boolean
  /** Is called when the first of it is found. */
  readonly done?: () => void
}

function sameObjects(a: Watched, b: Watched | undefined): boolean {
  if (a.kind !== b?.kind || a.objects.length !== b.objects.length) return false
  return a.objects.every(({ number }, i) => number === b.objects[i]!.number)
}

function isOverload(thrown: unknown): boolean {
  const { code } = toAssayError(thrown)
  return code === 'LIMIT_OVERLOADED' || code === 'LIMIT_RATE'
}

function tooSlow(): AssayError {
  return new AssayError('LIMIT_SLOW_READER', 'records come faster than this reader takes them', {
    hint: 'ask again, with a filter or for fewer fields',
  })
}

/** Of a digest, in a turn: a millisecond or two. */
const digestedBytes = 2 ** 20

async function updateInTurns(digest: Hash, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += digestedBytes) {
    if (at > 0) await nextTurn()
    digest.update(bytes.subarray(at, at + digestedBytes))
  }
}
