/** Puts the partial groups of tasks together, and makes the result's rows of them. */
import { type EvaluationContext, evaluate } from '../binder/evaluate.ts'
import type { GroupsStage, PhysicalPlan } from '../planner/physical-plan.ts'
import { fromPlain } from '../type/plain.ts'
import type { Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import type { ValuesVector } from '../vector/vector.ts'
import { type AggregateState, createAggregateState } from './aggregate-state.ts'
import { GroupTable } from './group-table.ts'
import { compareNullsLast } from './row-buffer.ts'
import type { GroupsResult } from './task.ts'

export class GroupMerger {
  readonly #stage: GroupsStage
  readonly #table: GroupTable
  readonly #states: readonly AggregateState[]

  constructor(stage: GroupsStage) {
    this.#stage = stage
    this.#table = new GroupTable(stage.keys.length)
    this.#states = stage.aggregates.map(createAggregateState)
  }

  add({ groupCount, keys, states }: GroupsResult): void {
    const vectors = keys.map(
      (column): ValuesVector => ({ kind: 'values', values: column.map(fromPlain) }),
    )
    const groups = new Int32Array(groupCount)
    this.#table.assign(vectors, groupCount, undefined, groups)
    for (const [i, state] of this.#states.entries()) {
      state.resize(this.#table.groupCount)
      state.merge(states[i]!, groups)
    }
  }

  /** The output rows as JSON, sorted and limited as the plan says. */
  finish(plan: PhysicalPlan, context: EvaluationContext): string[] {
    const keyColumns = this.#table.keyColumns()
    for (const state of this.#states) state.resize(this.#table.groupCount)
    const rows = Array.from({ length: this.#table.groupCount }, (_, group) => [
      ...keyColumns.map((column) => column[group]!),
      ...this.#states.map((state) => state.result(group)),
    ])
    const sorted = sortGroups(rows, keyColumns.length, plan, context)
    const end = plan.limit === undefined ? undefined : plan.offset + plan.limit
    const columns = this.#stage.columns.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const labels = columns.map(({ name }) => `${JSON.stringify(name)}:`)
    return sorted.slice(plan.offset, end).map((row) => {
      const members = columns.map(
        ({ expression }, i) => labels[i] + writeJson(valueOver(row, expression, context)),
      )
      return `{${members.join(',')}}`
    })
  }
}

type GroupRow = readonly Value[]
type Expression = GroupsStage['columns'][number]['expression']

function valueOver(row: GroupRow, expression: Expression, context: EvaluationContext): Value {
  if (expression.kind === 'group_column') return row[expression.index]!
  return evaluate(
    expression,
    (leaf) => (leaf.kind === 'group_column' ? row[leaf.index]! : null),
    context,
  )
}

/** Groups that tie, and groups without a sort, come in the order of their keys. */
function sortGroups(
  rows: GroupRow[],
  keyCount: number,
  plan: PhysicalPlan,
  context: EvaluationContext,
): GroupRow[] {
  const keys = plan.sort.map(({ expression }) =>
    rows.map((row) => valueOver(row, expression, context)),
  )
  const order = Array.from(rows, (_, i) => i)
  order.sort((a, b) => {
    for (let k = 0; k < keys.length; k++) {
      const result = compareNullsLast(keys[k]![a]!, keys[k]![b]!, plan.sort[k]!.descending)
      if (result !== 0) return result
    }
    for (let k = 0; k < keyCount; k++) {
      const result = compareNullsLast(rows[a]![k]!, rows[b]![k]!, false)
      if (result !== 0) return result
    }
    return 0
  })
  return order.map((i) => rows[i]!)
}
