/** Narrows a scan to the granules that may hold the texts that its predicates ask for. */
import type { BoundExpression } from '../../binder/bound.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'
import type { PrunedRange } from '../../executor/scan/prune.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { ObjectRows, SegmentMetadata } from '../../storage/segment/metadata.ts'
import type { Path } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import type { ObjectSegments } from './object-segments.ts'
import { wantedTexts } from './wanted-texts.ts'

/** Looks texts of a field up: see `storage/segment/key-index.ts`. */
export interface KeyFinder {
  findKeys(
    path: readonly string[],
    texts: readonly string[],
  ): ReadonlyMap<number, ReadonlySet<number>>
}

interface Candidates {
  readonly path: Path
  readonly bySegment: ReadonlyMap<number, ReadonlySet<number>>
}

export interface NarrowedRanges {
  readonly ranges: readonly PrunedRange[]
  /** Rows of the ranges that were given and are not in these. */
  readonly skipped: number
}

export class KeyCandidates {
  readonly #candidates: readonly Candidates[]

  /** @param semiJoinSets those that predicates ask, as far as they are known */
  constructor(
    predicates: readonly BoundExpression[],
    semiJoinSets: readonly SemiJoinSet[],
    finder: KeyFinder,
  ) {
    this.#candidates = predicates.flatMap((predicate) => {
      const wanted = wantedTexts(predicate, semiJoinSets)
      if (!wanted) return []
      return [{ path: wanted.path, bySegment: finder.findKeys(wanted.path, wanted.texts) }]
    })
  }

  /** By segment, 1 where a segment has none of the texts, or of a set of them; undefined when none are looked for. */
  without(parts: ObjectSegments): Uint8Array | undefined {
    if (this.#candidates.length === 0) return undefined
    const without = new Uint8Array(parts.count)
    for (const { path, bySegment } of this.#candidates) {
      // A value of another kind may equal a text too.
      const holdsTexts = parts.holdsTexts(path)
      for (let i = 0; i < without.length; i++) {
        if (holdsTexts[i] === 1 && bySegment.get(parts.segments[i]!)?.size === 0) without[i] = 1
      }
    }
    return without
  }

  /** For each text or set of texts that is looked for: the granules of a segment that may hold one. */
  granulesOf(
    segment: number,
    metadata: SegmentMetadata,
    objectRows: ObjectRows,
  ): readonly ReadonlySet<number>[] {
    const granules: ReadonlySet<number>[] = []
    for (const { path, bySegment } of this.#candidates) {
      const found = bySegment.get(segment)
      // A value of another kind may equal a text too.
      if (found && new Zones(metadata, objectRows, []).textBounds(path) !== 'unknown')
        granules.push(found)
    }
    return granules
  }
}

/** What of the ranges lies in all of the sets of granules. */
export function narrowRanges(
  ranges: readonly PrunedRange[],
  granules: readonly ReadonlySet<number>[],
): NarrowedRanges {
  if (granules.length === 0) return { ranges, skipped: 0 }
  const left: { from: number; to: number }[] = []
  let skipped = 0
  for (const range of ranges) {
    for (let from = range.from; from < range.to; ) {
      const granule = Math.floor(from / granuleRows)
      const to = Math.min(range.to, (granule + 1) * granuleRows)
      if (!granules.every((found) => found.has(granule))) skipped += to - from
      else if (left.at(-1)?.to === from) left.at(-1)!.to = to
      else left.push({ from, to })
      from = to
    }
  }
  return { ranges: left, skipped }
}
