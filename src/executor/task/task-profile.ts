/**
 * Measures the operators of a task, for queries that ask what they did. A task is one thread that
 * does one thing after the other, so all time since the last mark goes to the operator that is done.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import type { PhysicalPlan, RelationStage } from '../../planner/physical-plan.ts'
import type { OperatorMetrics, OperatorName } from '../../planner/plan-profile.ts'
import type { TaskContext } from '../expression/semi-join-set.ts'
import { compileFilter, type Filter, filterOf } from '../filter/filter.ts'
import { selectedCount } from '../filter/filtered-rows.ts'
import type { Asked } from '../scan/granules.ts'
import type { RowRun } from '../scan/row-run.ts'

type Measured = { -readonly [Key in keyof OperatorMetrics]: OperatorMetrics[Key] }

export class TaskProfile {
  readonly #operators = new Map<OperatorName, Measured>()
  readonly #plan: PhysicalPlan
  #last = performance.now()
  #run: RowRun | undefined
  #runBytes = 0

  constructor(plan: PhysicalPlan) {
    this.#plan = plan
  }

  get operators(): readonly OperatorMetrics[] {
    return [...this.#operators.values()].map((each) => ({ ...each, bytes: Math.round(each.bytes) }))
  }

  /** Reading goes on with another run. */
  open(run: RowRun): void {
    this.#run = run
    this.#runBytes = 0
  }

  mark(operator: OperatorName, rowsIn: number, rowsOut: number): void {
    const now = performance.now()
    const bytes = this.#run?.bytesRead() ?? 0
    const measured = this.#operators.get(operator)
    if (measured) {
      measured.rowsIn += rowsIn
      measured.rowsOut += rowsOut
      measured.bytes += bytes - this.#runBytes
      measured.milliseconds += now - this.#last
    } else {
      this.#operators.set(operator, {
        operator,
        rowsIn,
        rowsOut,
        bytes: bytes - this.#runBytes,
        milliseconds: now - this.#last,
      })
    }
    this.#last = now
    this.#runBytes = bytes
  }

  /** A stage of the plan, or one that was made of its stages for the local groups of a task. */
  stage(stage: RelationStage, rowsIn: number, rowsOut: number): void {
    const place = this.#plan.stages.indexOf(stage)
    this.mark(place < 0 ? `local ${stage.kind}` : `stage ${place}`, rowsIn, rowsOut)
  }

  /**
   * The predicates one after the other, where a query that is not measured may fuse them; those that
   * are not asked let all rows pass, unless another filter asks them.
   */
  filter(
    predicates: readonly BoundExpression[],
    asked: readonly Asked[],
    context: TaskContext,
  ): Filter {
    const filters = predicates.map((predicate, i) => {
      return asked[i] === true ? compileFilter([predicate], context) : undefined
    })
    return filterOf((batch, selection) => {
      let current = selection
      for (const [i, filter] of filters.entries()) {
        if (asked[i] === 'elsewhere') continue
        const before = current
        if (before?.length === 0) break
        if (filter) current = filter.keep(batch, before)
        this.mark(
          `filter ${i}`,
          selectedCount(before, batch.rowCount),
          selectedCount(current, batch.rowCount),
        )
      }
      return current
    })
  }
}
