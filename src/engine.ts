/** Queries (`scheduler/queries.ts`) and inserts (`scheduler/insert/inserts.ts`) over one data directory. */

import { randomBytes } from 'node:crypto'
import { projectOfPrompt } from './access/prompt-place.ts'
import { type SourceField, sourceFields } from './binder/source-fields.ts'
import { Catalog, type CatalogObject, type CatalogView } from './catalog/catalog.ts'
import { startSentence } from './catalog/restore-entries.ts'
import type { PriceTable } from './function/prices.ts'
import type { TableSource } from './parser/ast.ts'
import { DiskReserve } from './scheduler/admission/disk-reserve.ts'
import { defaultQueryLimits, type QueryLimits } from './scheduler/admission/query-limits.ts'
import type { QueryStatus } from './scheduler/admission/running-query.ts'
import { BackupThread } from './scheduler/backup-thread.ts'
import { ColdRecords, type ColdStatus, requireCluster } from './scheduler/cold-records.ts'
import { CommitWatch } from './scheduler/commit-watch.ts'
import { copyRecords } from './scheduler/copied-records.ts'
import type { EngineOptions, Logger } from './scheduler/engine-options.ts'
import { ExportLoop, type ExportSummary } from './scheduler/export/export-loop.ts'
import { OwnExport } from './scheduler/export/own-export.ts'
import { HttpMasker, type HttpMaskerStatus } from './scheduler/insert/http-masker.ts'
import { IngestPool } from './scheduler/insert/ingest-pool.ts'
import type { InsertRequest, InsertResult } from './scheduler/insert/insert-request.ts'
import { type InsertedRows, Inserts } from './scheduler/insert/inserts.ts'
import { MaskerWork } from './scheduler/insert/masker-work.ts'
import { MaskingPlans } from './scheduler/insert/masking-plans.ts'
import { RecordWriterThread } from './scheduler/insert/record-writer-thread.ts'
import { changedIds, type Watched } from './scheduler/live-plan.ts'
import { FreshRows } from './scheduler/maintenance/fresh-rows.ts'
import { Maintenance } from './scheduler/maintenance/maintenance.ts'
import { newMemtableMemory } from './scheduler/maintenance/memtable-memory.ts'
import { OpenedData } from './scheduler/opened-data.ts'
import { Queries } from './scheduler/queries.ts'
import { QueryPlans } from './scheduler/query-plans.ts'
import type { QueryRequest, QueryResult, QuerySummary } from './scheduler/query-request.ts'
import { QueryRunner } from './scheduler/query-runner.ts'
import { type EngineStatus, maintenanceStatus, storedBytes } from './scheduler/status.ts'
import { QueryPool } from './scheduler/thread/query-pool.ts'
import { newTaskCount } from './scheduler/thread/task-count.ts'
import { WarmUp } from './scheduler/warm-up.ts'
import { type WriteListener, WriteWatch } from './scheduler/write-watch.ts'
import type { CopiedRecords } from './storage/backup/copy-records.ts'
import { areGivenUp } from './storage/environment.ts'
import type { Sought } from './storage/maintenance/find-versions.ts'
import { type Purge, readPurges } from './storage/maintenance/purge-plan.ts'
import { freeBytesOf, recordsFile } from './storage/maintenance/segment-files.ts'
import { isWipeDue } from './storage/maintenance/wipe-free.ts'
import { placesOf, type SpanPlace } from './storage/read/span-place.ts'
import { TaskReads } from './storage/read/task-reads.ts'
import {
  type RangeQuestion,
  type WrittenRange,
  writtenRange,
} from './storage/read/written-range.ts'
import { type BodiesOf, withBodies } from './storage/row/with-bodies.ts'
import { SegmentStore } from './storage/segment/segment-store.ts'
import { formatTransaction, parseTransaction } from './type/transaction.ts'

export type { EngineOptions, Logger } from './scheduler/engine-options.ts'
export type { InsertRequest, InsertResult, QueryRequest, QueryResult, QuerySummary }

