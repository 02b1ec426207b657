/**
 * The visibility rule: a row version is seen at transaction V when it was written at V or before and
 * nothing that was written at V or before superseded it.
 */
import type { RecordReader } from '../../storage/record-reader.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'

/** Rows of one object in a column set. */
export interface RowRange {
  readonly object: number
  readonly from: number
  readonly to: number
  /** Whether some of the rows may be newer than the snapshot. */
  readonly mayBeNewer: boolean
}

/** What was found out of a set's ranges for one snapshot, which never changes. */
interface KnownVisibility {
  readonly transaction: number
  readonly ranges: Map<string, Uint8Array | undefined>
}

const knownOfSets = new WeakMap<ColumnSet, KnownVisibility>()

/** Ranges of a set that are remembered. */
const maximumRanges = 64

/**
 * One byte per row of the range, 1 when it is visible; undefined when all are. Of the snapshot that was asked
 * for last it is remembered as long as the set is open: marks of many updates take longer to read than columns.
 */
export function visibleRows(
  set: ColumnSet,
  range: RowRange,
  transaction: number,
  records: RecordReader,
): Uint8Array | undefined {
  let known = knownOfSets.get(set)
  if (known?.transaction !== transaction) {
    known = { transaction, ranges: new Map() }
    knownOfSets.set(set, known)
  }
  const { ranges } = known
  const key = `${range.object} ${range.from} ${range.to}`
  if (ranges.has(key)) return ranges.get(key)
  const visible = findVisible(set, range, transaction, records)
  if (ranges.size < maximumRanges) ranges.set(key, visible)
  return visible
}

function findVisible(
  set: ColumnSet,
  { object, from, to, mayBeNewer }: RowRange,
  transaction: number,
  records: RecordReader,
): Uint8Array | undefined {
  const { keys } = set
  let visible: Uint8Array | undefined
  const hide = (row: number) => {
    visible ??= new Uint8Array(to - from).fill(1)
    visible[row - from] = 0
  }
  if (mayBeNewer) {
    for (let row = from; row < to; row++) if (keys.transaction[row]! > transaction) hide(row)
  }
  if (from === to) return visible
  const first = paginationKeyAt(keys, from)
  const last = paginationKeyAt(keys, to - 1)
  // Both come in the order of pagination keys.
  let next = from
  for (const { paginationKey, version } of records.supersessions(
    object,
    first,
    last,
    transaction,
  )) {
    if (comparePagination(set, next, paginationKey) < 0) {
      next = lowerBound(set, next + 1, to, paginationKey)
      if (next === to) break
    }
    for (let row = next; row < to; row++) {
      if (comparePagination(set, row, paginationKey) !== 0) break
      if (keys.transaction[row] === version.transaction && keys.index[row] === version.index) {
        hide(row)
      }
    }
  }
  return visible
}

/**
 * Whether every row version of an object whose pagination key lies between `from` and `to` is seen, if
 * it was written by then.
 */
export function hasNoSupersession(
  object: number,
  from: RowKey,
  to: RowKey,
  transaction: number,
  records: RecordReader,
): boolean {
  return records.supersessions(object, from, to, transaction).next().done === true
}

/** Whether no row version of an object was ever superseded. */
export function isUnsuperseded(object: number, records: RecordReader): boolean {
  const first = { transaction: 0, index: 0 }
  const last = { transaction: 2 ** 48 - 1, index: 0xffff }
  return hasNoSupersession(object, first, last, last.transaction, records)
}

/** The first row of the range whose pagination key is not below `key`. */
export function lowerBound(
  set: Pick<ColumnSet, 'keys'>,
  from: number,
  to: number,
  key: RowKey,
): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (comparePagination(set, middle, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function comparePagination({ keys }: Pick<ColumnSet, 'keys'>, row: number, key: RowKey): number {
  return (
    keys.paginationTransaction[row]! - key.transaction || keys.paginationIndex[row]! - key.index
  )
}
