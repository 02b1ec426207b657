/**
 * Which row versions damaged segments had. What a damaged segment says of itself is not needed for that: the segments
 * of a manifest have together every row version up to `flushedThrough` that is no tombstone, each once. So lost is what
 * the row store has and the other segments do not. The log tells how many rows each request wrote, so that only the rows
 * of requests of which the others do not have all are read.
 */

import { rowsPerTransaction } from '../../type/transaction.ts'
import type { KeyColumns } from '../../vector/column.ts'
import type { ReadTransaction } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import type { LeftOut } from '../read/left-out.ts'
import type { RecordReader } from '../read/record-reader.ts'
import type { LostRows } from '../segment/lost-rows.ts'
import type { Manifest, ManifestSegment } from '../segment/manifest.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { objectRuns } from '../shred/shred-keys.ts'

/** Transactions `first` to `last`. */
export interface TransactionSpan {
  readonly first: number
  readonly last: number
}

/** What one request wrote to one object. */
interface WrittenRange extends TransactionSpan {
  readonly rows: number
  /** How many of the rows are in segments that are whole. */
  held: number
  /** Of the row with the key (`first`, 0): by these, row versions of an object are numbers in the order of their keys. */
  readonly firstNumber: number
}

/** Rows that one range has at most: each is an input of its own to queries. */
const rowsPerRange = 8192

/**
 * In ranges of some thousand rows. Throws STORAGE_CORRUPT, too, when one of the other segments turns out to be damaged.
 *
 * @param leftOut what flushes have left out of segments
 * @param damaged some of the segments that the manifest names
 */
export function findLostRows(
  reader: RecordReader,
  leftOut: readonly LeftOut[],
  store: SegmentStore,
  manifest: Manifest,
  damaged: ReadonlySet<number>,
  transaction: ReadTransaction,
): LostRows[] {
  const whole = manifest.segments.filter(({ id }) => !damaged.has(id))
  const bounds = boundsOf(manifest, damaged)
  const written = writtenRanges(reader, manifest.flushedThrough, bounds, transaction)
  eachHeld(store, whole, written, (range) => {
    range.held++
  })
  const lost: LostRows[] = []
  const held = heldNumbers(store, whole, written)
  for (const [object, ranges] of written) {
    const rows = new LostKeys(object)
    const numbers = held.get(object) ?? new Float64Array()
    for (const range of ranges) {
      if (range.held >= range.rows) continue
      for (const { after, through } of spansOf(object, range, leftOut)) {
        for (const { key, view } of reader.wholeDelta(object, after, through, transaction)) {
          if (view.isTombstone) continue
          if (has(numbers, numberOf(range, key.transaction, key.index))) continue
          rows.add(key.transaction, key.index)
        }
      }
      letQueriesPass()
    }
    lost.push(...rows.ranges())
  }
  return lost
}

/** The transactions of a range, without those that no segment has rows of since some of them are damaged. */
function spansOf(
  object: number,
  { first, last }: TransactionSpan,
  leftOut: readonly LeftOut[],
): Pick<LeftOut, 'after' | 'through'>[] {
  let spans = [{ after: first - 1, through: last }]
  for (const out of leftOut) {
    if (out.object !== object) continue
    spans = spans.flatMap(({ after, through }) =>
      [
        { after, through: Math.min(through, out.after) },
        { after: Math.max(after, out.through), through },
      ].filter((span) => span.through > span.after),
    )
  }
  return spans
}

/** By object, between which transactions the rows of the segments are; undefined where that is not known of all. */
function boundsOf(
  { segments }: Manifest,
  damaged: ReadonlySet<number>,
): ReadonlyMap<number, TransactionSpan> | undefined {
  const known = segments.filter(({ id }) => damaged.has(id))
  if (known.length < damaged.size) return undefined
  const bounds = new Map<number, TransactionSpan>()
  for (const { object, firstTransaction, lastTransaction } of known.flatMap(
    ({ metadata }) => metadata.objects,
  )) {
    const before = bounds.get(object)
    bounds.set(object, {
      first: Math.min(firstTransaction, before?.first ?? firstTransaction),
      last: Math.max(lastTransaction, before?.last ?? lastTransaction),
    })
  }
  return bounds
}

