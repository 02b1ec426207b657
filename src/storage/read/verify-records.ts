/** Reads all that the records environment has, and tells what of it is damaged. */

import type { RowKey } from '../../type/transaction.ts'
import { compareBytes } from '../compare-bytes.ts'
import type { RecordDatabase, RecordsEnvironment } from '../environment.ts'
import { damageAt, damagedRows, objectText, type RecordDamage } from '../record-damage.ts'
import { objectOf, objectRange, transactionKey, transactionOf } from '../record-key.ts'
import { decodeLogEntry, endOfLog } from '../record-log.ts'
import { RowBlock } from '../row/row-block.ts'

/** What a step reads, at most, unless one value is larger. */
const bytesPerStep = 2 ** 20
/** Many of the values are small. */
const valuesPerRead = 64

/** What was read so far. */
export interface VerifiedSoFar {
  readonly values: number
  readonly bytes: number
}

/**
 * Each step reads about a megabyte, in a read transaction of its own, so that it may be done while the records are
 * written to; whoever goes on with it decides how fast. What was written meanwhile may be left out.
 *
 * @param onDamage told of each value, or part of a block, that cannot be read; of keys that are not where they belong,
 *   or are not found there, as where a page above them leads astray;
 *   and of objects that have fewer rows than the log says, less those that were removed for good. An object of which no row is left has been removed.
 */
export function* verifyRecords(
  records: RecordsEnvironment,
  onDamage: (damage: RecordDamage) => void,
): Generator<VerifiedSoFar> {
  const { catalog, ids, idRuns, progress, log, supersessions, fieldPaths } = records
  const rows = new RowCounts(records)
  const reading = new Reading(records, onDamage)
  for (const database of [catalog, progress, ids, idRuns, supersessions, fieldPaths]) {
    yield* reading.over(database)
  }
  yield* reading.overRows((key, block) => rows.noteRows(key, block))
  // After the rows: those that leave meanwhile are taken off the log as well.
  yield* reading.over(log, (key, value) => rows.noteEntry(key, value))
  rows.compare(onDamage)
}

class Reading {
  readonly #records: RecordsEnvironment
  readonly #onDamage: (damage: RecordDamage) => void
  #values = 0
  #bytes = 0

  constructor(records: RecordsEnvironment, onDamage: (damage: RecordDamage) => void) {
    this.#records = records
    this.#onDamage = onDamage
  }

  /** @param sound called with each value that is not damaged */
  *over(
    database: RecordDatabase,
    sound?: (key: Buffer, value: Buffer) => void,
  ): Generator<VerifiedSoFar> {
    const read = (after: Buffer | undefined) => {
      const found: { readonly key: Buffer; readonly byteLength: number }[] = []
      const noteDamage = (damage: RecordDamage, key: Buffer) => {
        this.#onDamage(damage)
        found.push({ key, byteLength: 0 })
      }
      for (const { key, value } of database.getReadable(rangeAfter(after), noteDamage)) {
        found.push({ key, byteLength: value.length })
        sound?.(key, value)
      }
      return found
    }
    yield* this.#steps(database.name, read, (key) => database.has(key))
  }

