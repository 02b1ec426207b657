/**
 * Exports committed transactions, step by step. What is sent is decided before and kept in a file (`export-state.ts`), so
 * that what may have been sent is sent again as the same insert, which the nodes take once.
 */
import { toAssayError } from '../error.ts'
import type { RecordsEnvironment } from '../storage/environment.ts'
import { readPurged } from '../storage/maintenance/purge-plan.ts'
import { readEvictedMark } from '../storage/read/evicted-mark.ts'
import { RecordReader } from '../storage/read/record-reader.ts'
import { isRecordDamage } from '../storage/record-damage.ts'
import { formatTransaction } from '../type/transaction.ts'
import { ArrivedTable } from './arrived-table.ts'
import { Backlog } from './backlog.ts'
import type { BatchSource, EncodedBatch } from './batch-reader.ts'
import { encodeBatch, endOfRange, firstBatch } from './batch-reader.ts'
import { CatalogTable } from './catalog-table.ts'
import { ClickHouseCluster } from './cluster.ts'
import { type ComparedRange, compareRange, type Difference } from './compare.ts'
import { wipeDeleted } from './delete-versions.ts'
import { EncodeAhead } from './encode-ahead.ts'
import type { EncodeThreads } from './encode-threads.ts'
import { type Batch, endOfObjects, StateFile, targetOf } from './export-state.ts'
import type { ExportStatus, ExportStep, VerifiedStatus } from './export-step.ts'
import { ExportFault } from './fault.ts'
import { type ExportedObject, ObjectTable } from './object-table.ts'
import { deletePurged } from './purged-rows.ts'
import { type ReadSource, sourceOf } from './read-records.ts'
import { prepareTables, readTables } from './schema.ts'
import { sendBatch, sendMarks } from './send-batch.ts'
import { ServiceTable } from './service-table.ts'
import type { ClickHouseSettings } from './settings.ts'

/** A step ends after so long, for its caller to hear of it. */
const stepMs = 500
/** How often it is looked whether the tables are as they should be, and told how far the export is. */
const checkEveryMs = 10_000
const noteEveryMs = 1000
/** Of records, which are compared at once. */
const verifiedBytes = 64 * 2 ** 20
/** After so many times that they differ, transactions do. */
const surelyDifferent = 3

interface Connected {
  readonly cluster: ClickHouseCluster
  readonly service: ServiceTable
  readonly arrived: ArrivedTable
  readonly objects: ObjectTable
  readonly catalog: CatalogTable
}

export class Exporter {
  readonly #settings: ClickHouseSettings
  readonly #records: RecordsEnvironment
  readonly #reader: RecordReader
  readonly #within: ReadSource
  readonly #file: StateFile
  readonly #session = ServiceTable.newSession()
  readonly #backlog: Backlog
  readonly #ahead: EncodeAhead
  readonly #signal: AbortSignal
  #connected: Connected | undefined
  /** Whether nothing was compared with what the nodes have. */
  #isFirst = true
  /** The objects that are there, by their numbers; undefined before they are known. */
  #live: Map<number, ExportedObject> | undefined
  /** Numbers that are to be removed, and objects that are to be written. */
  #removed = new Set<number>()
  #written: ExportStep['written'][number][] = []
  /** What is sent, until it has arrived. */
  #encoded: EncodedBatch | undefined
  #areRowsSent = false
  #checkedAt = 0
  #notedAt = 0
  /** What the table of the service says, and what all shards have a replica for that is noted. */
  #noted = 0
  #arrivedThrough = 0
  #verified: VerifiedStatus = { through: 0, difference: undefined }
  #differences = 0
  #sentRows = 0
  #sentBytes = 0

  /** @param threads encode while this one sends, when there is much to export */
  constructor(
    records: RecordsEnvironment,
    settings: ClickHouseSettings,
    threads: EncodeThreads,
    signal: AbortSignal,
  ) {
    this.#settings = settings
    this.#records = records
    this.#signal = signal
    this.#reader = new RecordReader(records)
    this.#within = sourceOf(records, (object) => this.#live?.has(object) === true)
    this.#file = new StateFile(records.directory, targetOf(settings))
    this.#backlog = new Backlog(this.#reader, this.#file.state.through)
    this.#ahead = new EncodeAhead(threads)
  }

