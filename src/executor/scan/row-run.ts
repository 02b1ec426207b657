/** Opens a task's inputs: each becomes runs of rows of one object, with what of them is visible. */
import type { BoundObject } from '../../binder/bound.ts'
import { assert } from '../../error.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { lostVersions } from '../../storage/read/lost-versions.ts'
import type { RecordReader, StoredVersion } from '../../storage/read/record-reader.ts'
import { EvictedVersions } from '../../storage/row/evicted-row.ts'
import { historyRow } from '../../storage/row/history-row.ts'
import { LentRows } from '../../storage/row/lent-rows.ts'
import type { RowView } from '../../storage/row/row.ts'
import type { SegmentMetadata } from '../../storage/segment/metadata.ts'
import { shred } from '../../storage/shred/shred.ts'
import type { VersionedRow } from '../../storage/shred/shred-keys.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { ColumnSet, KeyColumns } from '../../vector/column.ts'
import { lowerBound, versionKeyAt } from '../../vector/row-keys.ts'
import type { Batch } from '../expression/batch.ts'
import type { RowFetcher } from '../field/column-reader.ts'
import { valueInRow } from '../field/locate-json.ts'
import type { SnapshotBounds, TaskInput } from '../task/task.ts'
import type { SegmentDictionaries, TaskDictionaries } from '../task/task-dictionaries.ts'
import { ColumnScan, keysBetween } from './column-scan.ts'
import { rowBatch } from './row-scan.ts'
import { isCurrent, type RowRange, visibleRows } from './visibility.ts'
import { Zones } from './zones.ts'

/** What a task reads from; the same in a worker and on the main thread. */
export interface TaskStorage {
  readonly records: RecordReader
  /** Throws STORAGE_CORRUPT when the segment is damaged. */
  openSegment(segment: number): ColumnSet
  segmentMetadata(segment: number): SegmentMetadata
  openMemtable(memtable: number, memory: SharedArrayBuffer): ColumnSet
}

export interface RowRun {
  readonly object: BoundObject
  /** What the rows are in; undefined when they are read one by one. */
  readonly columns: ColumnSet | undefined
  /** What is known of the rows unread; undefined when they are in no segment. */
  readonly zones: Zones | undefined
  readonly rowCount: number
  /** Where the first row stands in its column set, whose granules batches keep to. */
  readonly firstRow: number
  /** One byte per row, 1 when visible; undefined when all are. */
  readonly visible: Uint8Array | undefined
  batch(from: number, rowCount: number): Batch
  /** Bytes of columns, or of rows, that batches have read so far. */
  bytesRead(): number
}

/**
 * The columns that a task has opened last. Its inputs may be many short ranges of one segment, which
 * follow each other: they share the readers of fields, and what those know of dictionaries.
 */
export class OpenedColumns {
  #set: ColumnSet | undefined
  #object: BoundObject | undefined
  #scan: ColumnScan | undefined

  of(set: ColumnSet, object: BoundObject, open: () => ColumnScan): ColumnScan {
    if (!this.#scan || this.#set !== set || this.#object !== object) {
      this.#set = set
      this.#object = object
      this.#scan = open()
    }
    return this.#scan
  }
}

export function openRun(
  input: TaskInput,
  plan: PhysicalPlan,
  snapshot: SnapshotBounds,
  storage: TaskStorage,
  dictionaries: TaskDictionaries,
  opened = new OpenedColumns(),
): RowRun {
  const object = plan.objects.find((candidate) => candidate.number === input.object)
  assert(object, 'a task names an object that its plan does not')
  switch (input.kind) {
    case 'segment': {
      const set = storage.openSegment(input.segment)
      const numbered = dictionaries.inSegment(input.segment)
      const metadata = storage.segmentMetadata(input.segment)
      const part = metadata.objects.find((each) => each.object === input.object)
      assert(part, 'a task names an object that its segment does not hold')
      const zones = new Zones(metadata, part, [])
      const { currentThrough } = metadata
      const known = { opened, dictionaries: numbered, zones, currentThrough }
      const isKnown = input.mayBeNewer || snapshot.unsuperseded?.includes(input.object)
      const isSeen = !isKnown && isCurrent(metadata, input.object, storage.records)
      const bounds = isSeen ? undefined : snapshot
      return columnRun(set, object, input, plan.after, bounds, storage.records, known)
    }
    case 'memtable': {
      const set = storage.openMemtable(input.memtable, input.memory)
      return columnRun(set, object, input, plan.after, snapshot, storage.records)
    }
    case 'log':
    case 'lost': {
      const set = readDelta(input, plan, snapshot, storage.records)
      const all = { from: 0, to: set.rowCount, mayBeNewer: false }
      return columnRun(set, object, all, plan.after, undefined, storage.records)
    }
    case 'history': {
      const set = readHistory(object, input, plan, snapshot, storage.records)
      const all = { from: 0, to: set.rowCount, mayBeNewer: false }
      return columnRun(set, object, all, undefined, undefined, storage.records)
    }
    case 'lent': {
      const set = readLent(object, input, plan, snapshot, storage.records)
      const all = { from: 0, to: set.rowCount, mayBeNewer: false }
      return columnRun(set, object, all, plan.after, undefined, storage.records)
    }
    case 'records':
      return recordRun(object, input.ids, plan.after, snapshot, storage.records)
  }
}

