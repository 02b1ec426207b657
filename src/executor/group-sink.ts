import type { EvaluationContext } from '../binder/evaluate.ts'
import { assert } from '../error.ts'
import type { GroupsStage } from '../planner/physical-plan.ts'
import { granuleRows } from '../vector/column.ts'
import type { SharedCodes } from '../vector/shared-dictionary.ts'
import type { Selection, Vector } from '../vector/vector.ts'
import { AggregateInputs } from './aggregate/aggregate-inputs.ts'
import type { Batch } from './batch.ts'
import { ChosenValues } from './chosen-values.ts'
import { compile, type Evaluator, truthBytes } from './compile.ts'
import { GroupTable } from './group-table.ts'
import { RowChooser } from './row-choice.ts'
import type { RowRun } from './row-run.ts'
import type { Sink } from './scan.ts'
import type { GroupsResult, PartialGroups, ScanMetrics } from './task.ts'
import type { TaskDictionaries } from './task-dictionaries.ts'

/** Aggregates rows by group. */
export class GroupSink implements Sink {
  readonly #keys: readonly ((batch: Batch, selection: Selection) => Vector | SharedCodes)[]
  readonly #aggregates: AggregateInputs
  readonly #table: GroupTable
  readonly #chooser: RowChooser | undefined
  readonly #preferred: Evaluator | undefined
  readonly #values: readonly { readonly evaluate: Evaluator; readonly chosen: ChosenValues }[]
  readonly #groups = new Int32Array(granuleRows)

  constructor(stage: GroupsStage, context: EvaluationContext, dictionaries: TaskDictionaries) {
    const shared = stage.keys.map((key) => dictionaries.of(key))
    this.#keys = stage.keys.map((key, k) => {
      const evaluate = compile(key, context)
      if (!shared[k] || key.kind !== 'field') return evaluate
      return (batch, selection) => batch.sharedCodes?.(key.path) ?? evaluate(batch, selection)
    })
    this.#aggregates = new AggregateInputs(stage.aggregates, context)
    this.#table = new GroupTable(shared)
    this.#chooser = stage.row && new RowChooser(stage.row)
    this.#preferred = stage.row?.preferred && compile(stage.row.preferred, context)
    const values = stage.row?.values ?? []
    this.#values = values.map((value) => {
      return { evaluate: compile(value, context), chosen: new ChosenValues() }
    })
  }

  add(_run: RowRun | undefined, batch: Batch, selection: Selection): void {
    const { rowCount } = batch
    const keys = this.#keys.map((key) => key(batch, selection))
    this.#table.assign(keys, rowCount, selection, this.#groups)
    this.#aggregates.update(batch, selection, this.#groups, this.#table.groupCount)
    if (this.#chooser) this.#offerRows(this.#chooser, batch, selection)
  }

  isDone(): boolean {
    return false
  }

  finish(metrics: ScanMetrics): GroupsResult {
    return { ...this.groups(), metrics }
  }

  /** What was collected so far. */
  groups(): PartialGroups {
    const { groupCount } = this.#table
    this.#chooser?.resize(groupCount)
    const chosen = this.#chooser?.finish()
    return {
      kind: 'groups',
      groupCount,
      keys: this.#table.toWire(),
      states: this.#aggregates.toWire(groupCount),
      rows: chosen?.rows,
      preferred: chosen?.preferred,
      rowValues: this.#values.map((value) => {
        value.chosen.resize(groupCount)
        return value.chosen.toWire(groupCount)
      }),
    }
  }

  #offerRows(chooser: RowChooser, batch: Batch, selection: Selection): void {
    const { keys, rowCount } = batch
    assert(keys, 'rows of a scan have keys')
    const preferred = this.#preferred?.(batch, selection)
    const truth = preferred && truthBytes(preferred, rowCount, selection)
    chooser.resize(this.#table.groupCount)
    chooser.offer(keys, truth, rowCount, selection, this.#groups)
    for (const { evaluate, chosen } of this.#values) {
      chosen.resize(this.#table.groupCount)
      chosen.take(evaluate(batch, selection), rowCount, chooser.changed)
    }
  }
}