interface EngineParts {
  readonly catalog: Catalog
  readonly data: OpenedData
  readonly reads: TaskReads
  readonly maintenance: Maintenance
  /** Undefined: bodies are prepared in this thread. */
  readonly ingest: IngestPool | undefined
  readonly masking: MaskingPlans
  readonly httpMasker: HttpMasker | undefined
  readonly fresh: FreshRows
  readonly reserve: DiskReserve
  readonly writer: RecordWriterThread
  readonly pool: QueryPool
  readonly backup: BackupThread
  readonly limits: QueryLimits
  readonly logger: Logger | undefined
  readonly now: () => number
  readonly prices: PriceTable | undefined
  readonly clickhouse: EngineOptions['clickhouse']
  readonly hot: EngineOptions['hot']
  readonly followedExport: EngineOptions['followedExport']
  /** Whether maintenance does what is worth while without being asked. */
  readonly isAutomatic: boolean
  readonly warmUp: WarmUp
}

export class Engine {
  readonly catalog: Catalog
  /** Of the disk; asked by whatever else grows in the data directory. */
  readonly reserve: DiskReserve
  /** Reads what a backup is made of. */
  readonly backup: BackupThread
  /** What nodes that follow this one listen to. */
  readonly commits = new CommitWatch()
  readonly #parts: EngineParts
  readonly #plans: QueryPlans
  readonly #runner: QueryRunner
  readonly #writes = new WriteWatch()
  readonly #inserts: Inserts
  readonly #warmUp: WarmUp
  readonly #queries: Queries
  readonly #export: ExportLoop | undefined
  readonly #cold: ColdRecords | undefined
  readonly #bodiesOf: BodiesOf | undefined

