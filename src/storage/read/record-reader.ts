/**
 * Reads the records environment. Nothing here writes, so any thread may have one.
 *
 * Each call sees what was committed when it began; calls that must agree are given one read
 * transaction. Large values lie in LMDB's map, so no row may be used after the transaction it was
 * read in, nor, without one, after the current turn of the event loop.
 *
 * Row versions whose bodies a cluster alone has are given by what is named `kept`. Other reads throw where they meet one that
 * was not lent (`storage/row/evicted-row.ts`).
 */
import type { ByteWriter } from '../../json/byte-writer.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { type IdRunList, readRunListAgain } from '../id/id-run-list.ts'
import { currentVersion } from '../id/known-ids.ts'
import { RunChunks } from '../id/run-chunks.ts'
import {
  type CurrentVersion,
  lastSupersessionKey,
  objectOf,
  objectRange,
  readRowKey,
  rowVersionKey,
  supersessionKey,
  transactionKey,
  transactionOf,
} from '../record-key.ts'
import {
  decodeLogEntry,
  decodeSpill,
  endOfLog,
  endOfSpills,
  type LogEntry,
  type ObjectWrite,
  type Spill,
} from '../record-log.ts'
import { EvictedVersions, evictedVersion } from '../row/evicted-row.ts'
import type { FieldPath } from '../row/field-shapes.ts'
import type { LentRows } from '../row/lent-rows.ts'
import type { ObjectConstants, RowView } from '../row/row.ts'
import type { PrintedRow } from '../row/row-block.ts'
import { defaultCacheBytes, StoredRows, type StoredVersion } from '../row/stored-rows.ts'
import { type LeftOut, readLeftOut } from './left-out.ts'

export type { StoredVersion }

/** Version `version` of the record `paginationKey` is not visible from `transaction` on. */
export interface Supersession {
  readonly paginationKey: RowKey
  readonly version: RowKey
  readonly transaction: number
}

/** Greater than every transaction. */
const endOfTime = 2 ** 48 - 1

/** The share of it that parts of runs of ids have: of a record they take 20 bytes, where its block takes 100. */
const shareIds = 1 / 8

/** Of ids, what the transaction that is held sees. */
interface HeldIds {
  readonly of: ReadTransaction
  readonly runs: IdRunList
  /** Whether any are in no run. */
  recent: 'not asked' | 'asked once' | 'none' | 'some'
}

export class RecordReader {
  readonly #records: RecordsEnvironment
  readonly #rows: StoredRows
  /** As it was read last. */
  #runs: IdRunList | undefined
  #held: HeldIds | undefined
  readonly #chunks: RunChunks

  /** @param cacheBytes what is kept of ids and rows that were read; see `StoredRows` */
  constructor(records: RecordsEnvironment, cacheBytes = defaultCacheBytes) {
    this.#records = records
    this.#chunks = new RunChunks(cacheBytes * shareIds)
    this.#rows = new StoredRows(records, cacheBytes * (1 - shareIds))
  }

