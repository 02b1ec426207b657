import type { EvaluationContext } from '../../binder/evaluate.ts'
import { assert } from '../../error.ts'
import { newCodes } from '../../kernel/arena.ts'
import type { GroupsStage } from '../../planner/physical-plan.ts'
import type { SharedTexts } from '../../vector/shared-dictionary.ts'
import type { Selection } from '../../vector/vector.ts'
import { AggregateInputs, oneGroup } from '../aggregate/aggregate-inputs.ts'
import { ChosenValues } from '../column/chosen-values.ts'
import { GroupTable } from '../column/group-table.ts'
import type { GroupKey } from '../column/mixed-key.ts'
import { type ChosenRows, RowChooser } from '../column/row-choice.ts'
import { type Batch, type Field, variantsOf } from '../expression/batch.ts'
import { compile } from '../expression/compile.ts'
import { type Evaluator, truthBytes } from '../expression/evaluator.ts'
import {
  asSelection,
  type FilteredRows,
  type RowCount,
  selectedCount,
} from '../filter/filtered-rows.ts'
import { type BatchRange, newestFirst } from '../scan/granules.ts'
import type { RowRun } from '../scan/row-run.ts'
import type { Sink } from '../scan/sink.ts'
import type { GroupsResult, PartialGroups, ScanMetrics } from '../task/task.ts'
import type { TaskDictionaries } from '../task/task-dictionaries.ts'
import { GroupRelation } from './group-relation.ts'
import { lastingState, pickStates } from './pick-states.ts'

/** Of the row that stands for a group. */
const chosenBytes = 29

/** Aggregates rows by group. */
export class GroupSink implements Sink {
  readonly #keys: readonly ((batch: Batch, selection: Selection) => GroupKey)[]
  readonly #dictionaries: readonly (SharedTexts | undefined)[]
  readonly #aggregates: AggregateInputs
  readonly #table: GroupTable
  readonly #chooser: RowChooser | undefined
  readonly #preferred: Evaluator | undefined
  readonly #values: readonly { readonly evaluate: Evaluator; readonly chosen: ChosenValues }[]
  readonly #isOneGroup: boolean

  constructor(stage: GroupsStage, context: EvaluationContext, dictionaries: TaskDictionaries) {
    const shared = stage.keys.map((key) => dictionaries.of(key))
    this.#dictionaries = shared
    this.#keys = stage.keys.map((key, k) => {
      if (key.kind !== 'field') return compile(key, context)
      const { path } = key
      const isShared = shared[k] !== undefined
      return (batch, selection) => {
        const field = batch.field(path)
        const codes = isShared ? field.shared : undefined
        if (codes) return codes
        if (field.encoding.kind !== 'mixed') return field.read(selection)
        return { variants: variantsOf(field, selection) }
      }
    })
    this.#aggregates = new AggregateInputs(stage.aggregates, context, dictionaries)
    this.#table = new GroupTable(shared)
    this.#chooser = stage.row && new RowChooser(stage.row)
    this.#preferred = stage.row?.preferred && compile(stage.row.preferred, context)
    this.#isOneGroup = stage.keys.length === 0 && !stage.row
    const values = stage.row?.values ?? []
    this.#values = values.map((value) => {
      return { evaluate: compile(value, context), chosen: new ChosenValues() }
    })
  }

  takes(batch: Batch, range: Field | undefined): boolean {
    return this.#isOneGroup && this.#aggregates.takes(batch, range)
  }

  add(_run: RowRun | undefined, batch: Batch, kept: FilteredRows | RowCount): number {
    const { rowCount, weights } = batch
    if (this.#isOneGroup && !weights) return this.#aggregates.updateOneGroup(batch, kept)
    assert(kept.kind !== 'count', 'rows that were only counted are put into groups')
    const selection = asSelection(kept, rowCount)
    const count = selectedCount(selection, rowCount)
    if (count === 0) return 0
    const keys = this.#keys.map((key) => key(batch, selection))
    const groups = keys.length === 0 ? oneGroup : newCodes(rowCount)
    this.#table.assign(keys, rowCount, selection, groups)
    this.#aggregates.update(batch, selection, groups, this.#table.groupCount)
    if (this.#chooser) this.#offerRows(this.#chooser, batch, selection, groups)
    return count
  }

  /** Groups need every row, in whatever order. */
  batches(run: RowRun): BatchRange[] {
    return newestFirst(run)
  }

  isDone(): boolean {
    return false
  }

  halve(): boolean {
    return false
  }

  get heldBytes(): number {
    const { groupCount, heldBytes } = this.#table
    let bytes = heldBytes + this.#aggregates.heldBytes(groupCount)
    if (this.#chooser) bytes += groupCount * chosenBytes
    for (const { chosen } of this.#values) bytes += chosen.heldBytes
    return bytes
  }

  get resultCount(): number {
    return this.#table.groupCount
  }

  finish(metrics: ScanMetrics): GroupsResult {
    return { ...this.groups(), local: undefined, metrics }
  }

  /** What was collected so far, of these groups; undefined: of all. */
  groups(groups?: Int32Array): PartialGroups {
    const { groupCount } = this.#table
    const states = this.#aggregates.states(groupCount).map((state) => {
      if (!groups) return lastingState(state.toWire(groupCount))
      return state.toWireOf?.(groups) ?? pickStates(state.toWire(groupCount), groups)
    })
    const chosen = this.#chosen(groups)
    return {
      kind: 'groups',
      groupCount: groups ? groups.length : groupCount,
      keys: this.#table.toWire(groups),
      states,
      rows: chosen?.rows,
      preferred: chosen?.preferred,
      rowValues: this.#values.map(({ chosen }) => chosen.toWire(groupCount, groups)),
    }
  }

  /** The groups as rows. No rows must be added any more. */
  relation(): GroupRelation {
    const { groupCount } = this.#table
    const states = this.#aggregates.states(groupCount)
    const values = this.#values.map(({ chosen }) => chosen)
    for (const chosen of values) chosen.resize(groupCount)
    const rows = this.#chooser && ((groups?: Int32Array) => this.#chosen(groups)!.rows)
    return GroupRelation.of(this.#table, states, values, rows)
  }

  /** The shared dictionary of a key that has one, and by group the code in it; -1: none. */
  sharedKey(key: number): { readonly dictionary: SharedTexts; readonly codes: Int32Array } {
    const dictionary = this.#dictionaries[key]
    assert(dictionary, 'the key has no shared dictionary')
    return { dictionary, codes: this.#table.sharedCodes(key) }
  }

  #chosen(groups: Int32Array | undefined): ChosenRows | undefined {
    const { groupCount } = this.#table
    for (const { chosen } of this.#values) chosen.resize(groupCount)
    this.#chooser?.resize(groupCount)
    return this.#chooser?.finish(groups)
  }

  #offerRows(chooser: RowChooser, batch: Batch, selection: Selection, groups: Int32Array): void {
    const { keys, rowCount } = batch
    assert(keys, 'rows of a scan have keys')
    const preferred = this.#preferred?.(batch, selection)
    const truth = preferred && truthBytes(preferred, rowCount, selection)
    chooser.resize(this.#table.groupCount)
    chooser.offer(keys, truth, rowCount, selection, groups)
    for (const { evaluate, chosen } of this.#values) {
      chosen.resize(this.#table.groupCount)
      chosen.take(evaluate(batch, selection), rowCount, chooser.changed)
    }
  }
}
