/**
 * Sets of rows, each with the best place that one of them may have in a plan's order. They are taken from the best on,
 * and cut where others may have better rows than their last ones: what was found and comes before all that are left is
 * what the answer begins with.
 */
import type { BoundSortKey } from '../../binder/bound.ts'
import type { OrderBound } from '../../executor/order/order-bound.ts'
import { thresholdOf } from '../../executor/order/row-buffer.ts'
import { bestKey, mayFollow, type SortThreshold } from '../../executor/scan/prune.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { fromPlain } from '../../type/plain.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { granuleRows } from '../../vector/column.ts'
import { lowerBound, paginationKeyAt } from '../../vector/row-keys.ts'
import {
  comparePlaces,
  isSegmentRange,
  joinRanges,
  narrowRange,
  openKeys,
  rowCountOf,
  rowsOfRanges,
  type ScanRange,
  type SegmentRange,
} from './scan-range.ts'

type KeyReads = Pick<TaskReads, 'openSegment'>

/** What comes first in an order is less, by the first number and then by the second. */
interface Rank {
  readonly first: number
  readonly second: number
}

interface OrderedSource {
  readonly range: ScanRange
  readonly best: Rank
}

interface SourceOrder {
  /** What no row of the range comes before. */
  bestOf(range: ScanRange): Rank
  boundOf(best: Rank): OrderBound
  /** The same rows in ranges of which more is known; undefined where there is no more to know. */
  closer(range: ScanRange, reads: KeyReads): readonly ScanRange[] | undefined
}

/** Any row may come first; only those without a value are left. */
const [anyRank, nullRank] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

/** Looks at keys of rows, within what has given it `reads`. */
export class OrderedSources {
  readonly #reads: KeyReads
  readonly #order: SourceOrder
  readonly #isByAge: boolean
  /** The best last. */
  readonly #sources: OrderedSource[]

  constructor(ranges: readonly ScanRange[], plan: PhysicalPlan, reads: KeyReads) {
    const { sort, after } = plan
    this.#reads = reads
    this.#isByAge = sort.length === 0
    this.#order = this.#isByAge ? byAge : bySortKey(plan, ranges)
    const left = this.#isByAge && after ? olderThan(after, ranges, reads) : ranges
    this.#sources = left.map((range) => ({ range, best: this.#order.bestOf(range) }))
    this.#sources.sort((a, b) => compareRanks(b.best, a.best))
  }

  /** Those that were not taken. */
  get ranges(): ScanRange[] {
    return this.#sources.map(({ range }) => range)
  }

  /** What no row of these comes before; undefined when there are none. */
  get bound(): OrderBound | undefined {
    const best = this.#best()?.best
    return best && this.#order.boundOf(best)
  }

  /** Takes out the best of about so many rows, and all of which any row may come first. */
  take(rows: number): ScanRange[] {
    const isAll = rowsOfRanges(this.ranges) <= rows
    const taken = isAll ? this.#sources.splice(0).map(({ range }) => range) : this.#takeBest(rows)
    const rankOf = (range: ScanRange) => this.#order.bestOf(range)
    return joinRanges(taken.sort(comparePlaces), 0).sort((a, b) => {
      return compareRanks(rankOf(a), rankOf(b))
    })
  }

  /**
   * Takes out the newest rows, as far as each is known to be in the answer. Returns how many they are.
   *
   * @param isKnown whether every row of a range is
   */
  skip(atMost: number, isKnown: (range: ScanRange) => boolean): number {
    for (let skipped = 0; ; ) {
      const source = this.#best()
      if (skipped === atMost || !source) return skipped
      const newest = this.#newestOf(source.range, atMost - skipped)
      const next = this.#sources.at(-2)
      const isAlone = !next || compareRanks(ageRank(newest.oldest), next.best) < 0
      if (!isAlone || !isKnown(newest)) return skipped
      this.#remove(source, newest)
      skipped += rowCountOf(newest)
    }
  }

  #takeBest(rows: number): ScanRange[] {
    const taken: ScanRange[] = []
    for (let left = rows; ; ) {
      const source = this.#best()
      if (!source) return taken
      const { range, best } = source
      const mayWait = best.first !== anyRank
      if (mayWait && left <= 0) return taken
      const first = this.#isByAge ? this.#newestOf(range, left) : range
      left -= rowCountOf(first)
      if (mayWait && left < 0 && taken.length > 0) return taken
      this.#remove(source, first)
      taken.push(first)
    }
  }

  /** The best of all, of which no more is known. */
  #best(): OrderedSource | undefined {
    for (;;) {
      const source = this.#sources.at(-1)
      const closer = source && this.#order.closer(source.range, this.#reads)
      if (!closer) return source
      this.#sources.pop()
      for (const range of closer) this.#add(range)
    }
  }

  /** The newest of the best range's rows, at most so many: no more than a granule where others may be as new as its oldest. */
  #newestOf(range: ScanRange, rows: number): ScanRange {
    const { from, to } = range.input
    const next = this.#sources.at(-2)
    const isAlone = !next || compareRanks(ageRank(range.oldest), next.best) < 0
    const size = isAlone ? rows : Math.min(rows, granuleRows)
    if (to - from <= size) return range
    // Whole granules, so that no two steps read one.
    const whole = Math.ceil((to - size) / granuleRows) * granuleRows
    return rowsWithin(range, size < granuleRows ? to - size : whole, to, this.#reads)
  }

  #remove({ range }: OrderedSource, rows: ScanRange): void {
    this.#sources.pop()
    const [start, end] = [range.input.from, rows.input.from]
    if (start < end) this.#add(rowsWithin(range, start, end, this.#reads))
  }

  #add(range: ScanRange): void {
    const best = this.#order.bestOf(range)
    let at = this.#sources.length
    while (at > 0 && compareRanks(this.#sources[at - 1]!.best, best) < 0) at--
    this.#sources.splice(at, 0, { range, best })
  }
}

