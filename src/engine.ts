/** A query from text to rows, and a request's rows to disk: `query` and `insert` read top to bottom. */
import { randomUUID } from 'node:crypto'
import { projectOfPrompt } from './access/prompt-place.ts'
import { isHiddenField } from './binder/bound.ts'
import { resultSchema } from './binder/schema.ts'
import { type SourceField, sourceFields } from './binder/source-fields.ts'
import { Catalog, type CatalogView } from './catalog/catalog.ts'
import type { PriceTable } from './function/prices.ts'
import type { TableSource } from './parser/ast.ts'
import { explainAnalyzed, explainPhysical, indented } from './planner/explain.ts'
import { refuseWarnings } from './planner/lint.ts'
import type { PlanRecorder } from './planner/plan-query.ts'
import { DiskReserve } from './scheduler/admission/disk-reserve.ts'
import { defaultQueryLimits, type QueryLimits } from './scheduler/admission/query-limits.ts'
import type { QueryStatus } from './scheduler/admission/running-query.ts'
import type { RowChunk } from './scheduler/answer/answer-frame.ts'
import { cursorOf, newProgress } from './scheduler/answer/answer-progress.ts'
import type { AnswerNow } from './scheduler/answer/direct-look-up.ts'
import { AnswersNow, type PlainQuery } from './scheduler/answers-now.ts'
import type { EngineOptions, Logger } from './scheduler/engine-options.ts'
import { IngestPool } from './scheduler/insert/ingest-pool.ts'
import type { InsertRequest, InsertResult } from './scheduler/insert/insert-request.ts'
import { type InsertedRows, Inserts } from './scheduler/insert/inserts.ts'
import { RecordWriterThread } from './scheduler/insert/record-writer-thread.ts'
import { changedIds, narrowed, type Watched, watchedOf } from './scheduler/live-plan.ts'
import { FreshRows } from './scheduler/maintenance/fresh-rows.ts'
import { Maintenance } from './scheduler/maintenance/maintenance.ts'
import { newPartMemory } from './scheduler/maintenance/part-memory.ts'
import { OpenedData } from './scheduler/opened-data.ts'
import { QueryPlans } from './scheduler/query-plans.ts'
import type { QueryRequest, QueryResult, QuerySummary } from './scheduler/query-request.ts'
import { QueryRunner } from './scheduler/query-runner.ts'
import type { QueryStart, StartedQuery } from './scheduler/query-start.ts'
import { AuditLog } from './scheduler/scan/audit-log.ts'
import { historyParts, type QuerySnapshot, seenSegments } from './scheduler/scan/snapshot.ts'
import { describePruning, splitScan } from './scheduler/scan/split.ts'
import { SourceRights } from './scheduler/source-rights.ts'
import { type EngineStatus, maintenanceStatus, storedBytes } from './scheduler/status.ts'
import { QueryPool } from './scheduler/thread/query-pool.ts'
import { newTaskCount } from './scheduler/thread/task-count.ts'
import { WarmUp } from './scheduler/warm-up.ts'
import { type WriteListener, WriteWatch } from './scheduler/write-watch.ts'
import { areGivenUp } from './storage/environment.ts'
import { freeBytesOf, recordsFile } from './storage/maintenance/segment-files.ts'
import { placesOf, type SpanPlace } from './storage/read/span-place.ts'
import { TaskReads } from './storage/read/task-reads.ts'
import { type SegmentDamage, SegmentStore } from './storage/segment/segment-store.ts'
import { formatTransaction, parseTransaction } from './type/transaction.ts'
import { paginationKeyAt } from './vector/row-keys.ts'

export type { EngineOptions, Logger } from './scheduler/engine-options.ts'
export type { AnswerNow, InsertRequest, InsertResult, QueryRequest, QueryResult, QuerySummary }

