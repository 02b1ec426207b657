/**
 * Leaves out segments and granules in which no row can pass a predicate, by what the segment's
 * metadata says of its columns.
 */
import type { BoundExpression, BoundSortKey } from '../../binder/bound.ts'
import type { ObjectRows, SegmentMetadata } from '../../storage/segment/metadata.ts'
import type { Path } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import type { SemiJoinSet } from '../expression/semi-join-set.ts'
import { type BoundsList, matchingZones, mayMatch, type ZoneList } from './may-match.ts'
import { Zones } from './zones.ts'

export interface PrunedRange {
  readonly from: number
  readonly to: number
}

export interface Pruning {
  /** What is left: ranges of whole granules, cut at the part's ends. */
  readonly ranges: readonly PrunedRange[]
  /** For each predicate, how many rows it left out. */
  readonly skipped: readonly number[]
}

/**
 * The rows of an object's part of a segment in which every predicate may match.
 *
 * @param semiJoinSets the sets that predicates ask, as far as they are known
 */
export function pruneRows(
  metadata: SegmentMetadata,
  rows: ObjectRows,
  predicates: readonly BoundExpression[],
  semiJoinSets: readonly SemiJoinSet[],
): Pruning {
  const skipped = predicates.map(() => 0)
  if (predicates.length === 0) return { ranges: [{ from: rows.from, to: rows.to }], skipped }
  const whole = new Zones(metadata, rows, semiJoinSets)
  const excluding = predicates.findIndex((predicate) => !mayMatch(predicate, whole))
  if (excluding >= 0) {
    skipped[excluding] = rows.to - rows.from
    return { ranges: [], skipped }
  }
  const granules = new PartGranules(whole, rows)
  const left = new Uint8Array(granules.count).fill(1)
  for (const [i, predicate] of predicates.entries()) {
    const matching = matchingZones(predicate, granules)
    if (matching) skipped[i] = leaveOut(left, matching, rows)
  }
  return { ranges: rangesOf(left, rows), skipped }
}

/** The granules of a part, each of which may match as a whole. */
class PartGranules implements ZoneList {
  readonly count: number
  readonly #first: number
  readonly #zones: Zones

  constructor(zones: Zones, { from, to }: ObjectRows) {
    this.#zones = zones
    this.#first = Math.floor(from / granuleRows)
    this.count = Math.floor((to - 1) / granuleRows) - this.#first + 1
  }

  boundsOf(path: Path, type: 'number' | 'timestamp'): BoundsList | undefined | 'unknown' {
    const column = this.#zones.numberColumn(path, type)
    if (column === undefined || column === 'unknown') return column
    const { granuleMinimums: minimums, granuleMaximums: maximums } = column
    return { minimums, maximums, first: this.#first }
  }

  askEach(predicate: BoundExpression): Uint8Array | undefined {
    const zones = this.#zones
    const matching = new Uint8Array(this.count)
    // Texts have no bounds by granule.
    if (predicate.kind === 'comparison') return mayMatch(predicate, zones) ? undefined : matching
    for (let i = 0; i < matching.length; i++) {
      zones.granule = this.#first + i
      matching[i] = mayMatch(predicate, zones) ? 1 : 0
    }
    zones.granule = undefined
    return matching
  }
}

/** Returns how many rows the granules have that were left and do not match. */
function leaveOut(left: Uint8Array, matching: Uint8Array, rows: ObjectRows): number {
  let skipped = 0
  for (let i = 0; i < left.length; i++) {
    if (left[i] === 0 || matching[i] !== 0) continue
    left[i] = 0
    const { from, to } = granuleAt(rows, i)
    skipped += to - from
  }
  return skipped
}

function rangesOf(left: Uint8Array, rows: ObjectRows): PrunedRange[] {
  const ranges: { from: number; to: number }[] = []
  for (let i = 0; i < left.length; i++) {
    if (left[i] === 0) continue
    const { from, to } = granuleAt(rows, i)
    const last = ranges.at(-1)
    if (last?.to === from) last.to = to
    else ranges.push({ from, to })
  }
  return ranges
}

/** The part's rows in one of its granules. */
function granuleAt(rows: ObjectRows, i: number): PrunedRange {
  const start = (Math.floor(rows.from / granuleRows) + i) * granuleRows
  return { from: Math.max(rows.from, start), to: Math.min(rows.to, start + granuleRows) }
}

/** A first sort key that is known to be reached by as many rows as are wanted. */
export interface SortThreshold {
  readonly kind: 'number' | 'timestamp'
  readonly value: number
}

/**
 * The best first sort key that rows of a segment, or of a granule, may have: their maximum when sorting descending,
 * else their minimum; `null` when none has a value. Undefined when that is not known.
 */
export function bestKey(
  { expression, descending }: BoundSortKey,
  zones: Zones,
): SortThreshold | { readonly kind: 'null' } | undefined {
  if (expression.kind !== 'field') return undefined
  for (const kind of ['number', 'timestamp'] as const) {
    const bounds = zones.onlyBounds(expression.path, kind)
    const value = descending ? bounds?.maximum : bounds?.minimum
    if (value !== undefined) return { kind, value }
  }
  return zones.mayHoldAnything(expression.path) ? undefined : { kind: 'null' }
}

/** Whether rows of a segment, or of a granule, may have a first sort key that comes after one, or ties with it. */
export function mayFollow(
  { expression, descending }: BoundSortKey,
  zones: Zones,
  { kind, value }: SortThreshold,
): boolean {
  if (expression.kind !== 'field') return true
  const bounds = zones.onlyBounds(expression.path, kind)
  // Nulls come last.
  if (!bounds || zones.mayHoldNull(expression.path)) return true
  const { minimum, maximum = Number.POSITIVE_INFINITY } = bounds
  return descending ? minimum <= value : maximum >= value
}
