/** Columns and rows of relations, in the forms that they have. */
import { type BoundExpression, fieldsOf } from '../../binder/bound.ts'
import { sequence } from '../../kernel/sequence.ts'
import {
  concatenateColumns,
  gatherColumn,
  sliceColumn,
  vectorSlices,
} from '../column/relation-column.ts'
import { concatenateRowLists, gatherRows, sliceRows } from '../column/row-list.ts'
import type { WireValues } from '../column/wire-values.ts'
import { type ColumnSlices, GroupRelation } from '../group/group-relation.ts'
import type { Relation } from './relation.ts'

/** A column of the aggregation below; undefined when there is none. */
export function groupColumn(relation: Relation, index: number): WireValues | undefined {
  if (relation instanceof GroupRelation) return relation.groupColumn(index)
  return relation.groupColumns[index]
}

/** The same, some rows at a time; these may be good only until the batch that they are read in ends. */
export function groupColumnSlices(relation: Relation, index: number): ColumnSlices | undefined {
  const numbers = relation instanceof GroupRelation ? relation.numberSlices(index) : undefined
  if (numbers) return numbers
  const column = groupColumn(relation, index)
  return column && vectorSlices(column)
}

/**
 * The relation without its stored rows where no expression reads a field: those of groups need not be chosen then,
 * and batches are larger.
 */
export function withoutUnreadRows(
  relation: Relation,
  expressions: readonly BoundExpression[],
): Relation {
  if (fieldsOf(expressions).length > 0) return relation
  if (relation instanceof GroupRelation) return relation.withoutRows()
  return { ...relation, rows: undefined }
}

/** Rows `from … to`; see `sliceArray`. */
export function sliceRelation(relation: Relation, from: number, to: number): Relation {
  if (from === 0 && to === relation.rowCount) return relation
  if (relation instanceof GroupRelation) {
    return relation.gather(sequence(from, to - from))
  }
  const { rows, compared, groupColumns, fields } = relation
  const slice = (column: WireValues) => sliceColumn(column, from, to)
  return {
    rowCount: to - from,
    rows: rows && sliceRows(rows, from, to),
    compared: compared && sliceRows(compared, from, to),
    groupColumns: groupColumns.map(slice),
    fields: fields.map(({ name, values }) => ({ name, values: slice(values) })),
  }
}

/** The rows of all relations, which have the same columns and no fields of their own. */
export function concatenateRelations(relations: readonly Relation[]): Relation {
  const [first] = relations
  if (!first || relations.length === 1) return first!
  const rowCount = relations.reduce((sum, relation) => sum + relation.rowCount, 0)
  return {
    rowCount,
    rows: first.rows && concatenateRowLists(relations.map(({ rows }) => rows!)),
    groupColumns: first.groupColumns.map((_, index) => {
      return concatenateColumns(relations.map(({ groupColumns }) => groupColumns[index]!))
    }),
    fields: [],
  }
}

/** The rows of these indexes, in their order. */
export function gatherRelation(relation: Relation, indexes: Int32Array): Relation {
  if (relation instanceof GroupRelation) return relation.gather(indexes)
  const { rows, compared, groupColumns, fields } = relation
  const gather = (column: WireValues) => gatherColumn(column, indexes)
  return {
    rowCount: indexes.length,
    rows: rows && gatherRows(rows, indexes),
    compared: compared && gatherRows(compared, indexes),
    groupColumns: groupColumns.map(gather),
    fields: fields.map(({ name, values }) => ({ name, values: gather(values) })),
  }
}
