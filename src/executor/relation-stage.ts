/** Stages that keep some of a relation's rows, or put them in another order. */
import type { BoundExpression, BoundSortKey, SortPosition } from '../binder/bound.ts'
import { assert } from '../error.ts'
import type { RelationStage } from '../planner/physical-plan.ts'
import { toPlain } from '../type/plain.ts'
import { paginationKeyAt, versionKeyAt } from '../vector/row-keys.ts'
import { rowsOf, valueReader } from '../vector/vector.ts'
import { compile } from './compile.ts'
import { compileFilter } from './filter.ts'
import { gatherRelation, type Relation } from './relation.ts'
import type { RelationReader } from './relation-batch.ts'
import { ageOrder, columnOrder, orderRows, type RowOrder, rowsAfter } from './relation-order.ts'
import { noRow } from './row-choice.ts'
import type { TaskContext } from './trace-set.ts'

export interface StageContext {
  readonly evaluation: TaskContext
  readonly cancelled: Int32Array | undefined
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
  for (const { from, batch } of read(relation).batches()) {
    for (const row of rowsOf(filter(batch, undefined), batch.rowCount)) kept[count++] = from + row
  }
  return count === relation.rowCount ? relation : gatherRelation(relation, kept.subarray(0, count))
}

/** @param ties what decides between rows that the keys do not tell apart, before their age */
export function sortRows(
  relation: Relation,
  keys: readonly BoundSortKey[],
  ties: readonly RowOrder[],
  wanted: number,
  context: StageContext,
): Relation {
  const reader = context.read(relation)
  const orders = keys.map(({ expression, descending }) =>
    columnOrder(reader.evaluate(compile(expression, context.evaluation)), descending),
  )
  const age = relation.rows ? [ageOrder(relation.rows)] : []
  const order = orderRows(relation.rowCount, [...orders, ...age, ...ties], wanted)
  return gatherRelation(relation, order)
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
): SortPosition | undefined {
  const { rows, rowCount } = relation
  const last = rowCount - 1
  if (!rows || rowCount === 0 || rows.object[last] === noRow) return undefined
  const batch = read(relation).batch(last, rowCount)
  return {
    values: keys.map(({ expression }) => {
      const vector = compile(expression, evaluation)(batch, undefined)
      return toPlain(valueReader(vector)(0))
    }),
    paginationKey: paginationKeyAt(rows, last),
    object: rows.object[last]!,
    version: versionKeyAt(rows, last),
  }
}