  /** Throws what `OpenedData.open` does. */
  static async open(options: EngineOptions): Promise<Engine> {
    const { dataDirectory: directory, workers, logger, now = Date.now } = options
    const data = await OpenedData.open(directory, (fault) => logger?.warn({ directory }, fault))
    let writer: RecordWriterThread | undefined
    try {
      const { records, segments } = data
      requireCluster(records, options.clickhouse)
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
      for (const damaged of catalog.damaged) logger?.error({}, startSentence(damaged))
      const runningTasks = newTaskCount()
      // One such thread keeps up with what two processors do with its rows, and each compiles its code anew.
      const threads = Math.ceil(workers / 2)
      const memtableMemory = newMemtableMemory()
      const ingest =
        workers === 0
          ? undefined
          : new IngestPool(directory, threads, { runningTasks, memtableMemory })
      const isAutomatic = options.maintenance?.automatic !== false
      const fresh = new FreshRows({
        memory: memtableMemory,
        seal:
          isAutomatic && ingest ? (logRanges, bytes) => ingest.seal(logRanges, bytes) : undefined,
        onError: (thrown) => logger?.error({ err: thrown }, 'fresh rows could not be sealed'),
      })
      const warmUp = new WarmUp()
      const maintenance = await Maintenance.start({
        ...options.maintenance,
        onManifest: (manifest) => {
          options.maintenance?.onManifest?.(manifest)
          warmUp.noteSegments()
        },
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
        masking: new MaskingPlans(catalog, options.maskingKey ?? randomMaskingKey),
        httpMasker:
          options.masker &&
          new HttpMasker(options.masker, new MaskerWork(ingest), (err) =>
            logger?.warn({ err }, 'the masker does not do its part'),
          ),
        fresh,
        reserve,
        writer,
        pool: new QueryPool(directory, workers, reads, runningTasks, limits.memory.perQuery),
        backup: new BackupThread(directory, runningTasks),
        limits,
        logger,
        now,
        prices: options.prices,
        clickhouse: options.clickhouse,
        hot: options.hot,
        followedExport: options.followedExport,
        isAutomatic,
        warmUp,
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
    this.#warmUp = parts.warmUp
    this.reserve = parts.reserve
    this.backup = parts.backup
    this.#plans = new QueryPlans({ reads, now, prices })
    this.#runner = new QueryRunner(pool, limits, logger)
    this.#cold = this.#openCold()
    this.#bodiesOf = this.#cold && ((evicted) => this.#cold!.bodiesOf(evicted))
    this.#queries = new Queries({
      ...parts,
      plans: this.#plans,
      runner: this.#runner,
      cold: this.#cold && ((snapshot) => this.#cold!.viewAt(snapshot)),
    })
    this.#inserts = new Inserts({
      ...parts,
      bodiesOf: this.#bodiesOf,
      onWritten: (inserted) => this.#publish(inserted),
    })
    this.backup.bodiesOf = this.#bodiesOf
    reads.onDamagedKeys = (segment) => maintenance.damaged.noteKeys(segment)
    maintenance.noteRemoval()
    this.catalog.onChange(() => maintenance.noteRemoval())
    const { flushedThrough } = maintenance.manifest
    fresh.restore(reads.records.log(flushedThrough))
    fresh.leaveOut(reads.records.leftOut(), flushedThrough)
    const { records } = parts.data
    if (readPurges(records.progress).length > 0 || isWipeDue(records)) {
      maintenance.purging.resume().catch((thrown: unknown) => {
        logger?.error({ err: thrown }, 'records that are to be removed are still on disk')
      })
    }
    this.#export = this.#startExport()
  }

  #openCold(): ColdRecords | undefined {
    const { clickhouse, data, limits, followedExport } = this.#parts
    if (!clickhouse) return undefined
    const { records } = data
    const exported = followedExport ?? new OwnExport(records, () => this.#export)
    const budgetBytes = limits.memory.perQuery
    return new ColdRecords({ ...this.#parts, clickhouse, records, budgetBytes, exported })
  }

  #startExport(): ExportLoop | undefined {
    const { clickhouse: settings, catalog, data, logger, followedExport } = this.#parts
    if (!settings || followedExport) return undefined
    const lastTransaction = () => this.#queries.lastTransaction
    return new ExportLoop({
      directory: data.directory,
      settings,
      catalog,
      lastTransaction,
      logger,
    })
  }

  /** The data directory. */
  get directory(): string {
    return this.#parts.data.directory
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

  /** See `Inserts.findMasked`. */
  findMasked(...given: Parameters<Inserts['findMasked']>): ReturnType<Inserts['findMasked']> {
    return this.#inserts.findMasked(...given)
  }

  /** Rows of `/logs3` as they may be stored until they are inserted: masked. */
  maskRows(bytes: Uint8Array, view: CatalogView): Promise<Uint8Array> {
    return this.#inserts.maskRows(bytes, view)
  }

  /** A file as it may be stored: masked by the rules of the organization. */
  maskFile(bytes: Uint8Array, view: CatalogView): Promise<Uint8Array> {
    return this.#inserts.maskFile(bytes, view)
  }

  #publish(inserted: InsertedRows): void {
    const { written, rows, memtables, objectNumbers } = inserted
    const { objects, unchanged, newFields } = written
    this.#plans.forgetFieldsOf(newFields)
    this.#parts.fresh.add(written, memtables, objectNumbers)
    this.#queries.noteWrite(inserted)
    this.#writes.note(objects, unchanged)
    this.#export?.noteWrite(written.transaction, rows.ids.length)
    this.#parts.maintenance.noteWrite({ rows: rows.ids.length, bytes: rows.bytes.length })
    this.commits.noteCommit()
  }

  /** See `copyRecords`; calls wait for each other. */
  async copy(copied: CopiedRecords): Promise<void> {
    const [plans, queries, writes] = [this.#plans, this.#queries, this.#writes]
    await copyRecords({ ...this.#parts, plans, queries, writes }, copied)
    this.commits.noteCommit()
  }

  /** All that was written so far. */
  get lastTransaction(): number {
    return this.#queries.lastTransaction
  }

  /** The `_xact_id` that names all that was written so far as a version. */
  lastTransactionId(): string {
    return formatTransaction(this.#queries.lastTransaction)
  }

  /** Plans the query, and answers it at once where that takes no waiting. Throws what planning does. */
  query(request: QueryRequest): QueryResult {
    this.#warmUp.noteQuery()
    return this.#queries.query(request)
  }

  /** See `Queries.watch`. */
  watch(request: QueryRequest): Watched {
    return this.#queries.watch(request)
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
    const times = { since: parseTransaction(since), through: parseTransaction(through) }
    const find = (lent: readonly SharedArrayBuffer[]) =>
      this.#parts.reads.during(({ records }) => {
        return changedIds(records, { object, ...times, most }, lent)
      })
    return withBodies(find, this.#bodiesOf)
  }

  /** See `writtenRange`. */
  writtenRange(question: RangeQuestion): WrittenRange {
    return this.#parts.reads.during(({ records }) => writtenRange(records, question))
  }

  /** See `Queries.explain`. */
  explain(request: QueryRequest): string {
    return this.#queries.explain(request)
  }

  /** See `Queries.explainAnalyze`. */
  explainAnalyze(request: QueryRequest): Promise<string> {
    return this.#queries.explainAnalyze(request)
  }

  /** Where in traces the records of an object are that have these ids, as they are now. */
  placesOf(object: number, ids: readonly string[]): Promise<Map<string, SpanPlace>> {
    const find = (lent: readonly SharedArrayBuffer[]) =>
      this.#parts.reads.withShared(this.#queries.lastTransaction, (records, within) =>
        placesOf(records, object, ids, within, lent),
      )
    return withBodies(find, this.#bodiesOf)
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

  /** How the export to ClickHouse is; undefined where there is none. */
  get export(): ExportSummary | undefined {
    return this.#export?.summary
  }

  /** Which bodies the cluster alone has; undefined where there is no cluster. */
  get cold(): ColdStatus | undefined {
    return this.#cold?.status
  }

  /** See `ColdRecords.evict`. */
  async evict(): Promise<void> {
    await this.#cold?.evict()
  }

  /** How the masker of the operator is; undefined where there is none. */
  get masker(): HttpMaskerStatus | undefined {
    return this.#parts.httpMasker?.status
  }

  status(): EngineStatus {
    const { maintenance, pool, data } = this.#parts
    return {
      queries: this.#runner.status(),
      tasks: { workers: pool.workers, running: pool.runningTasks, waiting: pool.waitingTasks },
      plans: this.#plans.statistics,
      answers: this.#queries.keptStatistics,
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

  /** See `RecordPurge.purge`. */
  async purge(purges: readonly Purge[], begin: () => Promise<void>): Promise<void> {
    await this.#parts.maintenance.purging.purge(purges, begin)
    this.#export?.notePurge()
    this.commits.notePurges(purges)
    await this.#cold?.removedThere(purges.map(({ object }) => object))
  }

  /** See `RecordPurge.findVersions`. */
  findVersions(object: number, sought: Sought) {
    return this.#parts.maintenance.purging.findVersions(object, sought, this.#bodiesOf)
  }

  /** Ids of records one of whose versions the rules that hold would change; undefined when none holds. */
  async recordsToMask(object: CatalogObject): Promise<ReadonlySet<string> | undefined> {
    const masking = this.#parts.masking.planToTry(object, undefined)
    if (!masking) return undefined
    const { ids } = await this.findVersions(object.number, {
      by: 'masking',
      masking,
      type: object.type,
    })
    return ids
  }

  /** Whether some version of the object was superseded before the transaction and is still there. */
  hasOlderVersions(object: number, before: number): boolean {
    return this.#parts.reads.during(({ records }) => records.hasOlderVersions(object, before))
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
    await this.#export?.close()
    await this.#cold?.close()
    await this.#parts.pool.close()
    await this.backup.close()
    await this.#parts.ingest?.close()
    // Maintenance tells the catalog what it has removed.
    await this.#parts.maintenance.close()
    await this.#parts.writer.close()
    await this.#parts.data.close()
  }
}

/** Hashes that nobody compares with those of another run. */
const key = randomBytes(32)
const randomMaskingKey = () => key
