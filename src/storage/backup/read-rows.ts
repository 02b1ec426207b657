/**
 * Reads the row versions of a range of transactions, a piece at a time. Versions never change, so each piece may be read
 * in a transaction of its own, at any time: none is held open for longer than a piece takes.
 */
import { AssayError } from '../../error.ts'
import { type RowKey, rowKey } from '../../type/transaction.ts'
import { contentHash } from '../content-hash.ts'
import { beginRead, type ReadTransaction, type RecordsEnvironment } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import { readLogState } from '../log-state.ts'
import { readEvictedMark } from '../read/evicted-mark.ts'
import { RecordReader } from '../read/record-reader.ts'
import { objectOf, rowVersionKey, transactionKey } from '../record-key.ts'
import { encodeLogEntry, encodeSpill } from '../record-log.ts'
import { LentRows } from '../row/lent-rows.ts'
import { type CutRows, cutRows } from './cut-rows.ts'
import { EntryListWriter } from './entry-list.ts'
import { lacksBodies, lentCuts } from './lent-cuts.ts'
import { LogDigest } from './log-digest.ts'

/** Transactions after `after` and up to `through`, both of which have an entry in the log, or are 0. */
export interface TransactionRange {
  readonly after: number
  readonly through: number
}

/** Where a piece of rows ends: what comes next begins behind this row version. */
export interface RowPlace extends RowKey {
  readonly object: number
}

export interface RowsPiece {
  readonly list: Buffer
  /** Undefined behind the last. */
  readonly next: RowPlace | undefined
  /** How many row versions it has of each object. */
  readonly rows: readonly (readonly [object: number, rows: number])[]
  /** Of how many nothing can be read. */
  readonly damaged: number
}

/** What tells whether the log is the one that a backup has read. */
export interface LogState {
  /** Undefined when it has no such transaction. */
  readonly entry: string | undefined
  /** See `readLogState`. */
  readonly state: string
}

export interface LogPiece {
  readonly list: Buffer
  /** The last transaction of it; undefined when it is the last piece. */
  readonly next: number | undefined
}

const lowest: RowKey = { transaction: 0, index: 0 }
const endOfObjects = 2 ** 32 - 1

/** Objects that were written to in a range, if it begins with some transaction: the log is not read again for each piece. */
interface WrittenObjects extends TransactionRange {
  readonly objects: readonly number[]
}

export class BackupReader {
  readonly #records: RecordsEnvironment
  readonly #reader: RecordReader
  #written: WrittenObjects | undefined
  #lent = LentRows.of([])
  #wantsBodies = false

  constructor(records: RecordsEnvironment) {
    this.#records = records
    this.#reader = new RecordReader(records)
  }

  /**
   * About `bytes` of rows, in the order of objects and versions. Throws what `evictedError` makes where they begin with bodies
   * that are not here.
   *
   * @param lent bodies that a cluster has; undefined: of these rows comes what is kept here
   */
  rows(
    range: TransactionRange,
    from: RowPlace | undefined,
    bytes: number,
    lent: readonly SharedArrayBuffer[] | undefined,
  ): RowsPiece {
    this.#records.root.resetReadTxn()
    const within = beginRead(this.#records.root)
    this.#lent = LentRows.of(lent ?? [])
    this.#wantsBodies = lent !== undefined && this.#hasEvicted(within)
    try {
      return this.#rows(range, from, bytes, within)
    } finally {
      within.done()
    }
  }

  #rows(
    range: TransactionRange,
    from: RowPlace | undefined,
    bytes: number,
    within: ReadTransaction,
  ): RowsPiece {
    const list = new EntryListWriter()
    const counts = new Map<number, number>()
    let damaged = 0
    let next: RowPlace | undefined
    for (const object of this.#objects(range, from?.object ?? 0, within)) {
      const start = from?.object === object ? after(from) : rowKey(range.after + 1, 0)
      let isAllHere = true
      try {
        for (const cut of this.#cuts(object, start, range.through, within)) {
          if (cut.rows > 0) list.add(cut.key, cut.value)
          counts.set(object, (counts.get(object) ?? 0) + cut.rows)
          damaged += cut.damaged
          next = { object, ...cut.last }
          if (list.length >= bytes) break
        }
      } catch (thrown) {
        // The next piece begins with what is missing.
        const isMissing = thrown instanceof AssayError && thrown.evicted !== undefined
        if (!isMissing || list.length === 0) throw thrown
        isAllHere = false
        next ??= { object, ...lowest }
      }
      letQueriesPass()
      if (list.length >= bytes || !isAllHere) break
      next = undefined
    }
    return { list: list.take(), next, rows: [...counts], damaged }
  }

