/**
 * Compaction: makes few large segments out of many small ones. Their columns are merged in the order
 * of object, pagination key and version, so that segments whose ranges overlapped come out disjoint.
 */
import { assert } from '../../error.ts'
import type { KeyColumns } from '../../vector/column.ts'
import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import type { RecordReader } from '../read/record-reader.ts'
import { forEachSuperseded } from '../read/superseded-rows.ts'
import type { Manifest } from '../segment/manifest.ts'
import { type SegmentLimits, SegmentSink } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { objectRuns } from '../shred/shred-keys.ts'
import { mergeColumns } from './compaction-columns.ts'
import { cutRuns, filterRuns, mergeOrder, Runs, withoutRowsOf } from './compaction-order.ts'
import { readerOf } from './flush.ts'
import { writeSegments } from './write-segments.ts'

export interface CompactOptions {
  readonly limits: SegmentLimits
  /** Called now and then; what it throws ends the work, and nothing has changed. */
  readonly checkpoint?: (() => void) | undefined
  /** Leaves out all rows of these objects. */
  readonly withoutObjects?: ReadonlySet<number>
  /** Leaves out rows for whose place in the keys it holds. */
  readonly withoutRows?: (keys: KeyColumns, row: number) => boolean
}

/**
 * Replaces the segments `ids` of the manifest by new ones with the same row versions. Superseded ones go to
 * segments of their own, which only queries of the past read. The rows of others are then known to be current.
 */
export function compact(
  records: RecordsEnvironment,
  store: SegmentStore,
  ids: readonly number[],
  { limits, checkpoint = letQueriesPass, withoutObjects, withoutRows }: CompactOptions,
): Manifest {
  const manifest = store.manifest()
  const replaced = new Set(ids)
  const kept = manifest.segments.filter(({ id }) => !replaced.has(id))
  assert(
    kept.length + replaced.size === manifest.segments.length,
    'compaction was given segments that the manifest does not name',
  )
  const begin = () => new SegmentSink(store, manifest, limits)
  return writeSegments(records, begin, (sink, { reader, transaction }) => {
    const readRow = readerOf(reader, transaction)
    const open = () => ids.map((id) => store.open(id))
    const sources = open()
    const all = withoutRowsOf(withoutObjects, sources, mergeOrder(sources.map(({ keys }) => keys)))
    const order = withoutRows
      ? filterRuns(all, (source, row) => !withoutRows(sources[source]!.keys, row))
      : all
    const through = reader.lastTransaction(transaction)
    const supersededBy = sources.map(({ keys }) =>
      supersedingTransactions(keys, through, reader, transaction),
    )
    const isSuperseded = (source: number, row: number) => (supersededBy[source]?.[row] ?? 0) > 0
    const isDivided = supersededBy.some((transactions) => transactions)
    const rowBytes = ids.map((id) => {
      const { metadata } = manifest.segments.find((segment) => segment.id === id)!
      return metadata.rowBytes / metadata.rowCount
    })
    const current = isDivided
      ? filterRuns(order, (source, row) => !isSuperseded(source, row))
      : order
    // Opened again for each, because what was open is not after a segment was written.
    for (const { runs, bytes } of cutRuns(current, rowBytes, limits)) {
      sink.addTable(mergeColumns(open(), runs, readRow, checkpoint), bytes, through)
    }
    const superseded = isDivided ? filterRuns(order, isSuperseded) : new Runs()
    for (const { runs, bytes } of cutRuns(superseded, rowBytes, limits)) {
      sink.addTable(mergeColumns(open(), runs, readRow, checkpoint, supersededBy), bytes)
    }
    const { segments, nextSegment, last } = sink.finish()
    return store.commit(
      manifest,
      {
        flushedThrough: manifest.flushedThrough,
        nextSegment,
        segments: [...kept, ...segments],
      },
      last,
    )
  })
}

/** By row, the transaction that superseded it, or 0; undefined when none is superseded. */
function supersedingTransactions(
  keys: KeyColumns,
  through: number,
  reader: RecordReader,
  transaction: ReadTransaction,
): Float64Array | undefined {
  // A copy, since the segment is not open any more after one was written.
  if (keys.supersededBy) return keys.supersededBy.slice()
  let transactions: Float64Array | undefined
  for (const range of objectRuns(keys.object)) {
    const object = keys.object[range.from]!
    const mark = (row: number, supersededBy: number) => {
      transactions ??= new Float64Array(keys.object.length)
      transactions[row] = supersededBy
    }
    forEachSuperseded(keys, { ...range, object }, through, reader, mark, transaction)
  }
  return transactions
}
