/** Counts what a split leaves out, by what ruled it out. */
import { type BoundExpression, fieldsOf } from '../../binder/bound.ts'
import { printBound } from '../../planner/explain.ts'
import { PlanProfile, type SkippedRange } from '../../planner/plan-profile.ts'
import { granuleRows } from '../../vector/column.ts'

/** Sums that are added to, as most of many segments are left out by the same. */
export interface SkippedSum {
  segments: number
  granules: number
  rows: number
}

function newSum(): SkippedSum {
  return { segments: 0, granules: 0, rows: 0 }
}

function addTo(sum: SkippedSum, rows: number, isAll: boolean): void {
  if (isAll) sum.segments++
  sum.granules += Math.ceil(rows / granuleRows)
  sum.rows += rows
}

export class SkippedRows {
  readonly #predicates: readonly BoundExpression[]
  /** By predicate: to print one takes longer than to ask it of a segment. */
  readonly #pruned: readonly SkippedSum[]
  #others: Readonly<SkippedSum> = newSum()
  /** By what ruled them out. */
  readonly #ruledOut = new Map<string, { readonly reason: string; readonly sum: SkippedSum }>()

  constructor(predicates: readonly BoundExpression[]) {
    this.#predicates = predicates
    this.#pruned = predicates.map(newSum)
  }

  /** Segments that have no rows of the plan's objects; these count for no reason. */
  addOthers(others: Readonly<SkippedSum>): void {
    this.#others = others
  }

  /**
   * @param reason what in the query
   * @param by what ruled them out
   * @param rowCount so many rows of the object are in the segment
   */
  add(reason: string, by: string, rows: number, rowCount: number): void {
    if (rows === 0) return
    let ruledOut = this.#ruledOut.get(by)
    if (!ruledOut) {
      ruledOut = { reason, sum: newSum() }
      this.#ruledOut.set(by, ruledOut)
    }
    addTo(ruledOut.sum, rows, rows === rowCount)
  }

  /** All rows of a segment that the predicate of this index rules out. */
  addWhole(predicate: number, rows: number): void {
    addTo(this.#pruned[predicate]!, rows, true)
  }

  /** @param skipped for each predicate, how many rows it left out */
  addPruned(skipped: readonly number[], rowCount: number): void {
    for (const [i, rows] of skipped.entries()) {
      if (rows > 0) addTo(this.#pruned[i]!, rows, rows === rowCount)
    }
  }

  /** Rows by reason, and parts by what ruled them out. */
  finish(): { readonly rows: Record<string, number>; readonly parts: readonly SkippedRange[] } {
    const rows: Record<string, number> = Object.create(null)
    const parts = new PlanProfile()
    if (this.#others.rows > 0) parts.skip({ by: 'object', ...this.#others })
    const tell = (reason: string, by: string, sum: SkippedSum) => {
      rows[reason] = (rows[reason] ?? 0) + sum.rows
      parts.skip({ by, ...sum })
    }
    for (const [by, { reason, sum }] of this.#ruledOut) tell(reason, by, sum)
    for (const [i, predicate] of this.#predicates.entries()) {
      const sum = this.#pruned[i]!
      if (sum.rows > 0) tell(printBound(predicate, []), mechanismOf(predicate), sum)
    }
    return { rows, parts: parts.skipped }
  }
}

const timeFields: ReadonlySet<string> = new Set(['created', '_xact_id', '_pagination_key'])

/** What of the metadata a predicate is held against. */
function mechanismOf(predicate: BoundExpression): string {
  if (predicate.kind === 'in_traces') return 'traces'
  const fields = fieldsOf([predicate])
  return fields.every((path) => timeFields.has(String(path[0]))) ? 'time' : 'zone map'
}