  /** Goes on for a while. What keeps it from that is told, and tried again with the next step. */
  async step(step: ExportStep): Promise<ExportStatus> {
    this.#take(step)
    let fault: ExportFault | undefined
    try {
      if (this.#live) {
        const connected = await this.#connect()
        await connected.cluster.watched(() => this.#export(connected, step))
      }
    } catch (thrown) {
      fault = faultOf(thrown)
      await this.#disconnect(fault)
    }
    await this.#ahead.rest()
    const { through, run, round, roundId, purged } = this.#file.state
    const backlog = this.#within(({ transaction }) => this.#backlog.update(through, transaction))
    return {
      through,
      ...backlog,
      needsObjects: this.#live === undefined,
      round,
      noted: this.#arrivedThrough,
      arrived: this.#file.state.noted,
      roundId,
      runThrough: run.through,
      purged,
      verified: this.#verified,
      sentRows: this.#sentRows,
      sentBytes: this.#sentBytes,
      fault: fault && { kind: fault.kind, message: fault.message },
    }
  }

  async close(): Promise<void> {
    await this.#ahead.close()
    await this.#connected?.cluster.close()
    this.#connected = undefined
  }

  #take({ isAll, written, removed }: ExportStep): void {
    // It has rows of objects that are gone.
    if (isAll || removed.length > 0) this.#ahead.clear()
    if (isAll) this.#live = new Map()
    for (const object of written) this.#live?.set(object.number, object)
    for (const number of removed) {
      this.#live?.delete(number)
      this.#removed.add(number)
    }
    this.#written.push(...written)
  }

  async #connect(): Promise<Connected> {
    if (this.#connected) return this.#connected
    const cluster = await ClickHouseCluster.open(this.#settings, this.#signal)
    try {
      const connected = await cluster.watched(async () => {
        const arrived = new ArrivedTable(cluster)
        await this.#prepareTables({ cluster, arrived })
        const service = new ServiceTable(cluster, this.#file.state.service, this.#session)
        await service.claim()
        await this.#emptyTables({ cluster, service, arrived })
        const catalog = new CatalogTable(cluster, this.#records)
        return { cluster, service, arrived, objects: new ObjectTable(cluster), catalog }
      })
      this.#checkedAt = performance.now()
      this.#connected = connected
      return connected
    } catch (thrown) {
      await cluster.close()
      throw thrown
    }
  }

  async #disconnect({ kind }: ExportFault): Promise<void> {
    // Without it nothing else of the connection is known to be right.
    this.#areRowsSent &&= kind === 'unreachable'
    const connected = this.#connected
    this.#connected = undefined
    await connected?.cluster.close()
  }

  /** Returns whether some node had not all tables. */
  async #prepareTables({ cluster, arrived }: Pick<Connected, 'cluster' | 'arrived'>) {
    const { tables: kept, roundId, noted } = this.#file.state
    const { tables, isAnyMade } = await prepareTables(cluster, kept, () => this.#startAnew())
    if (await arrived.hasLost(roundId, noted)) this.#startAnew()
    const { isEmptied, tables: known } = this.#file.state
    if (isEmptied && JSON.stringify(tables) !== JSON.stringify(known)) this.#file.change({ tables })
    // Tables are made one after the other, so that whoever has lost one may have lost another.
    if (isAnyMade) {
      this.#written = [...(this.#live?.values() ?? [])]
      this.#forgetNoted()
    }
    return isAnyMade
  }

  /** What one node has lost is sent to all again. */
  #startAnew(): void {
    this.#refuseIfEvicted()
    const { isEmptied } = this.#file.state
    if (isEmptied) this.#file.startAnew()
    this.#encoded = undefined
    this.#ahead.clear()
    this.#forgetNoted()
  }

  /** All is noted again. */
  #forgetNoted(): void {
    this.#noted = 0
    this.#arrivedThrough = 0
  }

  /** Sees that not all bodies are gone that the nodes alone have: rows that came later would hide that. */
  async #requireEvicted(cluster: ClickHouseCluster): Promise<void> {
    const through = this.#within(() => readEvictedMark(this.#records.progress)?.through)
    if (through === undefined || !this.#hasRowsUpTo(through)) return
    const { database } = this.#settings
    const found = await cluster.onNodes((node) =>
      node.rows(`SELECT 1 FROM ${database}.records_local WHERE transaction <= ${through} LIMIT 1`),
    )
    if (found.every(({ length }) => length === 0)) this.#refuseIfEvicted()
  }