  /**
   * What never changes in a transaction is read once for all calls that are given this one, until another is
   * held or none. It must not end before.
   */
  hold(transaction: ReadTransaction | undefined): void {
    this.#held = transaction && {
      of: transaction,
      runs: this.#runsAsOf(transaction),
      recent: 'not asked',
    }
  }

  /** Row versions whose bodies are not in the store are found among these, until others are lent, or none. */
  lend(rows: LentRows | undefined): void {
    this.#rows.lend(rows)
  }

  /** What is kept of the version of the record `id` that is current; undefined if there is none or it is deleted. */
  latest(object: number, id: string, transaction?: ReadTransaction): StoredVersion | undefined {
    const current = this.#current(object, id, transaction)
    if (!current || current.isDeleted) return undefined
    const view = this.keptRowAt(object, current.version, transaction)
    return view && { key: current.version, view }
  }

  /** Whether the record `id` is there now. */
  has(object: number, id: string): boolean {
    return this.#current(object, id)?.isDeleted === false
  }

  /** The version of the record `id` that the snapshot `snapshot` sees. */
  versionAsOf(
    object: number,
    id: string,
    snapshot: number,
    transaction?: ReadTransaction,
  ): StoredVersion | undefined {
    const version = this.#versionAsOf(object, id, snapshot, transaction)
    const found = version && this.#version(object, version, transaction)
    return found?.view.isTombstone ? undefined : found
  }

  /** Appends that version as `select: *` shows it; undefined when there is none. */
  printAsOf(
    object: ObjectConstants & { readonly number: number },
    id: string,
    snapshot: number,
    out: ByteWriter,
    transaction?: ReadTransaction,
  ): PrintedRow | undefined {
    const version = this.#versionAsOf(object.number, id, snapshot, transaction)
    return version && this.#rows.print(object, version, out, false, transaction)
  }

  /** All versions of the record `id` up to the snapshot, the newest first; tombstones among them. */
  *historyOf(
    object: number,
    id: string,
    snapshot: number,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    const evicted = new EvictedVersions()
    for (const kept of this.keptHistoryOf(object, id, snapshot, transaction)) {
      if (kept.view.isEvicted) evicted.add(evictedVersion(object, kept.key, kept.view))
      else if (evicted.count === 0) yield kept
    }
    evicted.throwIfAny()
  }

  /** The same, with what is kept of each. */
  *keptHistoryOf(
    object: number,
    id: string,
    snapshot: number,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    let version = this.#current(object, id, transaction)?.version
    while (version) {
      const view = this.keptRowAt(object, version, transaction)
      if (!view) return
      if (version.transaction <= snapshot) yield { key: version, view }
      version = view.previous
    }
  }

  /** Where the values of an object's row versions begin, in order: parts to read it in. */
  *partsOf(object: number, transaction?: ReadTransaction): Generator<RowKey> {
    const range = { ...objectRange(object), ...options(transaction) }
    for (const key of this.#records.rows.getKeys(range)) yield readRowKey(key, 4)
  }

  /**
   * Row versions from `from` on and before `to`, in the order of their keys.
   *
   * @param memory where each may be put: it is gone then with the next
   */
  versionsBetween(
    object: number,
    from: RowKey,
    to: RowKey,
    transaction?: ReadTransaction,
    memory?: Buffer,
  ): Generator<StoredVersion> {
    return this.#rows.range(object, from, to, transaction, memory)
  }

  /** The same, with what is kept of each. */
  keptBetween(
    object: number,
    from: RowKey,
    to: RowKey,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    return this.#rows.keptRange(object, from, to, transaction)
  }

  /** The row version with that key, a tombstone perhaps. */
  rowAt(object: number, key: RowKey, transaction?: ReadTransaction): RowView | undefined {
    return this.#rows.rowAt(object, key, transaction)
  }

  /** The same, or what is kept of it. */
  keptRowAt(object: number, key: RowKey, transaction?: ReadTransaction): RowView | undefined {
    return this.#rows.keptRowAt(object, key, transaction)
  }

  /** Appends one of many row versions as `select: *` shows it; undefined when there is none. */
  print(
    object: ObjectConstants & { readonly number: number },
    key: RowKey,
    out: ByteWriter,
  ): PrintedRow | undefined {
    return this.#rows.print(object, key, out, true)
  }

  /** Row versions of transactions after `after` and up to `through`, in the order of their keys. */
  readDelta(
    object: number,
    after: number,
    through: number,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    const from = { transaction: after + 1, index: 0 }
    const to = { transaction: through + 1, index: 0 }
    return this.#rows.range(object, from, to, transaction)
  }

  /** The same, with what is kept of each. */
  keptDelta(
    object: number,
    after: number,
    through: number,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    const to = { transaction: through + 1, index: 0 }
    return this.keptBetween(object, { transaction: after + 1, index: 0 }, to, transaction)
  }

  /** Those of them whose bodies are here. */
  *wholeDelta(
    object: number,
    after: number,
    through: number,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    for (const kept of this.keptDelta(object, after, through, transaction)) {
      if (!kept.view.isEvicted) yield kept
    }
  }

  /**
   * Supersessions by transactions up to `through`, of records whose pagination keys lie between
   * `from` and `to`, both included; in the order of pagination key, then version.
   */
  *supersessions(
    object: number,
    from: RowKey,
    to: RowKey,
    through: number,
    transaction?: ReadTransaction,
  ): Generator<Supersession> {
    const range = this.#records.supersessions.getRange({
      start: supersessionKey(object, from, { transaction: 0, index: 0 }),
      end: supersessionKey(object, to, { transaction: endOfTime, index: 0xffff }),
      ...options(transaction),
    })
    for (const { key, value } of range) {
      const superseding = transactionOf(value)
      if (superseding > through) continue
      yield {
        paginationKey: readRowKey(key, 4),
        version: readRowKey(key, 12),
        transaction: superseding,
      }
    }
  }

  /** The last transaction that superseded a version of the object; beyond all while that is not known. */
  lastSupersession(object: number, transaction?: ReadTransaction): number {
    const key = lastSupersessionKey(object)
    const value = this.#records.progress.getUnlessDamaged(key, options(transaction))
    return value ? transactionOf(value) : endOfTime
  }

  /** Whether a version of the object that is still there was superseded before the transaction. */
  hasOlderVersions(object: number, before: number): boolean {
    for (const { value } of this.#records.supersessions.getRange(objectRange(object))) {
      if (transactionOf(value) < before) return true
    }
    return false
  }

  /** The transaction from which on a version is not seen any more; undefined when it is. */
  supersededBy(
    object: number,
    paginationKey: RowKey,
    version: RowKey,
    transaction?: ReadTransaction,
  ): number | undefined {
    const key = supersessionKey(object, paginationKey, version)
    const value = this.#records.supersessions.get(key, options(transaction))
    return value && transactionOf(value)
  }

  /**
   * Fields that rows of the object have, or had: those beyond the columns of its type by their name,
   * and what is in objects by paths of two or three names; of these as many as are kept
   * (`storage/row/field-shapes.ts`). In no order.
   */
  fieldPaths(object: number, transaction?: ReadTransaction): FieldPath[] {
    const range = this.#records.fieldPaths.getRange({
      ...objectRange(object),
      ...options(transaction),
    })
    return Array.from(range, ({ value }) => JSON.parse(value.toString()) as FieldPath)
  }

  /** The newest snapshot; 0 before the first write. */
  lastTransaction(transaction?: ReadTransaction): number {
    return this.snapshotAt(endOfTime, transaction)
  }

  /**
   * The newest snapshot that is not after `version`. Only snapshots may be looked at: other numbers
   * may lie within a request (`storage/record-log.ts`).
   */
  snapshotAt(version: number, transaction?: ReadTransaction): number {
    const keys = this.#records.log.getKeys({
      start: version >= endOfTime ? endOfLog : transactionKey(version),
      end: transactionKey(0),
      reverse: true,
      limit: 1,
      ...options(transaction),
    })
    for (const key of keys) return transactionOf(key)
    return 0
  }

  /**
   * What was written after `after` and up to `through`, oldest first. In place of an entry that is damaged comes one with all
   * objects that may have been written to.
   */
  *log(after: number, through = endOfTime, transaction?: ReadTransaction): Generator<LogEntry> {
    const range = {
      start: transactionKey(after + 1),
      end: through >= endOfTime ? endOfLog : transactionKey(through + 1),
      ...options(transaction),
    }
    let damaged: Buffer[] = []
    let last = after
    const missing = () => {
      const entries = damaged.map((key) => {
        const entry = this.#likelyEntry(key, after, last, transaction)
        last = entry.transaction
        return entry
      })
      damaged = []
      return entries
    }
    for (const { key, value } of this.#records.log.getReadable(range, (_, key) => {
      damaged.push(key)
    })) {
      if (damaged.length > 0) yield* missing()
      const entry = decodeLogEntry(key, value)
      last = entry.transaction
      yield entry
    }
    yield* missing()
  }

  /** An entry that cannot be read, with all objects that have rows between `after` and its transaction. */
  #likelyEntry(
    key: Buffer,
    after: number,
    last: number,
    transaction: ReadTransaction | undefined,
  ): LogEntry {
    const logged = transactionOf(key)
    const { rows } = this.#records
    const objects: ObjectWrite[] = []
    const within = options(transaction)
    for (let object = 0; ; object++) {
      const start = rowVersionKey(object, { transaction: 0, index: 0 })
      const [found] = rows.getKeys({ start, limit: 1, ...within })
      if (!found) break
      object = objectOf(found)
      const from = rowVersionKey(object, { transaction: after + 1, index: 0 })
      const end = rowVersionKey(object, { transaction: logged + 1, index: 0 })
      const count = rows.getKeysCount({ start: from, end, ...within })
      if (count > 0) objects.push({ object, rows: count, supersessions: count, bytes: 0 })
    }
    return { transaction: logged, first: last + 1, objects }
  }

  /** Numbers of the objects that were written to after `after`, ascending. */
  objectsWrittenAfter(after: number, transaction?: ReadTransaction): number[] {
    const objects = new Set<number>()
    for (const entry of this.log(after, endOfTime, transaction)) {
      for (const { object } of entry.objects) objects.add(object)
    }
    return [...objects].sort((a, b) => a - b)
  }

  /**
   * The requests whose rows' keys have several transactions, oldest first; rarely any. Each of their
   * rows shows `last` as its `_xact_id`.
   */
  spills(transaction?: ReadTransaction): Spill[] {
    const range = this.#records.log.getRange({
      start: endOfLog,
      end: endOfSpills,
      ...options(transaction),
    })
    return Array.from(range, ({ key, value }) => decodeSpill(key, value))
  }

  /** What flushes have left out of segments, as some of it is damaged. */
  leftOut(): LeftOut[] {
    return readLeftOut(this.#records.progress)
  }

  #current(object: number, id: string, transaction?: ReadTransaction): CurrentVersion | undefined {
    const held = this.#held?.of === transaction ? this.#held : undefined
    const runs = held?.runs ?? this.#runsAsOf(transaction)
    const hasRecent = !held || this.#hasRecent(held)
    return currentVersion(this.#records, runs, object, id, transaction, this.#chunks, hasRecent)
  }

  /** Whether there may be ids that are in no run. To find out takes 3 µs, to ask for one 1. */
  #hasRecent(held: HeldIds): boolean {
    if (held.recent === 'not asked') held.recent = 'asked once'
    else if (held.recent === 'asked once') {
      const keys = this.#records.ids.getKeys({ limit: 1, transaction: held.of })
      held.recent = 'none'
      for (const _ of keys) held.recent = 'some'
    }
    return held.recent !== 'none'
  }

  /** A tombstone's perhaps. */
  #versionAsOf(
    object: number,
    id: string,
    snapshot: number,
    transaction: ReadTransaction | undefined,
  ): RowKey | undefined {
    const current = this.#current(object, id, transaction)
    if (!current) return undefined
    let { version, paginationKey } = current
    while (version.transaction > snapshot) {
      const known = this.#lastBefore(object, paginationKey, snapshot, transaction)
      if (known) return known
      // This record began later. The id may have belonged to one that was deleted before.
      const previous = this.keptRowAt(object, paginationKey, transaction)?.previous
      if (!previous) return undefined
      const view = this.keptRowAt(object, previous, transaction)
      // What was before was removed for good.
      if (!view) return undefined
      version = previous
      paginationKey = view.paginationKey
    }
    return version
  }

  #runsAsOf(transaction: ReadTransaction | undefined): IdRunList {
    this.#runs = readRunListAgain(this.#records.progress, this.#runs, transaction)
    return this.#runs
  }

  #version(object: number, key: RowKey, transaction?: ReadTransaction): StoredVersion | undefined {
    const view = this.rowAt(object, key, transaction)
    return view && { key, view }
  }

  /** The record's last superseded version that is not after `snapshot`. */
  #lastBefore(
    object: number,
    paginationKey: RowKey,
    snapshot: number,
    transaction?: ReadTransaction,
  ): RowKey | undefined {
    const keys = this.#records.supersessions.getKeys({
      start: supersessionKey(object, paginationKey, { transaction: snapshot, index: 0xffff }),
      end: supersessionKey(object, paginationKey, { transaction: 0, index: 0 }),
      reverse: true,
      limit: 1,
      ...options(transaction),
    })
    for (const key of keys) return readRowKey(key, 12)
    return undefined
  }
}

function options(transaction: ReadTransaction | undefined): { transaction?: ReadTransaction } {
  return transaction ? { transaction } : {}
}
