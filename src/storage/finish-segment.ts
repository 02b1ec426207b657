/**
 * Finishing: what takes long and can wait is done to a segment when there is nothing else to do, which
 * means to write it once more. Until then it answers the same, only not as fast.
 */
import { compact } from './compaction.ts'
import type { RecordsEnvironment } from './environment.ts'
import type { Manifest, ManifestSegment } from './manifest.ts'
import type { SegmentLimits } from './segment-sink.ts'
import type { SegmentStore } from './segment-store.ts'

/**
 * Smaller segments are soon merged with others. A search of all fields takes some 4 ms per megabyte of rows
 * where there is no index, as long as in a hundred megabytes where there is one.
 */
const finishedFromRows = 2 ** 12
const finishedFromRowBytes = 2 ** 22

/**
 * Finishes one segment; false when all are.
 *
 * @param checkpoint called now and then; what it throws ends the work, and nothing has changed
 */
export function finishSegment(
  records: RecordsEnvironment,
  store: SegmentStore,
  limits: SegmentLimits,
  checkpoint: () => void = () => undefined,
): boolean {
  const found = unfinished(store.manifest())
  if (!found) return false
  compact(records, store, [found.id], { limits, finish: checkpoint })
  return true
}

/**
 * The oldest that is to be finished. They lie one after the other on disk, and LMDB keeps a segment in one
 * piece: what the first ones leave is room for those that follow, which are somewhat larger.
 */
export function unfinished({ segments }: Manifest): ManifestSegment | undefined {
  return segments.find(
    ({ metadata: { rowCount, rowBytes, isFinished } }) =>
      !isFinished && (rowCount >= finishedFromRows || rowBytes >= finishedFromRowBytes),
  )
}