  /** Whether an object that is exported has any. */
  #hasRowsUpTo(through: number): boolean {
    return this.#within(({ reader, transaction }) => {
      for (const object of this.#live?.keys() ?? []) {
        const [first] = reader.partsOf(object, transaction)
        if (first && first.transaction <= through) return true
      }
      return false
    })
  }

  /** What has left the data directory cannot be sent again. */
  #refuseIfEvicted(): void {
    if (!readEvictedMark(this.#records.progress)) return
    throw new ExportFault(
      'lost',
      `tables of ${this.#settings.database} that alone have the bodies of older records are gone, empty or of another service: bring them back from a backup of ClickHouse`,
    )
  }

  /** Nothing that was sent before may come after it. */
  async #emptyTables({
    cluster,
    service,
    arrived,
  }: Pick<Connected, 'cluster' | 'service' | 'arrived'>): Promise<void> {
    const { isEmptied, roundId } = this.#file.state
    if (isEmptied) return
    this.#refuseIfEvicted()
    const { database } = this.#settings
    await service.noteExported(0)
    this.#forgetNoted()
    // Who reads meanwhile is told.
    await arrived.begin(roundId)
    await cluster.onNodes((node) => node.endStatements(database))
    await cluster.onNodes((node) => node.run(`TRUNCATE TABLE ${database}.records_local`))
    // What was removed by now is not sent.
    const numbers = readPurged(this.#records.progress, 0).map(({ number }) => number)
    const purged = Math.max(0, ...numbers)
    this.#file.change({ isEmptied: true, purged, tables: await readTables(cluster) })
  }

  async #export(connected: Connected, step: ExportStep): Promise<void> {
    const { through, mayRemove, catalogChanges } = step
    const end = performance.now() + stepMs
    await this.#emptyTables(connected)
    const sentBefore = this.#sentRows
    // Objects are known by what the catalog tells of them, before their records are.
    await connected.catalog.update(catalogChanges, this.#written.length > 0)
    await this.#writeObjects(connected, mayRemove)
    do {
      // That all is sent anew is told first.
      if (!(await this.#check(connected))) return
      const encoded = await this.#nextBatch(through)
      if (!encoded) break
      await this.#send(connected, encoded)
      this.#arrived(encoded)
      await this.#removeObjects(connected)
      await this.#noteExported(connected, false)
    } while (performance.now() < end && !this.#signal.aborted)
    await this.#noteExported(connected, this.#file.state.through >= through)
    await this.#deletePurged(connected)
    // Who empties a table that had rows is noticed.
    const isAnyEmpty = Object.values(this.#file.state.tables).some(({ hasRows }) => !hasRows)
    if (isAnyEmpty && this.#sentRows > sentBefore) await this.#prepareTables(connected)
    await this.#verify(connected.cluster, step)
  }

  /** Compares the next transactions of those that are to be compared. */
  async #verify(cluster: ClickHouseCluster, { verify, mayRemove }: ExportStep): Promise<void> {
    const { through, batch } = this.#file.state
    // Of objects that cannot be read it is not known whether they were exported.
    if (verify === undefined || verify > through || !mayRemove || this.#encoded || batch) return
    const evicted = this.#within(() => readEvictedMark(this.#records.progress)?.through ?? 0)
    const from = Math.max(evicted, this.#verified.through)
    const to = this.#within(({ reader, transaction }) => {
      return from < verify ? endOfRange(reader, from, verify, transaction, verifiedBytes) : from
    })
    const range = { from, to }
    const { differences } =
      from < to ? await compareRange(cluster, this.#within, range, through) : { differences: [] }
    this.#differences = differences.length === 0 ? 0 : this.#differences + 1
    // What is removed meanwhile is here and there at different times.
    const isSure = this.#differences >= surelyDifferent
    this.#verified = {
      through: differences.length === 0 ? to : from,
      difference: isSure ? differenceOf(range, differences) : undefined,
    }
  }

  /** What the nodes have of objects that are gone, which the service may have missed to say, goes as well. */
  async #writeObjects(connected: Connected, mayRemove: boolean): Promise<void> {
    const { objects } = connected
    if (this.#isFirst && this.#live) {
      const present = await objects.present()
      if (mayRemove) for (const each of present) if (!this.#live.has(each)) this.#removed.add(each)
      this.#isFirst = false
    }
    const written = this.#written
    await objects.write(written)
    this.#written = this.#written.slice(written.length)
    await this.#removeObjects(connected)
  }

  /** Not before what was sent of them has arrived, or it would come back. */
  async #removeObjects({ objects }: Connected): Promise<void> {
    if (this.#removed.size === 0 || this.#encoded || this.#file.state.batch) return
    const numbers = [...this.#removed]
    await objects.remove(numbers)
    for (const number of numbers) this.#removed.delete(number)
  }

  /** Row versions that were removed from the data directory since they were sent. */
  async #deletePurged({ cluster }: Connected): Promise<void> {
    const { purged, through, batch } = this.#file.state
    if (this.#encoded || batch) return
    const objects = this.#within(({ transaction }) =>
      readPurged(this.#records.progress, purged, transaction),
    )
    if (objects.length === 0) return
    this.#ahead.clear()
    let deleted = 0
    for (const { object } of objects) {
      if (!this.#live?.has(object)) continue
      deleted += await deletePurged(cluster, this.#within, object, through)
    }
    if (deleted > 0) await wipeDeleted(cluster)
    this.#file.change({ purged: Math.max(...objects.map(({ number }) => number)) })
  }

  /** Sees that the tables are still there, as they were made, and this service's. False when all is to be sent anew. */
  async #check(connected: Connected): Promise<boolean> {
    const { service, catalog } = connected
    const now = performance.now()
    if (now - this.#checkedAt < checkEveryMs) return true
    const { round } = this.#file.state
    if (await this.#prepareTables(connected)) {
      catalog.forget()
      await service.claim()
    } else await service.check()
    await this.#emptyTables(connected)
    await this.#requireEvicted(connected.cluster)
    this.#checkedAt = now
    return this.#file.state.round === round
  }

  async #noteExported({ service, arrived }: Connected, isLast: boolean): Promise<void> {
    const { through, roundId, noted } = this.#file.state
    const now = performance.now()
    const isNoted = through === this.#noted && !arrived.isAnyBehind(through)
    if (isNoted || (!isLast && now - this.#notedAt < noteEveryMs)) return
    this.#arrivedThrough = await arrived.note(roundId, through)
    if (noted !== this.#arrivedThrough) this.#file.change({ noted: this.#arrivedThrough })
    if (through !== this.#noted) await service.noteExported(through)
    this.#noted = through
    this.#notedAt = now
  }

  /** Decides what is sent next, and keeps that; undefined when all up to `through` has arrived. */
  async #nextBatch(through: number): Promise<EncodedBatch | undefined> {
    if (this.#encoded) return this.#encoded
    const batch = this.#within((source) => {
      const next = this.#file.state.batch ?? this.#firstOfRange(source, through)
      if (next) this.#ahead.begin(source, next, this.#file.state.run)
      return next
    })
    if (!batch) return undefined
    const encoded =
      (await this.#ahead.take(batch)) ??
      this.#within((source) => encodeBatch(source, batch, this.#file.state.run))
    this.#file.change({ batch: encoded.batch })
    this.#encoded = encoded
    this.#areRowsSent = false
    return encoded
  }

  #firstOfRange({ reader, transaction }: BatchSource, last: number): Batch | undefined {
    const { through: from, run } = this.#file.state
    if (from >= last) return undefined
    // All that supersedes rows of the run is known when they are sent.
    if (from >= run.through) this.#file.change({ run: { from, through: last } })
    const to = endOfRange(reader, from, this.#file.state.run.through, transaction)
    return to === from ? undefined : firstBatch(from, to)
  }

  async #send({ cluster }: Connected, encoded: EncodedBatch): Promise<void> {
    const { service, roundId } = this.#file.state
    if (!this.#areRowsSent) {
      try {
        await sendBatch(cluster, encoded, `${service} ${roundId}`)
      } catch (thrown) {
        cluster.useNext()
        throw thrown
      }
      this.#areRowsSent = true
      this.#sentRows += encoded.rowCount
      this.#sentBytes += encoded.bytes.length
    }
    await sendMarks(cluster, encoded.marks)
  }

  #arrived(encoded: EncodedBatch): void {
    const { from, to, end } = encoded.batch
    this.#encoded = undefined
    this.#ahead.giveBack(encoded)
    const isLast = end === undefined || end.object === endOfObjects.object
    if (isLast) this.#file.change({ through: to, batch: undefined })
    else this.#file.change({ batch: { from, to, begin: end, end: undefined } })
  }
}

function differenceOf({ from, to }: ComparedRange, { length }: readonly Difference[]): string {
  const range = `after ${formatTransaction(from)} and up to ${formatTransaction(to)}`
  return `ClickHouse has not just the records that the data directory has, of ${length} object${length === 1 ? '' : 's'} in transactions ${range}: see assay clickhouse verify`
}

function faultOf(thrown: unknown): ExportFault {
  if (thrown instanceof ExportFault) return thrown
  const error = toAssayError(thrown)
  const kind = isRecordDamage(thrown) ? 'damaged' : 'failed'
  return new ExportFault(kind, error.message, thrown)
}
