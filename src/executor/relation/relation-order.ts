/** The order of a relation's rows: by columns, nulls last, and by age. */
import type { BoundSortKey, SortPosition } from '../../binder/bound.ts'
import { sequence } from '../../kernel/sequence.ts'
import { compareBytes } from '../../storage/compare-bytes.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { type DictionaryVector, type TextVector, valueReader } from '../../vector/vector.ts'
import type { RowList } from '../column/row-list.ts'
import { vectorOf, type WireValues } from '../column/wire-values.ts'
import { afterPosition, compareNewestFirst, compareNullsLast } from '../order/row-order.ts'
import { checkAtTimes } from '../thread/cancelled.ts'

/** Negative when row `a` comes before row `b`. */
export type RowOrder = (a: number, b: number) => number

/** An order that is only made when something is compared by it. */
export function lateOrder(make: () => RowOrder): RowOrder {
  let order: RowOrder | undefined
  return (a, b) => {
    order ??= make()
    return order(a, b)
  }
}

/** The order of a column's values, nulls last. */
export function columnOrder(column: WireValues, descending: boolean): RowOrder {
  const vector = vectorOf(column)
  switch (vector.kind) {
    case 'text':
      return textOrder(vector, descending)
    case 'values': {
      const { values } = vector
      return (a, b) => compareNullsLast(values[a]!, values[b]!, descending)
    }
    case 'dictionary':
      return rankOrder(vector, descending)
    default:
      return numberOrder(vector.values, descending)
  }
}

/** Distinct values are put in order once; rows compare their ranks. */
function rankOrder({ codes, entries }: DictionaryVector, descending: boolean): RowOrder {
  const values = Array.from({ length: entries.size }, (_, code) => entries.valueAt(code))
  const order = Array.from(values.keys()).sort((a, b) => {
    checkAtTimes()
    return compareNullsLast(values[a]!, values[b]!, descending)
  })
  const ranks = new Float64Array(entries.size)
  let rank = 0
  for (const [place, code] of order.entries()) {
    const before = order[place - 1]
    const isSame =
      before !== undefined && compareNullsLast(values[before]!, values[code]!, descending) === 0
    if (!isSame) rank = place
    ranks[code] = rank
  }
  const rankAt = (row: number) => (codes[row]! < 0 ? entries.size : ranks[codes[row]!]!)
  return (a, b) => rankAt(a) - rankAt(b)
}

function numberOrder(values: Float64Array, descending: boolean): RowOrder {
  return (a, b) => {
    const [left, right] = [values[a]!, values[b]!]
    if (left === right) return 0
    if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : 1
    if (Number.isNaN(right)) return -1
    return left < right === descending ? 1 : -1
  }
}

/** Bytes of UTF-8 order as code points do. The first six of each are compared as one number. */
function textOrder({ texts, first, valid }: TextVector, descending: boolean): RowOrder {
  const { bytes, offsets } = texts
  const count = offsets.length - 1 - first
  const prefixes = new Float64Array(count)
  for (let row = 0; row < count; row++) {
    checkAtTimes()
    if (valid && valid[row] === 0) {
      prefixes[row] = descending ? -1 : Number.POSITIVE_INFINITY
      continue
    }
    const start = offsets[first + row]!
    const end = offsets[first + row + 1]!
    let prefix = 0
    for (let i = 0; i < 6; i++) prefix = prefix * 256 + (start + i < end ? bytes[start + i]! : 0)
    prefixes[row] = prefix
  }
  const sign = descending ? -1 : 1
  return (a, b) => {
    const difference = prefixes[a]! - prefixes[b]!
    // No difference itself: what does not fit into 31 bits is an object for each comparison.
    if (difference < 0) return -sign
    if (difference > 0) return sign
    if (valid && valid[a] === 0) return 0
    const [left, right] = [first + a, first + b]
    const order = compareBytes(
      bytes,
      offsets[left]!,
      offsets[left + 1]!,
      bytes,
      offsets[right]!,
      offsets[right + 1]!,
    )
    return order * sign
  }
}

/** Newest first, then by object, then the newest version first. */
export function ageOrder(rows: RowList): RowOrder {
  return (a, b) => compareNewestFirst(rows, a, rows, b)
}

/** Below this share of the rows, throwing out the rest on the way is faster than sorting all. */
const fewRows = 0.1
const slackRows = 1024

/** Numbers that decide between rows before anything else; NaN comes last. */
export interface LeadingNumbers {
  readonly values: Float64Array
  readonly descending: boolean
}

/** What a column gives to `orderRows` as `leading`; undefined when it has no numbers. */
export function leadingNumbers(
  column: WireValues,
  descending: boolean,
): LeadingNumbers | undefined {
  const hasNumbers = column.kind === 'number' || column.kind === 'timestamp'
  return hasNumbers ? { values: column.values, descending } : undefined
}

/**
 * The first `wanted` rows of `count` in order; rows that tie keep theirs.
 *
 * @param leading what the first of `orders` compares, if that is numbers: saves calls for most rows
 */
export function orderRows(
  count: number,
  orders: readonly RowOrder[],
  wanted: number,
  leading?: LeadingNumbers,
): Int32Array {
  const compare = (a: number, b: number) => {
    checkAtTimes()
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i]!(a, b)
      if (order !== 0) return order
    }
    return a - b
  }
  if (wanted >= count * fewRows) {
    const all = sequence(0, count).sort(compare)
    return wanted < count ? all.slice(0, wanted) : all
  }
  const found = new Int32Array(wanted * 2 + slackRows)
  let length = 0
  let last = -1
  // No row is beyond NaN: it would have to be compared by what decides next.
  let bound = Number.NaN
  const values = leading?.values
  const sign = leading?.descending ? -1 : 1
  for (let row = 0; row < count; row++) {
    if (values && !Number.isNaN(bound) && !(values[row]! * sign <= bound)) continue
    if (last >= 0 && compare(row, last) > 0) continue
    found[length++] = row
    if (length < found.length) continue
    found.sort(compare)
    length = wanted
    last = wanted > 0 ? found[wanted - 1]! : -1
    if (values && last >= 0) bound = values[last]! * sign
  }
  return found.subarray(0, length).sort(compare).slice(0, wanted)
}

/** The rows that come after a place in the order; `keys` are the values of the sort keys. */
export function rowsAfter(
  rows: RowList,
  keys: readonly WireValues[],
  sort: readonly BoundSortKey[],
  after: SortPosition | RowKey,
): Int32Array {
  const follows = 'values' in after ? sortedAfter(rows, keys, sort, after) : pagedAfter(rows, after)
  const found: number[] = []
  for (let row = 0; row < rows.object.length; row++) if (follows(row)) found.push(row)
  return Int32Array.from(found)
}

function pagedAfter(rows: RowList, after: RowKey): (row: number) => boolean {
  return (row) => compareRowKeys(paginationKeyAt(rows, row), after) < 0
}

function sortedAfter(
  rows: RowList,
  keys: readonly WireValues[],
  sort: readonly BoundSortKey[],
  position: SortPosition,
): (row: number) => boolean {
  const readers = keys.map((column) => valueReader(vectorOf(column)))
  const isAfter = afterPosition(sort, position)
  return (row) => isAfter(readers, rows, row)
}