interface EngineParts {
  readonly catalog: Catalog
  readonly data: OpenedData
  readonly reads: TaskReads
  readonly maintenance: Maintenance
  /** Undefined: bodies are prepared in this thread. */
  readonly ingest: IngestPool | undefined
  readonly fresh: FreshRows
  readonly reserve: DiskReserve
  readonly writer: RecordWriterThread
  readonly pool: QueryPool
  readonly limits: QueryLimits
  readonly logger: Logger | undefined
  readonly now: () => number
  readonly prices: PriceTable | undefined
}

export class Engine {
  readonly catalog: Catalog
  /** Of the disk; asked by whatever else grows in the data directory. */
  readonly reserve: DiskReserve
  readonly #parts: EngineParts
  /** Snapshots are taken here: the last transaction that was acknowledged. */
  #lastTransaction: number
  readonly #plans: QueryPlans
  readonly #runner: QueryRunner
  readonly #rights: SourceRights
  readonly #writes = new WriteWatch()
  readonly #inserts: Inserts
  readonly #warmUp = new WarmUp()
  readonly #answers: AnswersNow

  /** Throws what `OpenedData.open` does. */
  static async open(options: EngineOptions): Promise<Engine> {
    const { dataDirectory: directory, workers, logger, now = Date.now } = options
    const data = await OpenedData.open(directory, (fault) => logger?.warn({ directory }, fault))
    let writer: RecordWriterThread | undefined
    try {
      const { records, segments } = data
      const limits = { ...defaultQueryLimits, ...options.limits }
      const reads = new TaskReads(records, segments, limits.rowCacheBytes / 2)
      const writing = new RecordWriterThread(directory)
      writer = writing
      const reserve = new DiskReserve({
        directory,
        leastFreeBytes: options.leastFreeBytes,
        freeWithin: () => freeBytesOf(recordsFile(records)),
        logger,
      })
      const catalog = new Catalog(records, {
        write: (batch) => writing.writeCatalog(batch),
        requireRoom: () => reserve.requireRoom(0),
      })
      const runningTasks = newTaskCount()
      // One such thread keeps up with what two processors do with its rows, and each compiles its code anew.
      const threads = Math.ceil(workers / 2)
      const partMemory = newPartMemory()
      const ingest =
        workers === 0 ? undefined : new IngestPool(directory, threads, { runningTasks, partMemory })
      const isAutomatic = options.maintenance?.automatic !== false
      const fresh = new FreshRows({
        memory: partMemory,
        seal: isAutomatic && ingest ? (spans, bytes) => ingest.seal(spans, bytes) : undefined,
        onError: (thrown) => logger?.error({ err: thrown }, 'fresh rows could not be sealed'),
      })
      const maintenance = await Maintenance.start({
        ...options.maintenance,
        directory,
        store: new SegmentStore(segments),
        fresh,
        removals: catalog,
        reserve,
        leftOut: () => reads.during(({ records }) => records.leftOut()),
        runningTasks,
        ...(logger && { logger }),
      })
      return new Engine({
        data,
        catalog,
        reads,
        maintenance,
        ingest,
        fresh,
        reserve,
        writer,
        pool: new QueryPool(directory, workers, reads, runningTasks, limits.memory.perQuery),
        limits,
        logger,
        now,
        prices: options.prices,
      })
    } catch (thrown) {
      await writer?.close()
      await data.close()
      throw thrown
    }
  }

