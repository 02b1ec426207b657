/**
 * The visibility rule: a row version is seen at transaction V when it was written at V or before and
 * nothing that was written at V or before superseded it.
 */
import type { RecordReader } from '../../storage/read/record-reader.ts'
import { forEachSuperseded, type ObjectRange } from '../../storage/read/superseded-rows.ts'
import type { SegmentMetadata } from '../../storage/segment/metadata.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { ColumnSet } from '../../vector/column.ts'
import type { SnapshotBounds } from '../task/task.ts'

/** Rows of one object in a column set. */
export interface RowRange extends ObjectRange {
  /** Whether some of the rows may be newer than the snapshot, or be read elsewhere. */
  readonly mayBeNewer: boolean
}

/** What was found out of a set's ranges for one snapshot, which never changes. */
interface KnownVisibility {
  readonly transaction: number
  readonly exportedThrough: number
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
  { transaction, exportedThrough = 0 }: SnapshotBounds,
  records: RecordReader,
): Uint8Array | undefined {
  let known = knownOfSets.get(set)
  if (known?.transaction !== transaction || known.exportedThrough !== exportedThrough) {
    known = { transaction, exportedThrough, ranges: new Map() }
    knownOfSets.set(set, known)
  }
  const { ranges } = known
  const key = `${range.object} ${range.from} ${range.to}`
  if (ranges.has(key)) return ranges.get(key)
  const visible = findVisible(set, range, known, records)
  if (ranges.size < maximumRanges) ranges.set(key, visible)
  return visible
}

function findVisible(
  { keys }: ColumnSet,
  { object, from, to, mayBeNewer }: RowRange,
  { transaction, exportedThrough }: Pick<KnownVisibility, 'transaction' | 'exportedThrough'>,
  records: RecordReader,
): Uint8Array | undefined {
  let visible: Uint8Array | undefined
  const hide = (row: number) => {
    visible ??= new Uint8Array(to - from).fill(1)
    visible[row - from] = 0
  }
  if (mayBeNewer) {
    for (let row = from; row < to; row++) {
      const written = keys.transaction[row]!
      if (written > transaction || written <= exportedThrough) hide(row)
    }
  }
  if (keys.supersededBy) {
    for (let row = from; row < to; row++) if (keys.supersededBy[row]! <= transaction) hide(row)
    return visible
  }
  forEachSuperseded(keys, { object, from, to }, transaction, records, hide)
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
  // A loop that is left ends the iteration, which else would keep its read transaction open.
  for (const _ of records.supersessions(object, from, to, transaction)) return false
  return true
}

/** Whether no row version of an object was ever superseded. */
export function isUnsuperseded(object: number, records: RecordReader): boolean {
  const first = { transaction: 0, index: 0 }
  const last = { transaction: 2 ** 48 - 1, index: 0xffff }
  return hasNoSupersession(object, first, last, last.transaction, records)
}

/**
 * Whether every row version of the object in a segment is seen, if it was written by then: since the rows
 * that were superseded before were taken out of it, no other has been.
 */
export function isCurrent(
  { currentThrough }: SegmentMetadata,
  object: number,
  records: RecordReader,
): boolean {
  return currentThrough !== undefined && records.lastSupersession(object) <= currentThrough
}