/** What of a segment is known beside its columns. */
interface SegmentKnowledge {
  readonly opened: OpenedColumns
  readonly dictionaries: SegmentDictionaries | undefined
  readonly zones: Zones | undefined
  readonly currentThrough: number | undefined
}

/** `snapshot` is undefined when the rows are known to be visible. */
function columnRun(
  set: ColumnSet,
  object: BoundObject,
  { from, to, mayBeNewer }: Omit<RowRange, 'object'>,
  after: RowKey | undefined,
  snapshot: SnapshotBounds | undefined,
  records: RecordReader,
  known?: SegmentKnowledge,
): RowRun {
  const end = after ? lowerBound(set.keys, from, to, after) : to
  const { keys } = set
  const fetch: RowFetcher = (_, row, path) => {
    const view = storedRow(records, object, versionKeyAt(keys, row))
    assert(view, 'a segment holds a row that the row store does not')
    return valueInRow(view, path)
  }
  const open = () => new ColumnScan(set, object, fetch, known?.dictionaries)
  const scan = known ? known.opened.of(set, object, open) : open()
  const range = { object: object.number, from, to: end, mayBeNewer }
  const isAllSeen = !snapshot || (!mayBeNewer && snapshot.unsuperseded?.includes(object.number))
  return new ColumnRun(object, scan, range, known?.zones, () => {
    if (isAllSeen) return undefined
    return visibleRows(set, range, snapshot, records, known?.currentThrough)
  })
}

/** A class, as an object with a getter of its own takes ten times as long to make. */
class ColumnRun implements RowRun {
  readonly object: BoundObject
  readonly columns: ColumnSet
  readonly zones: Zones | undefined
  readonly rowCount: number
  readonly firstRow: number
  readonly #scan: ColumnScan
  readonly #findVisible: () => Uint8Array | undefined
  #visible: { readonly rows: Uint8Array | undefined } | undefined
  readonly #bytesBefore: number

  constructor(
    object: BoundObject,
    scan: ColumnScan,
    { from, to }: RowRange,
    zones: Zones | undefined,
    findVisible: () => Uint8Array | undefined,
  ) {
    this.object = object
    this.columns = scan.set
    this.zones = zones
    this.rowCount = to - from
    this.firstRow = from
    this.#scan = scan
    this.#findVisible = findVisible
    this.#bytesBefore = scan.bytesRead
  }

  get visible(): Uint8Array | undefined {
    // Not found out for rows that an index has ruled out.
    this.#visible ??= { rows: this.#findVisible() }
    return this.#visible.rows
  }

  batch(start: number, rowCount: number): Batch {
    return this.#scan.batch(this.firstRow + start, rowCount)
  }

  bytesRead(): number {
    return this.#scan.bytesRead - this.#bytesBefore
  }
}

/** The visible rows among those, with the fields that the scan reads as columns. */
function readDelta(
  input: Extract<TaskInput, { kind: 'log' | 'lost' }>,
  plan: PhysicalPlan,
  snapshot: SnapshotBounds,
  records: RecordReader,
): ColumnSet {
  const { exportedThrough = 0 } = snapshot
  const rows: VersionedRow[] = []
  for (const version of versionsOfDelta(input, records)) {
    if (version.key.transaction <= exportedThrough) continue
    if (!isSeen(input.object, version, snapshot, records)) continue
    rows.push({ object: input.object, version: version.key, row: version.view })
  }
  return shred(rows, { fields: new Set(plan.scannedFields) })
}