  private constructor(parts: EngineParts) {
    this.#parts = parts
    const { catalog, reads, maintenance, fresh, pool, limits, logger, now, prices } = parts
    this.catalog = catalog
    this.reserve = parts.reserve
    this.#plans = new QueryPlans({ reads, now, prices })
    this.#runner = new QueryRunner(pool, limits, logger)
    this.#rights = new SourceRights(catalog, this.#plans, this.#runner)
    const made = { plans: this.#plans, runner: this.#runner }
    this.#answers = new AnswersNow({ ...made, reads, pool, limits })
    this.#lastTransaction = reads.records.lastTransaction()
    this.#inserts = new Inserts({ ...parts, onWritten: (inserted) => this.#publish(inserted) })
    reads.onDamagedKeys = (segment) => maintenance.damaged.noteKeys(segment)
    maintenance.noteRemoval()
    this.catalog.onChange(() => maintenance.noteRemoval())
    const { flushedThrough } = maintenance.manifest
    fresh.restore(reads.records.log(flushedThrough))
    fresh.leaveOut(reads.records.leftOut(), flushedThrough)
  }

  /** In ms since 1970: what `now()` gives in queries. */
  now(): number {
    return this.#parts.now()
  }

  /** Writes the rows of a body; they are on disk, and seen by queries, when this resolves. */
  insert(request: InsertRequest): Promise<InsertResult> {
    this.#warmUp.noteRequest()
    return this.#inserts.insert(request)
  }

  #publish(inserted: InsertedRows): void {
    const { written, rows, parts, objectNumbers } = inserted
    const { transaction, objects, unchanged, newFields } = written
    this.#plans.forgetFieldsOf(newFields)
    this.#lastTransaction = Math.max(this.#lastTransaction, transaction)
    this.#parts.fresh.add(written, parts, objectNumbers)
    this.#answers.noteWrite(inserted)
    this.#writes.note(objects, unchanged)
    this.#parts.maintenance.noteWrite({ rows: rows.ids.length, bytes: rows.bytes.length })
  }

  /** The `_xact_id` that names all that was written so far as a version. */
  lastTransactionId(): string {
    return formatTransaction(this.#lastTransaction)
  }

  async query(request: QueryRequest): Promise<QueryResult> {
    return this.#start(request, new AuditLog(request.auditLog === true, request.onAuditEvent))
      .result
  }

  /**
   * The answer, in this turn of the event loop, to what takes no waiting (`scheduler/answers-now.ts`);
   * undefined for any other query. Its bytes are valid until the next call.
   */
  answerNow(request: PlainQuery): AnswerNow | undefined {
    this.#warmUp.noteRequest()
    const transaction = this.#lastTransaction
    return this.#answers.answer(request, transaction, () => this.#snapshot(transaction))
  }

  #start(request: QueryRequest, audit: AuditLog): StartedQuery {
    this.#warmUp.noteRequest()
    const { planned, context } = this.#plans.plan(request, audit)
    const { bound, warnings } = planned
    const physical = narrowed(planned.physical, request)
    if (request.strictLint === true) refuseWarnings(warnings)
    const transaction = this.#transactionAt(request.version)
    const progress = newProgress()
    const form = this.#plans.formOf(request, { ...planned, physical })
    const rows = this.#run({ physical, context, transaction, audit, request, progress, form })
    const finish = (): QuerySummary => {
      const cursor = cursorOf(bound, progress)
      const { madeColumns, rowCount } = progress
      return {
        schema: madeColumns.length === 0 ? planned.schema : resultSchema(bound, madeColumns),
        rowCount,
        ...(cursor !== undefined && { cursor }),
        lastTransactionId: transaction === 0 ? null : formatTransaction(transaction),
        bytesRead: audit.bytesRead,
        ...(request.auditLog === true && { auditLog: audit.events }),
      }
    }
    const result: QueryResult = {
      schema: planned.schema,
      warnings,
      planSummary: planned.summary,
      isPage: bound.limit !== undefined,
      rows: this.#answers.kept.keeping(request, planned, transaction, { rows, finish }),
      finish,
    }
    return { result, physical }
  }

  /** What has to be looked at for the query to stay true; asks for rights, and throws its faults. */
  watch(request: QueryRequest): Watched {
    const { planned } = this.#plans.plan(request)
    if (request.strictLint === true) refuseWarnings(planned.warnings)
    return watchedOf(planned)
  }

  /** The listener is called once queries see a write to one of the objects. Returns what ends that. */
  onWrite(objects: readonly number[], listener: WriteListener): () => void {
    return this.#writes.listen(objects, listener)
  }

