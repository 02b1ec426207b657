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

/** What was found out of a range: one byte per row, 1 when it is visible; undefined when all are. */
interface VisibleRange {
  readonly visible: Uint8Array | undefined
  /** How many marks it takes to find that anew. */
  readonly marks: number
}

/** What was found out of a set's ranges for one snapshot, which never changes. */
interface KnownVisibility {
  readonly transaction: number
  readonly exportedThrough: number
  readonly ranges: Map<string, VisibleRange>
  /** Of a snapshot before, from which those of this one may be found. */
  readonly before: KnownVisibility | undefined
}

const knownOfSets = new WeakMap<ColumnSet, KnownVisibility>()

/** Ranges of a set that are remembered. */
const maximumRanges = 64

/**
 * One byte per row of the range, 1 when it is visible; undefined when all are. Of the snapshot that was asked
 * for last it is remembered as long as the set is open, and what was written since changes it for a later one: marks of
 * many updates take longer to read than columns.
 */
export function visibleRows(
  set: ColumnSet,
  range: RowRange,
  { transaction, exportedThrough = 0 }: SnapshotBounds,
  records: RecordReader,
): Uint8Array | undefined {
  let known = knownOfSets.get(set)
  if (known?.transaction !== transaction || known.exportedThrough !== exportedThrough) {
    const isLater = known?.exportedThrough === exportedThrough && known.transaction < transaction
    const before = isLater && known ? { ...known, before: undefined } : undefined
    known = { transaction, exportedThrough, ranges: new Map(), before }
    knownOfSets.set(set, known)
  }
  const { ranges, before } = known
  // Rows that are newer than an earlier snapshot may be seen by a later one.
  const key = `${range.object} ${range.from} ${range.to} ${range.mayBeNewer}`
  const found = ranges.get(key)
  if (found) return found.visible
  const earlier = before?.ranges.get(key)
  const later = before && earlier && changedSince(set, range, before, earlier, known, records)
  const made = later ?? findVisible(set, range, known, records)
  if (ranges.size < maximumRanges) ranges.set(key, made)
  return made.visible
}

/** What is visible now, by what was before; undefined where to find that takes as long as to begin anew. */
function changedSince(
  { keys }: ColumnSet,
  range: RowRange,
  before: Pick<KnownVisibility, 'transaction'>,
  { visible: earlier, marks }: VisibleRange,
  { transaction }: Pick<KnownVisibility, 'transaction'>,
  records: RecordReader,
): VisibleRange | undefined {
  if (range.mayBeNewer || keys.supersededBy) return undefined
  const { from, to } = range
  let visible = earlier
  let hidden = 0
  const isFound = forEachSupersededAfter(
    keys,
    range,
    before.transaction,
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
): VisibleRange {
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
