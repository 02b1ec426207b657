/**
 * Of sorted rows of which few are wanted, the granules that may have the best ones: mostly these have all that are
 * wanted, however many others there are.
 */
import type { BoundSortKey, SortPosition } from '../../binder/bound.ts'
import { thresholdOf } from '../../executor/order/row-buffer.ts'
import type { SortThreshold } from '../../executor/scan/prune.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { fromPlain } from '../../type/plain.ts'
import { granuleRows } from '../../vector/column.ts'
import { mostInlinePrinted, mostInlineRows } from '../cost/cost.ts'
import { type SplitInputs, wantedRows } from './scan-rows.ts'
import { isSegmentPiece, type Piece, rowsOfPiece, type SegmentPiece } from './split.ts'

export interface BestGranules {
  /** The best granules first. */
  readonly split: SplitInputs
  /** No row of others has a better first sort key. */
  readonly behind: SortThreshold
}

/** Rows with the best value of the first sort key that they may have. */
interface RankedPiece {
  readonly piece: SegmentPiece
  readonly best: number
}

/** Undefined when that is not known, or when there are no others. */
export function bestGranules(split: SplitInputs, plan: PhysicalPlan): BestGranules | undefined {
  const { access, sort } = plan
  if (access.kind !== 'scan' || access.order !== 'best') return undefined
  if (split.others.length > 0 || wantedRows(plan) > mostInlinePrinted) return undefined
  const key = sort[0]!
  const fresh = split.pieces.filter((piece) => !isSegmentPiece(piece))
  const ranked = rankPieces(split.pieces.filter(isSegmentPiece), key)
  if (!ranked) return undefined
  const { kind, pieces } = ranked
  const mostRows = mostInlineRows(plan) - rowsOf(fresh)
  const granules: RankedPiece[] = []
  let opened = 0
  for (const { piece, best } of pieces) {
    const better = granules.filter((granule) => !isBetter(best, granule.best, key))
    if (rowsOf(better.map((granule) => granule.piece)) > mostRows) break
    granules.push(...granulesOf(piece, key, kind))
    opened++
  }
  inOrder(granules, key)
  let taken = 0
  for (let rows = 0; taken < granules.length; taken++) {
    rows += rowsOf([granules[taken]!.piece])
    if (rows > mostRows) break
  }
  const others = inOrder([...granules.slice(taken), ...pieces.slice(opened)], key)
  if (taken === 0 || others.length === 0) return undefined
  const best = granules.slice(0, taken).map(({ piece }) => piece)
  return {
    split: { ...split, pieces: [...fresh, ...best] },
    behind: { kind, value: others[0]!.best },
  }
}

/** Whether a row comes before all that have no better first sort key, whatever else decides between rows. */
export function isAhead(
  { values: [first] }: SortPosition,
  behind: SortThreshold,
  { sort: [key] }: PhysicalPlan,
): boolean {
  const own = first === undefined ? undefined : thresholdOf(fromPlain(first))
  return own?.kind === behind.kind && isBetter(own.value, behind.value, key!)
}

function isBetter(a: number, b: number, { descending }: BoundSortKey): boolean {
  return descending ? a > b : a < b
}

function inOrder(pieces: RankedPiece[], { descending }: BoundSortKey): RankedPiece[] {
  return pieces.sort((a, b) => (descending ? b.best - a.best : a.best - b.best))
}

/** Undefined unless all of them have numbers, or all times, and nothing else. */
function rankPieces(
  pieces: readonly SegmentPiece[],
  key: BoundSortKey,
): { readonly kind: SortThreshold['kind']; readonly pieces: readonly RankedPiece[] } | undefined {
  for (const kind of ['timestamp', 'number'] as const) {
    const ranked: RankedPiece[] = []
    for (const piece of pieces) {
      const best = piece.bestSortValue(kind)
      if (best === undefined) break
      ranked.push({ piece, best })
    }
    if (ranked.length === pieces.length) return { kind, pieces: inOrder(ranked, key) }
  }
  return undefined
}

function rowsOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { input }) => sum + input.to - input.from, 0)
}

/** But for those without a value: null comes last. */
function granulesOf(
  piece: SegmentPiece,
  { expression, descending }: BoundSortKey,
  kind: SortThreshold['kind'],
): RankedPiece[] {
  const { metadata, part, input } = piece
  const zones = new Zones(metadata, part, [])
  const granules: RankedPiece[] = []
  for (let { from } = input; from < input.to; ) {
    zones.granule = Math.floor(from / granuleRows)
    const to = Math.min(input.to, (zones.granule + 1) * granuleRows)
    const bounds = expression.kind === 'field' ? zones.onlyBounds(expression.path, kind) : undefined
    const best = descending ? bounds?.maximum : bounds?.minimum
    if (best !== undefined) granules.push({ piece: rowsOfPiece(piece, { from, to }), best })
    from = to
  }
  return granules
}
