/**
 * Compaction: makes few large segments out of many small ones. Their columns are merged in the order
 * of object, pagination key and version, so that segments whose ranges overlapped come out disjoint.
 */
import { assert } from '../error.ts'
import type { RowKey } from '../type/transaction.ts'
import type { KeyColumns } from '../vector/column.ts'
import type { ColumnTable } from '../vector/column-table.ts'
import { paginationKeyAt, versionKeyAt } from '../vector/row-keys.ts'
import { mergeColumns } from './compaction-columns.ts'
import { cutRuns, filterRuns, mergeOrder, type Runs } from './compaction-order.ts'
import type { ReadTransaction, RecordsEnvironment } from './environment.ts'
import { readerOf } from './flush.ts'
import type { Manifest } from './manifest.ts'
import { RecordReader } from './record-reader.ts'
import { type SegmentLimits, SegmentSink } from './segment-sink.ts'
import type { SegmentStore } from './segment-store.ts'
import { objectRuns } from './shred-keys.ts'

export interface CompactOptions {
  readonly limits: SegmentLimits
  /**
   * Leaves out versions that were superseded by this transaction or an earlier one. Queries of a
   * moment before it then miss them. Without it every version is kept.
   */
  readonly dropSupersededBefore?: number
  /** Leaves out all rows of these objects. */
  readonly withoutObjects?: ReadonlySet<number>
}

/** Replaces the segments `ids` of the manifest by new ones with the same row versions. */
export function compact(
  records: RecordsEnvironment,
  store: SegmentStore,
  ids: readonly number[],
  { limits, dropSupersededBefore, withoutObjects }: CompactOptions,
): Manifest {
  const manifest = store.manifest()
  const replaced = new Set(ids)
  const kept = manifest.segments.filter(({ id }) => !replaced.has(id))
  assert(
    kept.length + replaced.size === manifest.segments.length,
    'compaction was given segments that the manifest does not name',
  )
  const sink = new SegmentSink(store, manifest, limits)
  const reader = new RecordReader(records)
  records.root.resetReadTxn()
  const transaction = records.root.useReadTransaction()
  const readRow = readerOf(reader, transaction)
  try {
    const open = () => ids.map((id) => store.open(id))
    const order = withoutRowsOf(
      withoutObjects,
      open(),
      keptRows(open(), reader, transaction, dropSupersededBefore),
    )
    const rowBytes = ids.map((id) => {
      const { metadata } = manifest.segments.find((segment) => segment.id === id)!
      return metadata.rowBytes / metadata.rowCount
    })
    for (const { runs, bytes } of cutRuns(order, rowBytes, limits)) {
      // Opened again, because what was open is not after a segment was written.
      sink.addTable(mergeColumns(open(), runs, readRow), bytes)
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
  } finally {
    transaction.done()
    records.root.resetReadTxn()
  }
}

function withoutRowsOf(
  objects: ReadonlySet<number> | undefined,
  sources: readonly ColumnTable[],
  order: Runs,
): Runs {
  if (!objects) return order
  const numbers = sources.map(({ keys }) => keys.object)
  return filterRuns(order, (source, row) => !objects.has(numbers[source]![row]!))
}

/** All rows of the segments in order, without those that were superseded by then. */
function keptRows(
  sources: readonly ColumnTable[],
  reader: RecordReader,
  transaction: ReadTransaction,
  dropSupersededBefore: number | undefined,
): Runs {
  const keys = sources.map((source) => source.keys)
  const order = mergeOrder(keys)
  if (dropSupersededBefore === undefined) return order
  const dropped = supersededVersions(reader, keys, dropSupersededBefore, transaction)
  if (dropped.size === 0) return order
  return filterRuns(order, (source, row) => {
    const ofObject = dropped.get(keys[source]!.object[row]!)
    return !ofObject?.has(versionName(versionKeyAt(keys[source]!, row)))
  })
}

/**
 * By object, the names of its versions that were superseded by transactions up to `through`, as far
 * as they may be among the rows of these keys.
 */
function supersededVersions(
  reader: RecordReader,
  sources: readonly KeyColumns[],
  through: number,
  transaction: ReadTransaction,
): Map<number, Set<string>> {
  const versions = new Map<number, Set<string>>()
  for (const keys of sources) {
    for (const { from, to } of objectRuns(keys.object)) {
      const object = keys.object[from]!
      const first = paginationKeyAt(keys, from)
      const last = paginationKeyAt(keys, to - 1)
      for (const { version } of reader.supersessions(object, first, last, through, transaction)) {
        const ofObject = versions.get(object)
        if (ofObject) ofObject.add(versionName(version))
        else versions.set(object, new Set([versionName(version)]))
      }
    }
  }
  return versions
}

function versionName({ transaction, index }: RowKey): string {
  return `${transaction}/${index}`
}
