/** Puts the partial groups of tasks together, and makes the result's rows of them. */
import type { BoundExpression, BoundSortKey } from '../binder/bound.ts'
import { type EvaluationContext, evaluate } from '../binder/evaluate.ts'
import { assert } from '../error.ts'
import type { GroupsStage, PhysicalPlan } from '../planner/physical-plan.ts'
import type { Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import { type AggregateState, createAggregateState } from './aggregate-state.ts'
import { GroupTable } from './group-table.ts'
import { compareNullsLast } from './row-buffer.ts'
import type { GroupsResult, MergeResult, MergeTask } from './task.ts'
import { vectorOf } from './wire-values.ts'

/** Rows that are printed into one chunk. */
const chunkRows = 1000

export function runMerge({ plan, context, partials, separator }: MergeTask): MergeResult {
  assert(plan.stage.kind === 'groups', 'only groups are merged')
  const merger = new GroupMerger(plan.stage)
  for (const partial of partials) merger.add(partial)
  const rows = merger.finish(plan, context)
  const chunks: { rowCount: number; bytes: Uint8Array }[] = []
  for (let i = 0; i < rows.length; i += chunkRows) {
    const chunk = rows.slice(i, i + chunkRows)
    // Not from the pool of small buffers: its memory is handed over.
    const text = chunk.join(separator)
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    chunks.push({ rowCount: chunk.length, bytes })
  }
  return { kind: 'merge', groupCount: merger.groupCount, chunks }
}

class GroupMerger {
  readonly #stage: GroupsStage
  readonly #table: GroupTable
  readonly #states: readonly AggregateState[]

  constructor(stage: GroupsStage) {
    this.#stage = stage
    this.#table = new GroupTable(stage.keys.length)
    this.#states = stage.aggregates.map(createAggregateState)
  }

  get groupCount(): number {
    return this.#table.groupCount
  }

  add({ groupCount, keys, states }: GroupsResult): void {
    const vectors = keys.map(vectorOf)
    const groups = new Int32Array(groupCount)
    this.#table.assign(vectors, groupCount, undefined, groups)
    for (const [i, state] of this.#states.entries()) {
      state.resize(this.#table.groupCount)
      state.merge(states[i]!, groups)
    }
  }

  /** The output rows as JSON, sorted and limited as the plan says. */
  finish(plan: PhysicalPlan, context: EvaluationContext): string[] {
    const { groupCount } = this.#table
    for (const state of this.#states) state.resize(groupCount)
    const keyCount = this.#stage.keys.length
    const keyAt = this.#table.keyReader()
    const columnAt: ColumnReader = (group, column) =>
      column < keyCount ? keyAt(column, group) : this.#states[column - keyCount]!.result(group)
    const evaluator = ({ expression }: { expression: BoundExpression }) => {
      if (expression.kind === 'group_column') {
        return (group: number) => columnAt(group, expression.index)
      }
      return (group: number) =>
        evaluate(
          expression,
          (leaf) => (leaf.kind === 'group_column' ? columnAt(group, leaf.index) : null),
          context,
        )
    }
    const order = sortGroups(groupCount, plan.sort.map(evaluator), plan.sort, keyCount, columnAt)
    const columns = this.#stage.columns.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const printers = columns.map((column) => {
      const label = `${JSON.stringify(column.name)}:`
      const evaluateIn = evaluator(column)
      return (group: number) => label + writeJson(evaluateIn(group))
    })
    const end = plan.limit === undefined ? groupCount : plan.offset + plan.limit
    return Array.from(
      order.subarray(plan.offset, end),
      (group) => `{${printers.map((print) => print(group)).join(',')}}`,
    )
  }
}

/** The value of a key or an aggregate in a group. */
type ColumnReader = (group: number, column: number) => Value

/** Groups in order. Those that tie, and all without a sort, come in the order of their keys. */
function sortGroups(
  groupCount: number,
  evaluators: readonly ((group: number) => Value)[],
  sort: readonly BoundSortKey[],
  keyCount: number,
  columnAt: ColumnReader,
): Int32Array {
  const groups = Int32Array.from({ length: groupCount }, (_, group) => group)
  const keys = evaluators.map((evaluateIn) => Array.from(groups, (group) => evaluateIn(group)))
  return groups.sort((a, b) => {
    for (let k = 0; k < keys.length; k++) {
      const order = compareNullsLast(keys[k]![a]!, keys[k]![b]!, sort[k]!.descending)
      if (order !== 0) return order
    }
    for (let k = 0; k < keyCount; k++) {
      const order = compareNullsLast(columnAt(a, k), columnAt(b, k), false)
      if (order !== 0) return order
    }
    return 0
  })
}