function isSeen(
  object: number,
  { key, view }: StoredVersion,
  { transaction }: SnapshotBounds,
  records: RecordReader,
): boolean {
  if (key.transaction > transaction || view.isTombstone) return false
  const superseded = records.supersededBy(object, view.paginationKey, key)
  return superseded === undefined || superseded > transaction
}

/** The visible rows of those that came from elsewhere, where what superseded them last may not be known. */
function readLent(
  object: BoundObject,
  { memory }: Extract<TaskInput, { kind: 'lent' }>,
  plan: PhysicalPlan,
  snapshot: SnapshotBounds,
  records: RecordReader,
): ColumnSet {
  const { number, isHistory } = object
  const rows: VersionedRow[] = []
  for (const version of LentRows.of([memory]).versionsOf(number)) {
    const { key, view } = version
    if (isHistory) rows.push({ object: number, version: key, row: historyRow(view) })
    else if (isSeen(number, version, snapshot, records))
      rows.push({ object: number, version: key, row: view })
  }
  return shred(rows, { fields: new Set(plan.scannedFields) })
}

function* versionsOfDelta(
  input: Extract<TaskInput, { kind: 'log' | 'lost' }>,
  records: RecordReader,
): Generator<StoredVersion> {
  if (input.kind === 'lost') {
    yield* lostVersions(records, input)
    return
  }
  const { object, logRanges } = input
  for (const { after, through } of logRanges) yield* records.readDelta(object, after, through)
}

/** Row versions as entries of their records' histories. */
function readHistory(
  object: BoundObject,
  { from, to }: Extract<TaskInput, { kind: 'history' }>,
  plan: PhysicalPlan,
  { transaction }: SnapshotBounds,
  records: RecordReader,
): ColumnSet {
  const versioned: { object: number; version: RowKey; row: RowView }[] = []
  for (const { key, view } of records.versionsBetween(object.number, from, to)) {
    if (key.transaction > transaction) continue
    versioned.push({ object: object.number, version: key, row: historyRow(view) })
  }
  return shred(versioned, { fields: new Set(plan.scannedFields) })
}

/** The row of a version as the query sees it. */
export function storedRow(
  records: RecordReader,
  { number, isHistory }: BoundObject,
  version: RowKey,
): RowView | undefined {
  const row = records.rowAt(number, version)
  return row && isHistory ? historyRow(row) : row
}

function versionsOf(
  records: RecordReader,
  { number, isHistory }: BoundObject,
  id: string,
  transaction: number,
): StoredVersion[] {
  if (isHistory) {
    return Array.from(records.historyOf(number, id, transaction), ({ key, view }) => ({
      key,
      view: historyRow(view),
    }))
  }
  const found = records.versionAsOf(number, id, transaction)
  return found ? [found] : []
}

function recordRun(
  object: BoundObject,
  ids: readonly string[],
  after: RowKey | undefined,
  { transaction }: SnapshotBounds,
  records: RecordReader,
): RowRun {
  const evicted = new EvictedVersions()
  const read = ids.flatMap((id) => {
    return evicted.tried(() => versionsOf(records, object, id, transaction)) ?? []
  })
  evicted.throwIfAny()
  const found = read
    .filter(({ view }) => !after || compareRowKeys(view.paginationKey, after) < 0)
    // As in a column set.
    .sort(
      (a, b) =>
        compareRowKeys(a.view.paginationKey, b.view.paginationKey) || compareRowKeys(a.key, b.key),
    )
  const views = found.map(({ view }) => view)
  const keys: KeyColumns = {
    object: Int32Array.from(found, () => object.number),
    paginationTransaction: Float64Array.from(views, (view) => view.paginationKey.transaction),
    paginationIndex: Int32Array.from(views, (view) => view.paginationKey.index),
    transaction: Float64Array.from(found, ({ key }) => key.transaction),
    index: Int32Array.from(found, ({ key }) => key.index),
  }
  return {
    object,
    columns: undefined,
    zones: undefined,
    rowCount: views.length,
    firstRow: 0,
    visible: undefined,
    batch: (from, rowCount) => {
      const to = from + rowCount
      return rowBatch(views.slice(from, to), keysBetween(keys, from, to), object)
    },
    bytesRead: () => views.reduce((total, view) => total + view.bytes.length, 0),
  }
}
