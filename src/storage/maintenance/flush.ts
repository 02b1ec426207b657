/**
 * Flush: turns what was written since the last one into segments. The rows themselves stay where they
 * are; if a flush fails or is cut short, the manifest is still the old one and nothing is lost but the
 * work.
 */
import { assert } from '../../error.ts'
import type { KeyColumns } from '../../vector/column.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import { versionKeyAt } from '../../vector/row-keys.ts'
import { openSharedColumns } from '../../vector/shared-columns.ts'
import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import type { LogRange } from '../prepare/memtable.ts'
import { type LeftOut, readLeftOut, writeLeftOut } from '../read/left-out.ts'
import { RecordReader } from '../read/record-reader.ts'
import { forEachSuperseded } from '../read/superseded-rows.ts'
import { isRecordDamage } from '../record-damage.ts'
import type { Manifest } from '../segment/manifest.ts'
import { type SegmentLimits, SegmentSink } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { shred } from '../shred/shred.ts'
import { objectRuns, type VersionedRow } from '../shred/shred-keys.ts'
import { mergeColumns, type ReadRow } from './compaction-columns.ts'
import { cutRuns, mergeOrder, withoutRowsOf } from './compaction-order.ts'
import { divideRanges } from './damaged-ranges.ts'

/** Everything after `flushedThrough` and up to `through`: in memtables, or in log ranges of the row store. */
export interface FlushedRows {
  readonly through: number
  readonly memtables: readonly { readonly memory: SharedArrayBuffer; readonly rowBytes: number }[]
  readonly logRanges: readonly LogRange[]
  /** Objects whose rows in memtables are left out: they are removed. */
  readonly without?: readonly number[]
}

/**
 * Puts every row version that is committed and not yet in a segment into one, but no tombstones;
 * superseded versions too, for queries of the past. Transactions with rows that are damaged are left out, and noted. Returns the new manifest, or the present one when
 * there was nothing to do.
 *
 * @param fresh what there is; all that the row store has when not given
 */
export function flush(
  records: RecordsEnvironment,
  store: SegmentStore,
  limits: SegmentLimits,
  fresh?: FlushedRows,
): Manifest {
  const manifest = store.manifest()
  records.root.resetReadTxn()
  const reader = new RecordReader(records)
  const transaction = records.root.useReadTransaction()
  try {
    const {
      through,
      memtables,
      logRanges,
      without = [],
    } = fresh ?? unflushed(reader, manifest, transaction)
    if (through <= manifest.flushedThrough) return manifest
    const leftOut = leftOutBefore(records, manifest)
    const current = currentThroughOf(reader, through, transaction)
    const write = (readable: readonly LogRange[]) => {
      const sink = new SegmentSink(store, manifest, limits, current)
      const rows = rowsOf(reader, readable, transaction)
      if (memtables.length === 0) for (const row of rows) sink.add(row)
      else {
        const sources = [...sourcesOf(memtables), ...shredded(rows, limits)]
        mergeSources(sink, sources, new Set(without), limits, readerOf(reader, transaction))
      }
      return sink.finish()
    }
    const { segments, nextSegment, last } = writeReadable(logRanges, write, (thrown) => {
      const { readable, damaged } = divideRanges(records, logRanges, transaction)
      if (damaged.length === 0) throw thrown
      writeLeftOut(records, [...leftOut, ...damaged])
      return readable
    })
    return store.commit(
      manifest,
      {
        flushedThrough: through,
        nextSegment,
        segments: [...manifest.segments, ...segments],
      },
      last,
    )
  } finally {
    transaction.done()
    records.root.resetReadTxn()
  }
}

/**
 * What flushes before this one have left out. A flush that was cut short has noted what is to be flushed now, and so have all
 * where segments are made from nothing.
 */
function leftOutBefore(records: RecordsEnvironment, { flushedThrough }: Manifest): LeftOut[] {
  const noted = readLeftOut(records.progress)
  const before = noted.filter(({ through }) => through <= flushedThrough)
  if (before.length < noted.length) writeLeftOut(records, before)
  return before
}

