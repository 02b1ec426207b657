/** Counts what a split leaves out, by what ruled it out. */
import { type BoundExpression, fieldsOf } from '../../binder/bound.ts'
import { printBound } from '../../planner/explain.ts'
import { PlanProfile, type SkippedParts } from '../../planner/plan-profile.ts'
import { granuleRows } from '../../vector/column.ts'

export class SkippedRows {
  readonly #predicates: readonly BoundExpression[]
  /** By predicate: they are many segments that one rules out, and printing it takes longer than asking it. */
  readonly #pruned: readonly { segments: number; granules: number; rows: number }[]
  readonly #byMechanism: Record<string, number> = Object.create(null)
  readonly #parts = new PlanProfile()

  constructor(predicates: readonly BoundExpression[]) {
    this.#predicates = predicates
    this.#pruned = predicates.map(() => ({ segments: 0, granules: 0, rows: 0 }))
  }

  /** A segment that has no rows of the plan's objects; these count for no mechanism. */
  addOther(rows: number): void {
    const granules = Math.ceil(rows / granuleRows)
    this.#parts.skip({ by: 'object', segments: 1, granules, rows })
  }

  /** @param rowCount so many rows of the object are in the segment */
  add(mechanism: string, by: string, rows: number, rowCount: number): void {
    if (rows === 0) return
    this.#count(mechanism, rows)
    const segments = rows === rowCount ? 1 : 0
    this.#parts.skip({ by, segments, granules: Math.ceil(rows / granuleRows), rows })
  }

  /** @param skipped for each predicate, how many rows it left out */
  addPruned(skipped: readonly number[], rowCount: number): void {
    for (const [i, rows] of skipped.entries()) {
      const sum = this.#pruned[i]!
      if (rows === rowCount) sum.segments++
      sum.granules += Math.ceil(rows / granuleRows)
      sum.rows += rows
    }
  }

  /** Rows by mechanism, and parts by what ruled them out. Nothing must be added any more. */
  finish(): { readonly rows: Readonly<Record<string, number>>; readonly parts: SkippedParts[] } {
    for (const [i, predicate] of this.#predicates.entries()) {
      const sum = this.#pruned[i]!
      if (sum.rows === 0) continue
      this.#count(mechanismOf(predicate), sum.rows)
      this.#parts.skip({ by: printBound(predicate, []), ...sum })
    }
    return { rows: this.#byMechanism, parts: [...this.#parts.skipped] }
  }

  #count(mechanism: string, rows: number): void {
    this.#byMechanism[mechanism] = (this.#byMechanism[mechanism] ?? 0) + rows
  }
}

const timeFields: ReadonlySet<string> = new Set(['created', '_xact_id', '_pagination_key'])

/** What of the metadata a predicate is held against. */
function mechanismOf(predicate: BoundExpression): string {
  if (predicate.kind === 'in_traces') return 'traces'
  const fields = fieldsOf([predicate])
  return fields.every((path) => timeFields.has(String(path[0]))) ? 'time' : 'zone map'
}
