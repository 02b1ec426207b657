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
  isSegmentPiece,
  joinedPieces,
  openKeys,
  type Piece,
  rowCountOf,
  rowsOfPiece,
  rowsOfPieces,
  type SegmentPiece,
} from './piece.ts'

type KeyReads = Pick<TaskReads, 'openSegment'>

/** What comes first in an order is less, by the first number and then by the second. */
interface Rank {
  readonly first: number
  readonly second: number
}

interface OrderedSource {
  readonly piece: Piece
  readonly best: Rank
}

interface SourceOrder {
  /** What no row of the piece comes before. */
  bestOf(piece: Piece): Rank
  boundOf(best: Rank): OrderBound
  /** The same rows in pieces of which more is known; undefined where there is no more to know. */
  closer(piece: Piece, reads: KeyReads): readonly Piece[] | undefined
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

  constructor(pieces: readonly Piece[], plan: PhysicalPlan, reads: KeyReads) {
    const { sort, after } = plan
    this.#reads = reads
    this.#isByAge = sort.length === 0
    this.#order = this.#isByAge ? byAge : bySortKey(plan, pieces)
    const left = this.#isByAge && after ? olderThan(after, pieces, reads) : pieces
    this.#sources = left.map((piece) => ({ piece, best: this.#order.bestOf(piece) }))
    this.#sources.sort((a, b) => compareRanks(b.best, a.best))
  }

  /** Those that were not taken. */
  get pieces(): Piece[] {
    return this.#sources.map(({ piece }) => piece)
  }

  /** What no row of these comes before; undefined when there are none. */
  get bound(): OrderBound | undefined {
    const best = this.#best()?.best
    return best && this.#order.boundOf(best)
  }

  /** Takes out the best of about so many rows, and all of which any row may come first. */
  take(rows: number): Piece[] {
    const isAll = rowsOfPieces(this.pieces) <= rows
    const taken = isAll ? this.#sources.splice(0).map(({ piece }) => piece) : this.#takeBest(rows)
    const rankOf = (piece: Piece) => this.#order.bestOf(piece)
    return joinedPieces(taken.sort(comparePlaces), 0).sort((a, b) => {
      return compareRanks(rankOf(a), rankOf(b))
    })
  }

  /**
   * Takes out the newest rows, as far as each is known to be in the answer. Returns how many they are.
   *
   * @param isKnown whether every row of a piece is
   */
  skip(atMost: number, isKnown: (piece: Piece) => boolean): number {
    for (let skipped = 0; ; ) {
      const source = this.#best()
      if (skipped === atMost || !source) return skipped
      const newest = this.#newestOf(source.piece, atMost - skipped)
      const next = this.#sources.at(-2)
      const isAlone = !next || compareRanks(ageRank(newest.oldest), next.best) < 0
      if (!isAlone || !isKnown(newest)) return skipped
      this.#remove(source, newest)
      skipped += rowCountOf(newest)
    }
  }

  #takeBest(rows: number): Piece[] {
    const taken: Piece[] = []
    for (let left = rows; ; ) {
      const source = this.#best()
      if (!source) return taken
      const { piece, best } = source
      const mayWait = best.first !== anyRank
      if (mayWait && left <= 0) return taken
      const first = this.#isByAge ? this.#newestOf(piece, left) : piece
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
      const closer = source && this.#order.closer(source.piece, this.#reads)
      if (!closer) return source
      this.#sources.pop()
      for (const piece of closer) this.#add(piece)
    }
  }

  /** The newest of the best piece's rows, at most so many: no more than a granule where others may be as new as its oldest. */
  #newestOf(piece: Piece, rows: number): Piece {
    const { from, to } = piece.input
    const next = this.#sources.at(-2)
    const isAlone = !next || compareRanks(ageRank(piece.oldest), next.best) < 0
    const size = isAlone ? rows : Math.min(rows, granuleRows)
    if (to - from <= size) return piece
    // Whole granules, so that no two steps read one.
    const whole = Math.ceil((to - size) / granuleRows) * granuleRows
    return rowsWithin(piece, size < granuleRows ? to - size : whole, to, this.#reads)
  }

  #remove({ piece }: OrderedSource, rows: Piece): void {
    this.#sources.pop()
    const [start, end] = [piece.input.from, rows.input.from]
    if (start < end) this.#add(rowsWithin(piece, start, end, this.#reads))
  }

  #add(piece: Piece): void {
    const best = this.#order.bestOf(piece)
    let at = this.#sources.length
    while (at > 0 && compareRanks(this.#sources[at - 1]!.best, best) < 0) at--
    this.#sources.splice(at, 0, { piece, best })
  }
}

