/**
 * Makes damaged segments again from the row store: one or more new ones take their place in the manifest, all at once.
 * Until then the damaged ones stay in it, so that whoever ends here has lost nothing.
 */
import type { RecordsEnvironment } from '../environment.ts'
import { readLeftOut } from '../read/left-out.ts'
import { lostVersions } from '../read/lost-versions.ts'
import { namedBy } from '../segment/manifest.ts'
import { type SegmentLimits, SegmentSink } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { findLostRows } from './find-lost-rows.ts'
import { currentThroughOf } from './flush.ts'
import { type RecordsRead, writeSegments } from './write-segments.ts'

/** Rows between two of them. */
const rowsPerCheckpoint = 256

/**
 * Puts new segments in the place of damaged ones; false when the manifest names none of these.
 *
 * @param checkpoint called now and then; what it throws ends the work, and nothing has changed
 */
export function rebuildSegments(
  records: RecordsEnvironment,
  store: SegmentStore,
  ids: readonly number[],
  limits: SegmentLimits,
  checkpoint: () => void = () => undefined,
): boolean {
  const manifest = store.manifest()
  const named = new Set(namedBy(manifest))
  const damaged = new Set(ids.filter((id) => named.has(id)))
  if (damaged.size === 0) return false
  const begin = ({ reader, transaction }: RecordsRead) => {
    const through = reader.lastTransaction(transaction)
    return new SegmentSink(store, manifest, limits, currentThroughOf(reader, through, transaction))
  }
  writeSegments(records, begin, (sink, { reader, transaction }) => {
    const leftOut = readLeftOut(records.progress)
    let added = 0
    for (const rows of findLostRows(reader, leftOut, store, manifest, damaged, transaction)) {
      for (const { key, view } of lostVersions(reader, rows, transaction)) {
        if (++added % rowsPerCheckpoint === 0) checkpoint()
        sink.add({ object: rows.object, version: key, row: view })
      }
    }
    const { segments, nextSegment, last } = sink.finish()
    const unreadable = (manifest.unreadable ?? []).filter((id) => !damaged.has(id))
    store.commit(
      manifest,
      {
        flushedThrough: manifest.flushedThrough,
        nextSegment,
        segments: [...manifest.segments.filter(({ id }) => !damaged.has(id)), ...segments],
        unreadable: unreadable.length > 0 ? unreadable : undefined,
      },
      last,
    )
  })
  return true
}
