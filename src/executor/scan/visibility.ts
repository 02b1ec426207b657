/**
 * The visibility rule: a row version is seen at transaction V when it was written at V or before and
 * nothing that was written at V or before superseded it.
 */
import type { RecordReader } from '../../storage/read/record-reader.ts'
import {
  forEachSuperseded,
  forEachSupersededAfter,
  type ObjectRange,
} from '../../storage/read/superseded-rows.ts'
import type { SegmentMetadata } from '../../storage/segment/metadata.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { ColumnSet } from '../../vector/column.ts'
import type { SnapshotBounds } from '../task/task.ts'

/** Rows of one object in a column set. */
export interface RowRange extends ObjectRange {
  /** Whether some of the rows may be newer than the snapshot, or be read elsewhere. */
  readonly mayBeNewer: boolean
}

/** What was found out of a range for one snapshot, which never changes. */
interface KnownVisibility {
  readonly transaction: number
  readonly exportedThrough: number
  /** One byte per row, 1 when it is visible; undefined when all are. */
  readonly visible: Uint8Array | undefined
  /** How many marks it takes to find that anew. */
  readonly marks: number
}

/** By range, for the snapshot that it was asked of last. */
const knownOfSets = new WeakMap<ColumnSet, Map<string, KnownVisibility>>()

/** Ranges of a set that are remembered: those that were asked of last. */
const maximumRanges = 64

/**
 * One byte per row of the range, 1 when it is visible; undefined when all are. Of the snapshot that was asked
 * for last it is remembered as long as the set is open, and what was written since changes it for a later one: marks of
 * many updates take longer to read than columns.
 *
 * @param currentThrough up to which no row of the set was superseded, where that is known
 */
export function visibleRows(
  set: ColumnSet,
  range: RowRange,
  { transaction, exportedThrough = 0 }: SnapshotBounds,
  records: RecordReader,
  currentThrough?: number,
): Uint8Array | undefined {
  const ranges = knownOfSets.get(set) ?? new Map<string, KnownVisibility>()
  knownOfSets.set(set, ranges)
  // Rows that are newer than an earlier snapshot may be seen by a later one.
  const key = `${range.object} ${range.from} ${range.to} ${range.mayBeNewer}`
  const known = ranges.get(key) ?? currentAt(range, currentThrough)
  const isSame = known?.exportedThrough === exportedThrough
  if (isSame && known?.transaction === transaction) return known.visible
  const isLater = isSame && known && known.transaction < transaction
  const bounds = { transaction, exportedThrough }
  const changed = isLater ? changedSince(set, range, known, transaction, records) : undefined
  const made = { ...bounds, ...(changed ?? findVisible(set, range, bounds, records)) }
  ranges.delete(key)
  const [oldest] = ranges.keys()
  if (oldest !== undefined && ranges.size >= maximumRanges) ranges.delete(oldest)
  ranges.set(key, made)
  return made.visible
}

/**
 * Where all rows are read of the set; those that are read of a cluster are hidden in it. What marks there are is not known, so
 * that as many rows as the range has may be read in their place.
 */
function currentAt(
  { from, to }: RowRange,
  currentThrough: number | undefined,
): KnownVisibility | undefined {
  if (currentThrough === undefined) return undefined
  return { transaction: currentThrough, exportedThrough: 0, visible: undefined, marks: to - from }
}

/** What is visible now, by what was before; undefined where to find that takes as long as to begin anew. */
function changedSince(
  { keys }: ColumnSet,
  range: RowRange,
  { transaction: before, visible: earlier, marks }: KnownVisibility,
  transaction: number,
  records: RecordReader,
): Pick<KnownVisibility, 'visible' | 'marks'> | undefined {
  if (range.mayBeNewer || keys.supersededBy) return undefined
  const { from, to } = range
  let visible = earlier
  let hidden = 0
  const isFound = forEachSupersededAfter(
    keys,
    range,
    before,
    transaction,
    marks,
    records,
    (row) => {
      // Whoever reads the earlier snapshot may still have the other.
      if (visible === earlier)
        visible = earlier ? earlier.slice() : new Uint8Array(to - from).fill(1)
      visible![row - from] = 0
      hidden++
    },
  )
  return isFound ? { visible, marks: marks + hidden } : undefined
}

function findVisible(
  { keys }: ColumnSet,
  { object, from, to, mayBeNewer }: RowRange,
  { transaction, exportedThrough }: Pick<KnownVisibility, 'transaction' | 'exportedThrough'>,
  records: RecordReader,
): Pick<KnownVisibility, 'visible' | 'marks'> {
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
    return { visible, marks: 0 }
  }
  const marks = forEachSuperseded(keys, { object, from, to }, transaction, records, hide)
  return { visible, marks }
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