/** Writes all log ranges, or those that `divide` gives where some rows are damaged. */
function writeReadable<Result>(
  logRanges: readonly LogRange[],
  write: (logRanges: readonly LogRange[]) => Result,
  divide: (thrown: unknown) => readonly LogRange[],
): Result {
  try {
    return write(logRanges)
  } catch (thrown) {
    if (!isRecordDamage(thrown)) throw thrown
    return write(divide(thrown))
  }
}

/** Of keys of a segment: that transaction, if none of its rows was superseded up to it. */
export function currentThroughOf(
  reader: RecordReader,
  through: number,
  transaction: ReadTransaction,
): (keys: KeyColumns) => number | undefined {
  return (keys) => (isCurrent(keys, through, reader, transaction) ? through : undefined)
}

/** Whether no row was superseded by then, as far as is known. */
function isCurrent(
  keys: KeyColumns,
  through: number,
  reader: RecordReader,
  transaction: ReadTransaction,
): boolean {
  let superseded = 0
  try {
    for (const range of objectRuns(keys.object)) {
      const ofObject = { ...range, object: keys.object[range.from]! }
      forEachSuperseded(keys, ofObject, through, reader, () => superseded++, transaction)
    }
  } catch (thrown) {
    if (!isRecordDamage(thrown)) throw thrown
    return false
  }
  return superseded === 0
}

function unflushed(
  reader: RecordReader,
  { flushedThrough: after }: Manifest,
  transaction: ReadTransaction,
): FlushedRows {
  const through = reader.lastTransaction(transaction)
  const objects = reader.objectsWrittenAfter(after, transaction)
  return {
    through,
    memtables: [],
    logRanges: objects.map((object) => ({ object, after, through })),
  }
}

/** In the order of objects. */
function* rowsOf(
  reader: RecordReader,
  logRanges: readonly LogRange[],
  transaction: ReadTransaction,
): Generator<VersionedRow> {
  const ordered = logRanges.toSorted((a, b) => a.object - b.object || a.after - b.after)
  for (const { object, after, through } of ordered) {
    for (const { key, view } of reader.wholeDelta(object, after, through, transaction)) {
      if (!view.isTombstone) yield { object, version: key, row: view }
    }
  }
}

export function readerOf(reader: RecordReader, transaction: ReadTransaction): ReadRow {
  return ({ keys }, row) => {
    const found = reader.rowAt(keys.object[row]!, versionKeyAt(keys, row), transaction)
    assert(found, 'a segment holds a row that the row store does not')
    return found
  }
}

/** Columns of rows that take so many bytes. */
interface Source {
  readonly table: ColumnTable
  readonly rowBytes: number
}

function sourcesOf(memtables: FlushedRows['memtables']): Source[] {
  return memtables.map(({ memory, rowBytes }) => ({ table: openSharedColumns(memory), rowBytes }))
}

function mergeSources(
  sink: SegmentSink,
  sources: readonly Source[],
  without: ReadonlySet<number>,
  limits: SegmentLimits,
  readRow: ReadRow,
): void {
  const tables = sources.map(({ table }) => table)
  const order = withoutRowsOf(without, tables, mergeOrder(tables.map(({ keys }) => keys)))
  const averages = sources.map(({ table, rowBytes }) => rowBytes / table.rowCount)
  for (const { runs, bytes } of cutRuns(order, averages, limits)) {
    sink.addTable(mergeColumns(tables, runs, readRow, letQueriesPass), bytes)
  }
}

/** Tables of no more rows and bytes than a segment has. */
function* shredded(rows: Iterable<VersionedRow>, limits: SegmentLimits): Generator<Source> {
  let group: VersionedRow[] = []
  let rowBytes = 0
  for (const row of rows) {
    const { length } = row.row.bytes
    if (group.length === limits.rows || (group.length > 0 && rowBytes + length > limits.rowBytes)) {
      yield { table: shred(group), rowBytes }
      group = []
      rowBytes = 0
    }
    group.push(row)
    rowBytes += length
  }
  if (group.length > 0) yield { table: shred(group), rowBytes }
}
