/**
 * Chooses the segments that compaction merges. Pure: metadata in, ids out.
 *
 * Only neighbours are merged, in the order of rows (object, then pagination key, which is their age): then
 * what comes out overlaps nothing that the segments did not. Of all segments in that order:
 *
 * - One of at least half the full size is full, and ends a stretch of smaller ones.
 * - Neighbours in a stretch are merged once they are together three times as large as the largest of them,
 *   or three quarters of a full segment. So a row is rewritten once for each time that its segment becomes
 *   three times as large, and once more: five times from a hundredth of a full segment on.
 * - A stretch that was written before the full segment behind it is settled: nothing new comes to it. It is
 *   merged as a whole, and with one of the full segments around it if they fit into one. That rewrites at
 *   most one full segment for each that is made, and leaves no small one between large ones.
 *
 * All that goes for small segments, of half the full size, until there are many of these, and then for full ones. Those
 * that are oldest are merged first.
 *
 * Segments of superseded versions are merged with each other alone.
 */
import { compareRowKeys } from '../../type/transaction.ts'
import type { ManifestSegment } from '../segment/manifest.ts'
import { isSupersededWhole } from '../segment/metadata.ts'
import type { SegmentLimits } from '../segment/segment-sink.ts'

/** Of a full segment: from here on, one is only merged with what is left small beside it. */
const fullShare = 1 / 2

/** What neighbours have together, by the largest of them, so that they are merged. */
const leastGrowth = 3

/** Neighbours with so much are merged however small some are: it is the last time. */
const lastShare = 3 / 4

/** What is full among small segments, of a full one: what many fresh rows make, a quarter, is half of it. */
const smallShare = 1 / 2

/** So many are left small. They cost queries little. */
const usuallySmall = 8

/** Segments of which one is larger by so much are about alike. */
const alike = 4 / 3

export interface CompactionOptions {
  readonly limits: SegmentLimits
  /** Merge whatever can be merged, and do not wait for more. */
  readonly eager?: boolean
  /** Merge only what makes a segment of less than half the full size, which takes a second at most. */
  readonly onlySmall?: boolean
  /** Segments of less than half the full size that are left as they are; 8 if not given. */
  readonly mostSmall?: number
}

/** Ids of at least two segments to merge into one or more; undefined when all is well. */
export function chooseCompaction(
  segments: readonly ManifestSegment[],
  options: CompactionOptions,
): readonly number[] | undefined {
  const current = segments.filter(({ metadata }) => !isSupersededWhole(metadata))
  const past = segments.filter(({ metadata }) => isSupersededWhole(metadata))
  return chooseMerge(current, options) ?? (past.length > 1 ? chooseMerge(past, options) : undefined)
}

function chooseMerge(
  segments: readonly ManifestSegment[],
  options: CompactionOptions,
): readonly number[] | undefined {
  const { limits, eager = false } = options
  const most = eager || mayBeLarge(segments, options) ? limits : smallOf(limits)
  const sized = segments
    .map((segment) => ({ segment, share: shareOf(segment, most) }))
    .sort((a, b) => compareStart(a.segment, b.segment))
  const stretches = stretchesOf(sized)
  const grown = quickest(stretches.flatMap((stretch) => growing(stretch.small)))
  if (grown) return ids(grown)
  for (const stretch of stretches) {
    const found = eager || isSettled(stretch) ? settled(stretch) : undefined
    if (found) return ids(found)
  }
  return undefined
}

function mayBeLarge(
  segments: readonly ManifestSegment[],
  { limits, onlySmall = false, mostSmall = usuallySmall }: CompactionOptions,
): boolean {
  if (onlySmall) return false
  return segments.filter((segment) => shareOf(segment, limits) < fullShare).length > mostSmall
}

interface SizedSegment {
  readonly segment: ManifestSegment
  /** Of a full segment. */
  readonly share: number
}

/** Neighbours that are not full, and the full ones around them. */
interface Stretch {
  readonly before: SizedSegment | undefined
  readonly small: readonly SizedSegment[]
  readonly after: SizedSegment | undefined
}

function smallOf({ rows, rowBytes }: SegmentLimits): SegmentLimits {
  return { rows: rows * smallShare, rowBytes: rowBytes * smallShare }
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

function stretchesOf(sized: readonly SizedSegment[]): Stretch[] {
  const stretches: Stretch[] = []
  for (let from = 0; from < sized.length; from++) {
    let to = from
    while (to < sized.length && sized[to]!.share < fullShare) to++
    if (to > from) {
      stretches.push({ before: sized[from - 1], small: sized.slice(from, to), after: sized[to] })
    }
    from = to
  }
  return stretches
}

/** For each of these segments the largest run from it on that has grown enough to be merged. */
function growing(small: readonly SizedSegment[]): (readonly SizedSegment[])[] {
  const runs: (readonly SizedSegment[])[] = []
  for (let from = 0; from < small.length; from++) {
    let share = 0
    let largest = 0
    let end = 0
    for (let to = from; to < small.length && share + small[to]!.share <= 1; to++) {
      share += small[to]!.share
      largest = Math.max(largest, small[to]!.share)
      if (to > from && (share >= largest * leastGrowth || share >= lastShare)) end = to + 1
    }
    if (end > 0) runs.push(small.slice(from, end))
  }
  return runs
}

/**
 * The run whose largest segment is the smallest, as small ones are the most; of runs that are about alike the first,
 * or one in the middle would leave too few on both sides to be merged.
 */
function quickest(runs: readonly (readonly SizedSegment[])[]): readonly SizedSegment[] | undefined {
  const largest = runs.map((run) => Math.max(...run.map(({ share }) => share)))
  const least = Math.min(...largest)
  return runs[largest.findIndex((share) => share <= least * alike)]
}

/** Whether all of it was written before what comes after it. */
function isSettled({ small, after }: Stretch): boolean {
  if (after === undefined) return false
  const { firstTransaction } = after.segment.metadata
  return small.every(({ segment }) => segment.metadata.lastTransaction < firstTransaction)
}

/** What to merge of a stretch that nothing is waited for in. */
function settled({ before, small, after }: Stretch): readonly SizedSegment[] | undefined {
  const share = shareOfAll(small)
  if (before && share + before.share <= 1) return [before, ...small]
  if (after && share + after.share <= 1) return [...small, after]
  const found: SizedSegment[] = []
  for (const each of small) {
    if (shareOfAll(found) + each.share > 1) break
    found.push(each)
  }
  return found.length > 1 ? found : undefined
}

function shareOfAll(sized: readonly SizedSegment[]): number {
  return sized.reduce((sum, { share }) => sum + share, 0)
}

function ids(sized: readonly SizedSegment[]): readonly number[] {
  return sized.map(({ segment }) => segment.id)
}