/** By object, in the order of transactions. */
function writtenRanges(
  reader: RecordReader,
  through: number,
  bounds: ReadonlyMap<number, TransactionSpan> | undefined,
  transaction: ReadTransaction,
): Map<number, WrittenRange[]> {
  const written = new Map<number, WrittenRange[]>()
  for (const { first, transaction: last, objects } of reader.log(0, through, transaction)) {
    for (const { object, rows } of objects) {
      const within = bounds?.get(object)
      if (bounds && (!within || last < within.first || first > within.last)) continue
      const ranges = written.get(object) ?? []
      if (ranges.length === 0) written.set(object, ranges)
      const before = ranges.at(-1)
      const firstNumber = before ? numberOf(before, before.last + 1, 0) : 0
      ranges.push({ first, last, rows, held: 0, firstNumber })
    }
  }
  return written
}

function numberOf(
  { first, firstNumber }: WrittenRange,
  transaction: number,
  index: number,
): number {
  return firstNumber + (transaction - first) * rowsPerTransaction + index
}

/** Calls `found` for each row of the segments that is in one of the ranges. */
function eachHeld(
  store: SegmentStore,
  segments: readonly ManifestSegment[],
  written: ReadonlyMap<number, readonly WrittenRange[]>,
  found: (range: WrittenRange, object: number, keys: KeyColumns, row: number) => void,
): void {
  for (const { id, metadata } of segments) {
    const mayHold = metadata.objects.some((part) => {
      const ranges = written.get(part.object)
      return ranges && rangeOf(ranges, part.lastTransaction) !== undefined
    })
    if (!mayHold) continue
    const { keys } = store.open(id)
    for (const { from, to } of objectRuns(keys.object)) {
      const object = keys.object[from]!
      const ranges = written.get(object)
      if (!ranges) continue
      let range: WrittenRange | undefined
      for (let row = from; row < to; row++) {
        const transaction = keys.transaction[row]!
        if (!range || !isWithin(range, transaction)) {
          const nearest = rangeOf(ranges, transaction)
          range = nearest && isWithin(nearest, transaction) ? nearest : undefined
        }
        if (range) found(range, object, keys, row)
      }
    }
    letQueriesPass()
  }
}

function isWithin({ first, last }: TransactionSpan, transaction: number): boolean {
  return first <= transaction && transaction <= last
}

/** The last range that begins at the transaction or before. */
function rangeOf(ranges: readonly WrittenRange[], transaction: number): WrittenRange | undefined {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ranges[middle]!.first <= transaction) low = middle + 1
    else high = middle
  }
  return ranges[low - 1]
}

/** By object, ascending, the numbers of rows that the segments have of requests of which they have some only. */
function heldNumbers(
  store: SegmentStore,
  segments: readonly ManifestSegment[],
  written: ReadonlyMap<number, readonly WrittenRange[]>,
): Map<number, Float64Array> {
  const partly = new Map<number, WrittenRange[]>()
  for (const [object, ranges] of written) {
    const some = ranges.filter(({ held, rows }) => held > 0 && held < rows)
    if (some.length > 0) partly.set(object, some)
  }
  const numbers = new Map<number, Float64Array>()
  const ends = new Map<number, number>()
  for (const [object, ranges] of partly) {
    numbers.set(object, new Float64Array(ranges.reduce((sum, { held }) => sum + held, 0)))
    ends.set(object, 0)
  }
  eachHeld(store, segments, partly, (range, object, keys, row) => {
    const end = ends.get(object)!
    numbers.get(object)![end] = numberOf(range, keys.transaction[row]!, keys.index[row]!)
    ends.set(object, end + 1)
  })
  for (const of of numbers.values()) of.sort()
  return numbers
}

function has(sorted: Float64Array, number: number): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < number) low = middle + 1
    else high = middle
  }
  return sorted[low] === number
}

class LostKeys {
  readonly #object: number
  readonly #transactions: number[] = []
  readonly #indexes: number[] = []

  constructor(object: number) {
    this.#object = object
  }

  add(transaction: number, index: number): void {
    this.#transactions.push(transaction)
    this.#indexes.push(index)
  }

  ranges(): LostRows[] {
    const ranges: LostRows[] = []
    for (let from = 0; from < this.#transactions.length; from += rowsPerRange) {
      const to = from + rowsPerRange
      ranges.push({
        object: this.#object,
        transactions: shared(Float64Array, this.#transactions.slice(from, to)),
        indexes: shared(Int32Array, this.#indexes.slice(from, to)),
      })
    }
    return ranges
  }
}

/** In memory that every thread may read. */
function shared<Of extends Float64Array | Int32Array>(
  type: { new (memory: SharedArrayBuffer): Of; readonly BYTES_PER_ELEMENT: number },
  numbers: readonly number[],
): Of {
  const array = new type(new SharedArrayBuffer(numbers.length * type.BYTES_PER_ELEMENT))
  array.set(numbers)
  return array
}
