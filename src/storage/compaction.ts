/**
 * Compaction: makes few large segments out of many small ones. Rows are read again from the row
 * store and go through the same shredder and writer as in a flush, in the order of object,
 * pagination key and version, so that segments whose ranges overlapped come out disjoint.
 */
import { assert } from '../error.ts'
import type { RowKey } from '../type/transaction.ts'
import type { KeyColumns } from '../vector/column.ts'
import { versionKeyAt } from '../vector/row-keys.ts'
import type { ReadTransaction, RecordsEnvironment } from './environment.ts'
import type { Manifest } from './manifest.ts'
import { RecordReader } from './record-reader.ts'
import { type SegmentLimits, SegmentSink } from './segment-sink.ts'
import type { SegmentStore } from './segment-store.ts'
import { compareKeys } from './shred-keys.ts'

export interface CompactOptions {
  readonly limits: SegmentLimits
  /**
   * Leaves out versions that were superseded by this transaction or an earlier one. Queries of a
   * moment before it then miss them. Without it every version is kept.
   */
  readonly dropSupersededBefore?: number
}

/** Replaces the segments `ids` of the manifest by new ones with the same row versions. */
export function compact(
  records: RecordsEnvironment,
  store: SegmentStore,
  ids: readonly number[],
  { limits, dropSupersededBefore }: CompactOptions,
): Manifest {
  const manifest = store.manifest()
  const replaced = new Set(ids)
  const kept = manifest.segments.filter(({ id }) => !replaced.has(id))
  assert(
    kept.length + replaced.size === manifest.segments.length,
    'compaction was given segments that the manifest does not name',
  )
  const sink = new SegmentSink(store, manifest, limits)
  const keys = concatenateKeys(ids.map((id) => store.open(id).keys))
  const reader = new RecordReader(records)
  records.root.resetReadTxn()
  const transaction = records.root.useReadTransaction()
  try {
    const dropped =
      dropSupersededBefore === undefined
        ? undefined
        : supersededVersions(reader, keys, dropSupersededBefore, transaction)
    for (const position of keyOrder(keys)) {
      const object = keys.object[position]!
      const version = versionKeyAt(keys, position)
      if (dropped?.get(object)?.has(versionName(version))) continue
      const row = reader.rowAt(object, version, transaction)
      assert(row, 'a segment holds a row that the row store does not')
      sink.add({ object, version, row })
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

/** Copied, so that no segment has to stay open. */
function concatenateKeys(parts: readonly KeyColumns[]): KeyColumns {
  const rowCount = parts.reduce((sum, keys) => sum + keys.object.length, 0)
  const keys = {
    object: new Int32Array(rowCount),
    paginationTransaction: new Float64Array(rowCount),
    paginationIndex: new Int32Array(rowCount),
    transaction: new Float64Array(rowCount),
    index: new Int32Array(rowCount),
  }
  let at = 0
  for (const part of parts) {
    keys.object.set(part.object, at)
    keys.paginationTransaction.set(part.paginationTransaction, at)
    keys.paginationIndex.set(part.paginationIndex, at)
    keys.transaction.set(part.transaction, at)
    keys.index.set(part.index, at)
    at += part.object.length
  }
  return keys
}

function keyOrder(keys: KeyColumns): Uint32Array {
  const order = new Uint32Array(keys.object.length).map((_, i) => i)
  return order.sort((a, b) => compareKeys(keys, a, b))
}

/** By object, the names of the versions that were superseded by transactions up to `through`. */
function supersededVersions(
  reader: RecordReader,
  keys: KeyColumns,
  through: number,
  transaction: ReadTransaction,
): Map<number, Set<string>> {
  const first: RowKey = { transaction: 0, index: 0 }
  const last: RowKey = { transaction: 2 ** 48 - 1, index: 0xffff }
  const versions = new Map<number, Set<string>>()
  for (const object of new Set(keys.object)) {
    const superseded = reader.supersessions(object, first, last, through, transaction)
    versions.set(object, new Set(Array.from(superseded, ({ version }) => versionName(version))))
  }
  return versions
}

function versionName({ transaction, index }: RowKey): string {
  return `${transaction}/${index}`
}