function compareRanks(a: Rank, b: Rank): number {
  // Infinite ones have no difference.
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.second - b.second
}

function rowsWithin(piece: Piece, from: number, to: number, reads: KeyReads): Piece {
  const { keys } = openKeys(piece.input, reads)
  const bounds = { oldest: paginationKeyAt(keys, from), newest: paginationKeyAt(keys, to - 1) }
  return rowsOfPiece(piece, { from, to }, bounds)
}

function olderThan(after: RowKey, pieces: readonly Piece[], reads: KeyReads): Piece[] {
  return pieces.flatMap((piece) => {
    if (compareRowKeys(piece.newest, after) < 0) return [piece]
    const { from, to } = piece.input
    const end = lowerBound(openKeys(piece.input, reads).keys, from, to, after)
    return end > from ? [rowsWithin(piece, from, end, reads)] : []
  })
}

/** The newest rows come first. */
const byAge: SourceOrder = {
  // Before others that are as new, if it may turn out to be older.
  bestOf: (piece) => {
    const { first, second } = ageRank(piece.newest)
    return { first, second: isCut(piece) ? second - 1 / 2 : second }
  },
  boundOf: ({ first, second }) => ({
    kind: 'age',
    newest: { transaction: -first, index: -second },
  }),
  closer: (piece, reads) => {
    return isCut(piece) ? [rowsWithin(piece, piece.input.from, piece.input.to, reads)] : undefined
  },
}

/** Whether pruning has left the piece of a segment, of which it has the bounds still. */
function isCut(piece: Piece): boolean {
  if (!isSegmentPiece(piece)) return false
  const { input, part, newest } = piece
  return newest === part.lastPagination && (input.to < part.to || input.from > part.from)
}

function ageRank({ transaction, index }: RowKey): Rank {
  return { first: -transaction, second: -index }
}

/** The best values of the first sort key come first: pieces of which they are not known before all others. */
function bySortKey(
  { access, sort, afterSorted }: PhysicalPlan,
  pieces: readonly Piece[],
): SourceOrder {
  const key = sort[0]!
  const sign = key.descending ? -1 : 1
  const isOrdered = access.kind === 'scan' && access.order === 'best'
  const [first] = afterSorted?.values ?? []
  const place = first === undefined ? undefined : thresholdOf(fromPlain(first))
  const kind = isOrdered ? kindOf(key, pieces) : undefined
  const bestOf = (piece: Piece): number => {
    const best = kind && isSegmentPiece(piece) ? bestKey(key, zonesOf(piece)) : undefined
    if (best?.kind === 'null') return nullRank
    if (!best || best.kind !== kind) return anyRank
    const from = place?.kind === kind ? place.value * sign : anyRank
    return Math.max(from, best.value * sign)
  }
  return {
    bestOf: (piece) => ({ first: bestOf(piece), second: 0 }),
    boundOf: ({ first }) => {
      if (first === nullRank) return { kind: 'null' }
      return kind && first !== anyRank ? { kind, value: first * sign } : { kind: 'any' }
    },
    closer: (piece) => {
      if (!isSegmentPiece(piece) || bestOf(piece) === anyRank) return undefined
      const granules = granulesOf(piece)
      if (granules.length === 1) return undefined
      return place ? granules.filter((each) => mayFollow(key, zonesOf(each), place)) : granules
    },
  }
}

/** The kind of the values that have an order by their bounds. */
function kindOf(key: BoundSortKey, pieces: readonly Piece[]): SortThreshold['kind'] | undefined {
  for (const piece of pieces) {
    const best = isSegmentPiece(piece) ? bestKey(key, zonesOf(piece)) : undefined
    if (best && best.kind !== 'null') return best.kind
  }
  return undefined
}

function granulesOf(piece: SegmentPiece): SegmentPiece[] {
  const { from, to } = piece.input
  const granules: SegmentPiece[] = []
  for (let start = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / granuleRows) + 1) * granuleRows)
    granules.push(rowsOfPiece(piece, { from: start, to: end }))
    start = end
  }
  return granules
}

/** What is known of the granule that the piece is in, or of all if it is in several. */
function zonesOf({ metadata, part, input: { from, to } }: SegmentPiece): Zones {
  const zones = new Zones(metadata, part, [])
  const [first, last] = [from, to - 1].map((row) => Math.floor(row / granuleRows))
  if (first === last) zones.granule = first
  return zones
}
