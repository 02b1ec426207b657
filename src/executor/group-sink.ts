import type { EvaluationContext } from '../binder/evaluate.ts'
import type { GroupsStage } from '../planner/physical-plan.ts'
import { granuleRows } from '../vector/column.ts'
import type { Selection } from '../vector/vector.ts'
import { type AggregateState, createAggregateState } from './aggregate-state.ts'
import type { Batch } from './batch.ts'
import { compile, type Evaluator } from './compile.ts'
import { GroupTable } from './group-table.ts'
import type { RowRun } from './row-run.ts'
import type { Sink } from './scan.ts'
import type { GroupsResult, ScanMetrics } from './task.ts'

/** Aggregates rows by group. */
export class GroupSink implements Sink {
  readonly #keys: readonly Evaluator[]
  readonly #arguments: readonly (Evaluator | undefined)[]
  readonly #states: readonly AggregateState[]
  readonly #table: GroupTable
  readonly #groups = new Int32Array(granuleRows)

  constructor(stage: GroupsStage, context: EvaluationContext) {
    this.#keys = stage.keys.map((key) => compile(key, context))
    this.#arguments = stage.aggregates.map(({ argument }) => argument && compile(argument, context))
    this.#states = stage.aggregates.map(createAggregateState)
    this.#table = new GroupTable(stage.keys.length)
  }

  add(_run: RowRun, _from: number, batch: Batch, selection: Selection): void {
    const { rowCount } = batch
    const keys = this.#keys.map((key) => key(batch, selection))
    this.#table.assign(keys, rowCount, selection, this.#groups)
    const count = selection ? selection.length : rowCount
    const rows = { rowCount, selection, groups: this.#groups, count }
    for (let i = 0; i < this.#states.length; i++) {
      const state = this.#states[i]!
      state.resize(this.#table.groupCount)
      state.update(this.#arguments[i]?.(batch, selection), rows)
    }
  }

  isDone(): boolean {
    return false
  }

  finish(metrics: ScanMetrics): GroupsResult {
    const { groupCount } = this.#table
    for (const state of this.#states) state.resize(groupCount)
    return {
      kind: 'groups',
      groupCount,
      keys: this.#table.toWire(),
      states: this.#states.map((state) => state.toWire(groupCount)),
      metrics,
    }
  }
}
