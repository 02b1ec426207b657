/**
 * Chooses the segments that compaction merges. Pure: metadata in, ids out.
 *
 * Segments are sorted into tiers by size, each four times as large as the one before. Four segments
 * of a tier make one of the next, so a row is rewritten once per tier: about four times from the
 * smallest flush to a full segment. A segment of at least half the full size stays as it is.
 *
 * Of a tier's segments, those are merged that lie next to each other in the order of rows (object,
 * then pagination key), for then the ranges of what comes out overlap little.
 */
import { compareRowKeys } from '../type/transaction.ts'
import type { ManifestSegment } from './manifest.ts'
import type { SegmentLimits } from './segment-sink.ts'

const tierFactor = 4
const fullShare = 1 / 2

export interface CompactionOptions {
  readonly limits: SegmentLimits
  /** Merge whatever can be merged, and do not wait for a tier to fill. */
  readonly eager?: boolean
}

/** Ids of at least two segments to merge into one or more; undefined when all is well. */
export function chooseCompaction(
  segments: readonly ManifestSegment[],
  { limits, eager = false }: CompactionOptions,
): readonly number[] | undefined {
  const sized = segments
    .map((segment) => ({ segment, share: shareOf(segment, limits) }))
    .filter(({ share }) => share < fullShare)
    .sort((a, b) => compareStart(a.segment, b.segment))
  if (eager) return ids(neighbours(sized, 2))
  const tiers = new Map<number, SizedSegment[]>()
  for (const item of sized) {
    const tier = Math.floor(Math.log(item.share / fullShare) / Math.log(tierFactor))
    const known = tiers.get(tier)
    if (known) known.push(item)
    else tiers.set(tier, [item])
  }
  // Small ones first: they are the most, and merging them is the quickest.
  for (const tier of [...tiers.keys()].sort((a, b) => a - b)) {
    const found = ids(neighbours(tiers.get(tier)!, tierFactor))
    if (found !== undefined) return found
  }
  return undefined
}

interface SizedSegment {
  readonly segment: ManifestSegment
  /** Of a full segment. */
  readonly share: number
}

function shareOf({ metadata }: ManifestSegment, limits: SegmentLimits): number {
  return Math.max(metadata.rowCount / limits.rows, metadata.rowBytes / limits.rowBytes)
}

function compareStart(a: ManifestSegment, b: ManifestSegment): number {
  const first = a.metadata.objects[0]!
  const second = b.metadata.objects[0]!
  return (
    first.object - second.object ||
    compareRowKeys(first.firstPagination, second.firstPagination) ||
    a.id - b.id
  )
}

/** The first run of neighbours, as long as they fit in one segment, that has `atLeast`. */
function neighbours(
  sized: readonly SizedSegment[],
  atLeast: number,
): readonly SizedSegment[] | undefined {
  for (let from = 0; from + atLeast <= sized.length; from++) {
    let to = from
    let share = 0
    while (to < sized.length && share + sized[to]!.share <= 1) share += sized[to++]!.share
    if (to - from >= atLeast) return sized.slice(from, to)
  }
  return undefined
}

function ids(sized: readonly SizedSegment[] | undefined): readonly number[] | undefined {
  return sized?.map(({ segment }) => segment.id)
}
