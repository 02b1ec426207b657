/** Stages that keep some of a relation's rows, or put them in another order. */
import {
  type BoundExpression,
  type BoundSortKey,
  type BoundUnpivot,
  hiddenField,
  type LastSorted,
} from '../../binder/bound.ts'
import { longestPosition } from '../../binder/sort-cursor.ts'
import { assert } from '../../error.ts'
import type { RelationStage } from '../../planner/physical-plan.ts'
import { toPlain } from '../../type/plain.ts'
import type { Value } from '../../type/value.ts'
import { paginationKeyAt, versionKeyAt } from '../../vector/row-keys.ts'
import { rowsOf, valueReader } from '../../vector/vector.ts'
import { columnOf } from '../column/relation-column.ts'
import { noRow } from '../column/row-choice.ts'
import type { WireValues } from '../column/wire-values.ts'
import { compile } from '../expression/compile.ts'
import type { TaskContext } from '../expression/semi-join-set.ts'
import { compileFilter } from '../filter/filter.ts'
import { GroupRelation } from '../group/group-relation.ts'
import { firstRows } from '../order/first-rows.ts'
import { elementsOf } from '../scan/unpivot-batch.ts'
import { bytesOf } from '../task/held-bytes.ts'
import type { TaskProfile } from '../task/task-profile.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit, maximumHeldRows } from '../thread/memory-limit.ts'
import type { Relation } from './relation.ts'
import type { RelationReader } from './relation-batch.ts'
import {
  ageOrder,
  columnOrder,
  leadingNumbers,
  orderRows,
  type RowOrder,
  rowsAfter,
} from './relation-order.ts'
import { gatherRelation, groupColumn, withoutUnreadRows } from './relation-parts.ts'

export interface StageContext {
  readonly evaluation: TaskContext
  /** Of a task that is profiled. */
  readonly profile: TaskProfile | undefined
  read(relation: Relation): RelationReader
}

export function filterRows(
  relation: Relation,
  predicates: readonly BoundExpression[],
  { evaluation, read }: StageContext,
): Relation {
  const filter = compileFilter(predicates, evaluation)
  const kept = new Int32Array(relation.rowCount)
  let count = 0
  for (const { from, batch } of read(withoutUnreadRows(relation, predicates)).batches()) {
    for (const row of rowsOf(filter.keep(batch, undefined), batch.rowCount))
      kept[count++] = from + row
  }
  return count === relation.rowCount ? relation : gatherRelation(relation, kept.subarray(0, count))
}

/** Makes rows of elements and entries; what rows already are, each of theirs is. */
export function unpivotRows(
  relation: Relation,
  { expression, index }: BoundUnpivot,
  { evaluation, read }: StageContext,
): Relation {
  const evaluate = compile(expression, evaluation)
  const rows: number[] = []
  const names: Value[] = []
  const values: Value[] = []
  for (const { from, batch } of read(relation).batches()) {
    const valueAt = valueReader(evaluate(batch, undefined))
    for (let row = 0; row < batch.rowCount; row++) {
      checkAtTimes()
      for (const [name, value] of elementsOf(valueAt(row))) {
        rows.push(from + row)
        names.push(name)
        values.push(value)
      }
      checkLimit(rows.length, maximumHeldRows, 'rows of unpivot', 'filter before, or unpivot less')
    }
  }
  const made = gatherRelation(relation, Int32Array.from(rows))
  return {
    rowCount: made.rowCount,
    rows: made.rows,
    compared: made.compared,
    groupColumns: made.groupColumns,
    fields: [
      ...made.fields,
      { name: hiddenField.unpivotName(index), values: columnOf(names) },
      { name: hiddenField.unpivotValue(index), values: columnOf(values) },
    ],
  }
}

/** @param ties what decides between rows that neither keys nor age tell apart */
export function sortRows(
  relation: Relation,
  keys: readonly BoundSortKey[],
  ties: (relation: Relation) => readonly RowOrder[],
  wanted: number,
  context: StageContext,
): Relation {
  const { rowCount } = relation
  const reader = context.read(relation)
  const columnOf = ({ expression }: BoundSortKey) =>
    expression.kind === 'group_column'
      ? groupColumn(relation, expression.index)!
      : reader.evaluate(compile(expression, context.evaluation))
  const [first] = keys
  let leading: WireValues | undefined
  if (first && wanted < rowCount) {
    const { descending } = first
    const ofGroups = numbersOfGroups(relation, first)
    if (!ofGroups) leading = columnOf(first)
    const values = ofGroups ?? leadingNumbers(leading!, descending)?.values
    const order = { wanted, descending, laterFirst: false }
    const kept = values && firstRows(values, undefined, rowCount, order)
    // What else decides is only looked at in rows that the first numbers do not rule out.
    if (kept && kept.length < rowCount) {
      return sortRows(gatherRelation(relation, kept), keys, ties, wanted, context)
    }
  }
  const columns = keys.map((key, i) => (i === 0 && leading) || columnOf(key))
  const numbers = first && leadingNumbers(columns[0]!, first.descending)
  const orders = columns.map((column, i) => columnOrder(column, keys[i]!.descending))
  const age = relation.rows ? [ageOrder(relation.rows)] : []
  const order = orderRows(rowCount, [...orders, ...age, ...ties(relation)], wanted, numbers)
  return gatherRelation(relation, order)
}

/** What groups are sorted by, without a column of it, as few of them may be left. */
function numbersOfGroups(
  relation: Relation,
  { expression }: BoundSortKey,
): Float64Array | undefined {
  if (expression.kind !== 'group_column' || !(relation instanceof GroupRelation)) return undefined
  return relation.numbersOf(expression.index)
}

export function seekRows(
  relation: Relation,
  { keys, after }: Extract<RelationStage, { kind: 'seek' }>,
  context: StageContext,
): Relation {
  assert(relation.rows, 'only stored rows have a place to continue from')
  const reader = context.read(relation)
  const columns = keys.map(({ expression }) =>
    reader.evaluate(compile(expression, context.evaluation)),
  )
  return gatherRelation(relation, rowsAfter(relation.rows, columns, keys, after))
}

/** The place of the last row in the order of its sort keys; undefined when it is no stored row. */
export function lastPosition(
  relation: Relation,
  keys: readonly BoundSortKey[],
  { evaluation, read }: StageContext,
): LastSorted {
  const { rows, rowCount } = relation
  const last = rowCount - 1
  if (!rows || rowCount === 0 || rows.object[last] === noRow) return undefined
  const batch = read(relation).batch(last, rowCount)
  const values = keys.map(({ expression }) => {
    const vector = compile(expression, evaluation)(batch, undefined)
    return toPlain(valueReader(vector)(0))
  })
  if (bytesOf(values) > longestPosition) return 'long'
  return {
    values,
    paginationKey: paginationKeyAt(rows, last),
    object: rows.object[last]!,
    version: versionKeyAt(rows, last),
  }
}