function compareRanks(a: Rank, b: Rank): number {
  // Infinite ones have no difference.
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.second - b.second
}

function rowsWithin(range: ScanRange, from: number, to: number, reads: KeyReads): ScanRange {
  const { keys } = openKeys(range.input, reads)
  const bounds = { oldest: paginationKeyAt(keys, from), newest: paginationKeyAt(keys, to - 1) }
  return narrowRange(range, { from, to }, bounds)
}

function olderThan(after: RowKey, ranges: readonly ScanRange[], reads: KeyReads): ScanRange[] {
  return ranges.flatMap((range) => {
    if (compareRowKeys(range.newest, after) < 0) return [range]
    const { from, to } = range.input
    const end = lowerBound(openKeys(range.input, reads).keys, from, to, after)
    return end > from ? [rowsWithin(range, from, end, reads)] : []
  })
}

/** The newest rows come first. */
const byAge: SourceOrder = {
  // Before others that are as new, if it may turn out to be older.
  bestOf: (range) => {
    const { first, second } = ageRank(range.newest)
    return { first, second: isCut(range) ? second - 1 / 2 : second }
  },
  boundOf: ({ first, second }) => ({
    kind: 'age',
    newest: { transaction: -first, index: -second },
  }),
  closer: (range, reads) => {
    return isCut(range) ? [rowsWithin(range, range.input.from, range.input.to, reads)] : undefined
  },
}

/** Whether pruning has left the range of a segment, of which it has the bounds still. */
function isCut(range: ScanRange): boolean {
  if (!isSegmentRange(range)) return false
  const { input, objectRows, newest } = range
  return (
    newest === objectRows.lastPagination &&
    (input.to < objectRows.to || input.from > objectRows.from)
  )
}

function ageRank({ transaction, index }: RowKey): Rank {
  return { first: -transaction, second: -index }
}

/** The best values of the first sort key come first: ranges of which they are not known before all others. */
function bySortKey(
  { access, sort, afterSorted }: PhysicalPlan,
  ranges: readonly ScanRange[],
): SourceOrder {
  const key = sort[0]!
  const sign = key.descending ? -1 : 1
  const isOrdered = access.kind === 'scan' && access.order === 'best'
  const [first] = afterSorted?.values ?? []
  const place = first === undefined ? undefined : thresholdOf(fromPlain(first))
  const kind = isOrdered ? kindOf(key, ranges) : undefined
  const bestOf = (range: ScanRange): number => {
    const best = kind && isSegmentRange(range) ? bestKey(key, zonesOf(range)) : undefined
    if (best?.kind === 'null') return nullRank
    if (!best || best.kind !== kind) return anyRank
    const from = place?.kind === kind ? place.value * sign : anyRank
    return Math.max(from, best.value * sign)
  }
  return {
    bestOf: (range) => ({ first: bestOf(range), second: 0 }),
    boundOf: ({ first }) => {
      if (first === nullRank) return { kind: 'null' }
      return kind && first !== anyRank ? { kind, value: first * sign } : { kind: 'any' }
    },
    closer: (range) => {
      if (!isSegmentRange(range) || bestOf(range) === anyRank) return undefined
      const granules = granulesOf(range)
      if (granules.length === 1) return undefined
      return place ? granules.filter((each) => mayFollow(key, zonesOf(each), place)) : granules
    },
  }
}

/** The kind of the values that have an order by their bounds. */
function kindOf(
  key: BoundSortKey,
  ranges: readonly ScanRange[],
): SortThreshold['kind'] | undefined {
  for (const range of ranges) {
    const best = isSegmentRange(range) ? bestKey(key, zonesOf(range)) : undefined
    if (best && best.kind !== 'null') return best.kind
  }
  return undefined
}

function granulesOf(range: SegmentRange): SegmentRange[] {
  const { from, to } = range.input
  const granules: SegmentRange[] = []
  for (let start = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / granuleRows) + 1) * granuleRows)
    granules.push(narrowRange(range, { from: start, to: end }))
    start = end
  }
  return granules
}

/** What is known of the granule that the range is in, or of all if it is in several. */
function zonesOf({ metadata, objectRows, input: { from, to } }: SegmentRange): Zones {
  const zones = new Zones(metadata, objectRows, [])
  const [first, last] = [from, to - 1].map((row) => Math.floor(row / granuleRows))
  if (first === last) zones.granule = first
  return zones
}