  /**
   * Ids of the records of an object that were changed or deleted after the version `since` and up to
   * `through`; undefined when more than `most` rows were written.
   */
  changedIds(object: number, since: string, through: string, most: number) {
    const range = {
      object,
      since: parseTransaction(since),
      through: parseTransaction(through),
      most,
    }
    return this.#parts.reads.during(({ records }) => changedIds(records, range))
  }

  /** The plan of a query before and after the rules, how it would run, and what pruning leaves. */
  async explain(request: QueryRequest): Promise<string> {
    const steps: string[] = []
    const recorder: PlanRecorder = {
      now: () => 0,
      add: () => undefined,
      onLogicalPlan: (rule, plan) =>
        steps.push(`${rule === undefined ? 'logical' : `rule ${rule}`}\n${indented(plan)}`),
    }
    const { physical } = this.#plans.planAnew(request, recorder)
    const snapshot = this.#snapshot(this.#transactionAt(request.version))
    try {
      const { report } = splitScan(physical.plan, snapshot, [], this.#parts.pool)
      const pruning =
        physical.plan.access.kind === 'scan' ? `pruning\n  ${describePruning(report)}` : undefined
      return [
        ...steps,
        `physical\n${indented(explainPhysical(physical))}`,
        ...(pruning === undefined ? [] : [pruning]),
      ].join('\n')
    } finally {
      snapshot.release()
    }
  }

  /** Runs the query, drops its rows, and tells what each operator of its plan did. */
  async explainAnalyze(request: QueryRequest): Promise<string> {
    const started = performance.now()
    const audit = new AuditLog(true)
    const { result, physical } = this.#start(request, audit)
    for await (const _ of result.rows);
    const { rowCount, bytesRead } = result.finish()
    const milliseconds = (performance.now() - started).toFixed(3)
    return [
      `physical\n${indented(explainAnalyzed(physical, (plan) => audit.profile(plan)))}`,
      `total\n  ${rowCount} rows, ${bytesRead} bytes read, ${milliseconds} ms`,
    ].join('\n')
  }

  /** Where in traces the records of an object are that have these ids, as they are now. */
  placesOf(object: number, ids: readonly string[]): Map<string, SpanPlace> {
    return this.#parts.reads.withShared(this.#lastTransaction, (records, within) =>
      placesOf(records, object, ids, within),
    )
  }

