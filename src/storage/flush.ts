/**
 * Flush: turns the delta into segments. The rows themselves stay where they are; if a flush fails or
 * is cut short, the manifest is still the old one and nothing is lost but the work.
 */
import type { RecordsEnvironment } from './environment.ts'
import type { Manifest } from './manifest.ts'
import { RecordReader } from './record-reader.ts'
import { type SegmentLimits, SegmentSink } from './segment-sink.ts'
import type { SegmentStore } from './segment-store.ts'

/**
 * Puts every row version that is committed and not yet in a segment into one, but no tombstones;
 * superseded versions too, for queries of the past. Returns the new manifest, or the present one when
 * there was nothing to do.
 */
export function flush(
  records: RecordsEnvironment,
  store: SegmentStore,
  limits: SegmentLimits,
): Manifest {
  const manifest = store.manifest()
  records.root.resetReadTxn()
  const reader = new RecordReader(records)
  const transaction = records.root.useReadTransaction()
  try {
    const through = reader.lastTransaction(transaction)
    if (through <= manifest.flushedThrough) return manifest
    const sink = new SegmentSink(store, manifest, limits)
    for (const object of reader.objectsWrittenAfter(manifest.flushedThrough, transaction)) {
      const rows = reader.readDelta(object, manifest.flushedThrough, through, transaction)
      for (const { key, view } of rows) {
        if (!view.isTombstone) sink.add({ object, version: key, row: view })
      }
    }
    const { segments, nextSegment, last } = sink.finish()
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
