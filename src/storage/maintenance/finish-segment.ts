/**
 * Finishing: the words of large segments are indexed when there is nothing else to do. Until then they
 * answer the same, only not as fast. Indexes are stored beside their segment, which is not touched.
 */
import type { Manifest, ManifestSegment } from '../segment/manifest.ts'
import { isWorthFinishing, type SegmentStore } from '../segment/segment-store.ts'
import { rowIndexes } from '../segment/text-indexes.ts'

/**
 * Finishes one segment; false when all are.
 *
 * @param checkpoint called now and then; what it throws ends the work, and nothing has changed
 */
export function finishSegment(
  store: SegmentStore,
  checkpoint: () => void = () => undefined,
): boolean {
  const [found] = unfinished(store.manifest())
  if (!found) return false
  // Indexes of dictionaries stand in the file, and those of older segments were cut in another way.
  const isOlder = found.metadata.gramIndexes !== undefined
  store.writeTextIndexes(found.id, rowIndexes(store.open(found.id), isOlder, checkpoint))
  return true
}

/** Those that are to be finished, the largest first, which are merged the least often. */
export function unfinished({ segments }: Manifest): ManifestSegment[] {
  return segments
    .filter(({ metadata }) => isWorthFinishing(metadata) && metadata.textIndexes === undefined)
    .sort((a, b) => b.metadata.rowBytes - a.metadata.rowBytes)
}