  /** The project whose prompts and functions have this id; undefined when the organization has none. */
  projectOfPrompt(organizationId: string, id: string): string | undefined {
    return this.#parts.reads.during(({ records }) =>
      projectOfPrompt(this.catalog, records, organizationId, id),
    )
  }

  /** The fields that a query of this source may name, as far as they are known. */
  fieldsOf(source: TableSource, view: CatalogView): SourceField[] {
    return sourceFields(source, view, (object) => this.#plans.knownFieldsOf(object))
  }

  /** The queries that have begun and whose answers are not taken yet. */
  queries(): QueryStatus[] {
    return this.#runner.queries.list().map(({ status }) => status)
  }

  /** Cancels a query; false when there is none of that id. */
  cancelQuery(id: string): boolean {
    return this.#runner.cancelById(id)
  }

  status(): EngineStatus {
    const { maintenance, pool, data } = this.#parts
    return {
      queries: this.#runner.status(),
      tasks: { workers: pool.workers, running: pool.runningTasks, waiting: pool.waitingTasks },
      plans: this.#plans.statistics,
      answers: this.#answers.kept.statistics,
      ...maintenanceStatus(maintenance),
      storedBytes: storedBytes(data.directory),
    }
  }

  /** Whether nothing is read or written until it was closed and opened anew. */
  readonly mustReopen = () => areGivenUp(this.#parts.data)

  /** Puts everything that was written so far into segments. */
  flush(): Promise<void> {
    return this.#parts.maintenance.flush()
  }

  /** False: some records of deleted objects are still being read. */
  removeObjects(): Promise<boolean> {
    return this.#parts.maintenance.removeObjects()
  }

  /** Merges small segments until the policy finds nothing more to merge. */
  compact(): Promise<void> {
    return this.#parts.maintenance.compact()
  }

  /** Runs typical queries while nobody asks, which take so many seconds together; tells how many. */
  warmUp(seconds: number): Promise<number> {
    return this.#warmUp.start({ ...this.#parts, seconds })
  }

  /** Lets the threads of inserts get to know their work, before the first insert or until it comes. */
  async warmUpInserts(): Promise<void> {
    await this.#parts.ingest?.warmUp()
  }

  /** Ends what is under way and lets go of the data directory. */
  async close(): Promise<void> {
    await this.#warmUp.stop()
    await this.#parts.pool.close()
    await this.#parts.ingest?.close()
    // Maintenance tells the catalog what it has removed.
    await this.#parts.maintenance.close()
    await this.#parts.writer.close()
    await this.#parts.data.close()
  }

  /** The snapshot that a version names, or the newest. */
  #transactionAt(version: string | undefined): number {
    if (version === undefined) return this.#lastTransaction
    const transaction = Math.min(parseTransaction(version), this.#lastTransaction)
    return this.#parts.reads.during(({ records }) => records.snapshotAt(transaction))
  }

  /**
   * Must be released: until then, its segments are kept, and the memory of its fresh parts.
   *
   * @param since what has no row of a later transaction is left out
   */
  #snapshot(transaction: number, since = 0): QuerySnapshot {
    const { manifest, release } = this.#parts.maintenance.acquire()
    const fresh = this.#parts.fresh.at(transaction, since)
    return {
      transaction,
      segments: seenSegments(manifest, transaction, since),
      lost: manifest.lost,
      fresh,
      history: (object) => this.#parts.reads.during(({ records }) => historyParts(records, object)),
      release: () => {
        fresh.release()
        release()
      },
    }
  }

  async *#run(run: QueryStart): AsyncGenerator<RowChunk> {
    const { physical, context, transaction, audit, request, progress, form } = run
    const started = audit.now()
    const since = request.since === undefined ? 0 : parseTransaction(request.since)
    const snapshot = this.#snapshot(transaction, since)
    const snapshots = [snapshot]
    const { maintenance } = this.#parts
    const withoutDamaged = async (damage: SegmentDamage) => {
      await maintenance.damaged.note(damage)
      snapshots.push(this.#snapshot(transaction, since))
      return snapshots.at(-1)!
    }
    audit.add('snapshot', started, {
      transaction: formatTransaction(transaction),
      flushedThrough: formatTransaction(maintenance.manifest.flushedThrough),
      segments: snapshot.segments.length,
      parts: snapshot.fresh.parts.length,
    })
    const { query: text, view, timeoutSeconds, signal, onCancelled, onProgress } = request
    const id = request.id ?? randomUUID()
    const unwatch = this.#rights.watch({ id, request, physical })
    try {
      const chunks = this.#runner.run({
        id,
        owner: view.owner,
        text,
        physical,
        context,
        snapshot,
        form,
        audit,
        timeoutSeconds,
        signal,
        onCancelled,
        onProgress,
        withoutDamaged,
        onMadeColumns: (names) => {
          progress.madeColumns = names.filter((name) => !isHiddenField(name))
        },
        onTraceSet: (_, page) => {
          if (!page?.rows || page.rowCount === 0) return
          progress.lastTrace = paginationKeyAt(page.rows, page.rowCount - 1)
        },
      })
      for await (const chunk of chunks) {
        if (chunk.rowCount > 0) {
          progress.rowCount += chunk.rowCount
          progress.last = chunk.last
          progress.lastSorted = chunk.lastSorted
        }
        yield chunk
      }
    } finally {
      unwatch()
      for (const each of snapshots) each.release()
    }
  }
}