  /** What is stored of an object from `start` on. */
  *#cuts(
    object: number,
    start: RowKey,
    through: number,
    within: ReadTransaction,
  ): Generator<CutRows> {
    const { rows, checkedSince } = this.#records
    const to = rowKey(through + 1, 0)
    const range = rows.getRange({
      start: this.#keyOfValueAt(object, start, within),
      end: rowVersionKey(object, to),
      transaction: within,
    })
    for (const { key, value } of range) {
      if (this.#lacksBodies(key, value)) {
        yield* lentCuts(key, value, { from: start, to }, checkedSince, this.#lent)
        continue
      }
      const cut = this.#cutOf(key, value, { from: start, to }, checkedSince)
      if (cut) yield cut
    }
  }

  #hasEvicted(within: ReadTransaction): boolean {
    return readEvictedMark(this.#records.progress, within) !== undefined
  }

  #lacksBodies(key: Buffer, value: Buffer): boolean {
    if (!this.#wantsBodies) return false
    try {
      return lacksBodies(key, value, this.#records.checkedSince)
    } catch (thrown) {
      if (!(thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT')) throw thrown
      return false
    }
  }

  /** A value of which nothing can be read is counted as one row. */
  #cutOf(...[key, value, range, since]: Parameters<typeof cutRows>): CutRows | undefined {
    try {
      return cutRows(key, value, range, since)
    } catch (thrown) {
      if (!(thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT')) throw thrown
      return { key, value, last: range.from, rows: 0, damaged: 1 }
    }
  }

  /** The key of the value that may have a version, which may begin before it. */
  #keyOfValueAt(object: number, version: RowKey, transaction: ReadTransaction): Buffer {
    const start = rowVersionKey(object, version)
    const end = rowVersionKey(object, lowest)
    const keys = this.#records.rows.getKeys({ start, end, reverse: true, limit: 1, transaction })
    for (const key of keys) return key
    return start
  }

  /** Those that may have rows in the range, from the object `first` on. */
  *#objects(
    range: TransactionRange,
    first: number,
    transaction: ReadTransaction,
  ): Generator<number> {
    if (range.after > 0) {
      for (const object of this.#writtenIn(range, transaction)) if (object >= first) yield object
      return
    }
    for (let object = first; object < endOfObjects; object++) {
      const start = rowVersionKey(object, lowest)
      const [found] = this.#records.rows.getKeys({ start, limit: 1, transaction })
      if (!found) return
      object = objectOf(found)
      yield object
    }
  }

  #writtenIn({ after, through }: TransactionRange, transaction: ReadTransaction) {
    const known = this.#written
    if (known?.after === after && known.through === through) return known.objects
    const found = new Set<number>()
    for (const { objects } of this.#reader.log(after, through, transaction)) {
      for (const { object } of objects) found.add(object)
    }
    const objects = [...found].sort((a, b) => a - b)
    this.#written = { after, through, objects }
    return objects
  }

  logState(transaction: number): LogState {
    this.#records.root.resetReadTxn()
    const value = this.#records.log.get(transactionKey(transaction))
    return { entry: value && contentHash(value), state: readLogState(this.#records) }
  }

  /** See `LogDigest`. */
  logDigest({ after, through }: TransactionRange): string {
    this.#records.root.resetReadTxn()
    const within = beginRead(this.#records.root)
    const digest = new LogDigest()
    try {
      for (const { key, value } of this.#entries({ after, through }, within)) {
        digest.add(key, value)
        letQueriesPass()
      }
      return digest.text
    } finally {
      within.done()
    }
  }

  *#entries({ after, through }: TransactionRange, within: ReadTransaction) {
    for (const entry of this.#reader.log(after, through, within)) {
      const { transaction, first } = entry
      yield { ...encodeLogEntry(entry), transaction }
      if (first < transaction) yield { ...encodeSpill({ first, last: transaction }), transaction }
    }
  }

  /** Entries of the log, about `bytes` of them. */
  log({ after, through }: TransactionRange, bytes: number): LogPiece {
    this.#records.root.resetReadTxn()
    const within = beginRead(this.#records.root)
    const list = new EntryListWriter()
    try {
      let last = after
      for (const { key, value, transaction } of this.#entries({ after, through }, within)) {
        // All of a request is in one piece.
        if (list.length >= bytes && transaction !== last) return { list: list.take(), next: last }
        list.add(key, value)
        last = transaction
      }
      return { list: list.take(), next: undefined }
    } finally {
      within.done()
    }
  }
}

function after({ transaction, index }: RowKey): RowKey {
  return rowKey(transaction, index + 1)
}