  /** @param sound called with each value whose rows are known, even if not all can be read; with some twice */
  *overRows(sound: (key: Buffer, block: RowBlock) => void): Generator<VerifiedSoFar> {
    const { rows } = this.#records
    const read = (after: Buffer | undefined) => {
      // Rows that come next may have been put into one value with those before.
      const before = after ? rows.getRange({ start: after, reverse: true, limit: 1 }) : []
      for (const { key, value } of before) {
        const block = blockOf(key, value, this.#records)
        if (block) sound(key, block)
      }
      return Array.from(rows.getRange({ ...rangeAfter(after) }), ({ key, value }) => {
        const block = this.#verifyRows(key, value)
        if (block) sound(key, block)
        return { key, byteLength: value.length }
      })
    }
    yield* this.#steps('rows', read, (key) => rows.getBinaryFast(key) !== undefined)
  }

  /** Undefined when nothing is known of what is in the value. */
  #verifyRows(key: Buffer, value: Buffer): RowBlock | undefined {
    const block = blockOf(key, value, this.#records)
    if (!block) {
      this.#onDamage(damagedRows(key, undefined))
      return undefined
    }
    const damaged = block.damagedVersions()
    if (damaged.length > 0) this.#onDamage(damagedRows(key, damaged))
    return block
  }

  *#steps(
    name: RecordDamage['database'],
    read: (after: Buffer | undefined) => { readonly key: Buffer; readonly byteLength: number }[],
    isFound: (key: Buffer) => boolean,
  ): Generator<VerifiedSoFar> {
    let last: Buffer | undefined
    let bytes = 0
    while (true) {
      this.#records.root.resetReadTxn()
      const found = read(last)
      for (const { key, byteLength } of found) {
        if (last && compareBytes(last, 0, last.length, key, 0, key.length) >= 0) {
          const what = `${damageAt(name, key).what}, whose key is not in its place,`
          this.#onDamage({ ...damageAt(name, key), what })
          // To go on from here might never end.
          this.#records.root.resetReadTxn()
          return
        }
        if (!isFound(key)) {
          const what = `${damageAt(name, key).what}, which a look-up by its key does not find,`
          this.#onDamage({ ...damageAt(name, key), what })
        }
        last = key
        this.#values++
        this.#bytes += byteLength
        bytes += byteLength
      }
      if (bytes >= bytesPerStep) {
        bytes = 0
        yield { values: this.#values, bytes: this.#bytes }
      }
      if (found.length < valuesPerRead) break
    }
    this.#records.root.resetReadTxn()
    yield { values: this.#values, bytes: this.#bytes }
  }
}

function blockOf(
  key: Buffer,
  value: Buffer,
  { checkedSince }: RecordsEnvironment,
): RowBlock | undefined {
  try {
    return new RowBlock(key, value, checkedSince)
  } catch {
    return undefined
  }
}

function rangeAfter(after: Buffer | undefined) {
  return { limit: valuesPerRead, ...(after && { start: after, exclusiveStart: true }) }
}

/** How many rows each object has, by the log and in the row store. */
class RowCounts {
  readonly #rows: RecordsEnvironment['rows']
  /** What is written later is not counted. */
  readonly #last: number
  readonly #logged = new Map<number, number>()
  readonly #found = new Map<number, number>()
  /** The first version of the object at hand that was not counted yet. */
  #next: { readonly object: number; readonly version: RowKey } | undefined

  constructor({ root, log, rows }: RecordsEnvironment) {
    this.#rows = rows
    root.resetReadTxn()
    const range = { start: endOfLog, end: transactionKey(0), reverse: true, limit: 1 }
    const [last] = log.getKeys(range)
    this.#last = last ? transactionOf(last) : 0
  }

  noteEntry(key: Buffer, value: Buffer): void {
    if (key[0] !== 0 || transactionOf(key) > this.#last) return
    for (const { object, rows } of decodeLogEntry(key, value).objects) {
      add(this.#logged, object, rows)
    }
  }

  /** Values come in the order of their keys. Rows that were counted in another value are not counted again. */
  noteRows(key: Buffer, block: RowBlock): void {
    const object = objectOf(key)
    const start = this.#next?.object === object ? block.placeOf(this.#next.version) : 0
    const end = block.placeOf({ transaction: this.#last + 1, index: 0 })
    let count = 0
    for (let place = start; place < end; place++) if (block.isWritten(place)) count++
    add(this.#found, object, count)
    if (start >= end) return
    const { transaction, index } = block.versionAt(end - 1)
    this.#next = { object, version: { transaction, index: index + 1 } }
  }

  compare(onDamage: (damage: RecordDamage) => void): void {
    for (const [object, found] of this.#found) {
      const logged = this.#logged.get(object) ?? 0
      if (found >= logged || !this.#hasRows(object)) continue
      const what = `${logged - found} of ${logged} row versions of ${objectText(object)}`
      onDamage({ database: 'rows', key: '', what, object })
    }
  }

  /** Whether the object was not removed while its rows were counted. */
  #hasRows(object: number): boolean {
    return this.#rows.getKeysCount({ ...objectRange(object), limit: 1 }) > 0
  }
}

function add(counts: Map<number, number>, object: number, count: number): void {
  counts.set(object, (counts.get(object) ?? 0) + count)
}
