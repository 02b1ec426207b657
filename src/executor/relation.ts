/**
 * Rows in memory: what a stage gives to the next. Plain data, so that it crosses threads, and column
 * by column, so that expressions run over it in batches as over segments.
 */
import { gatherColumn, sliceColumn } from './relation-column.ts'
import { type RowList, sliceRows } from './row-buffer.ts'
import type { WireValues } from './wire-values.ts'

export type RelationColumn =
  /** Doubles, or ms since 1970 UTC; NaN is null. */
  { readonly kind: 'number' | 'timestamp'; readonly values: Float64Array } | WireValues

export interface Relation {
  readonly rowCount: number
  /** The stored row that each row's fields are read from; undefined when rows have none. */
  readonly rows: RowList | undefined
  /** Columns of the aggregation below, by index. */
  readonly groupColumns: readonly RelationColumn[]
  /** Fields that are no stored ones: hidden fields, and what a pivot or a comparison has made. They
   * go before the stored row's. */
  readonly fields: readonly RelationField[]
}

export interface RelationField {
  readonly name: string
  readonly values: RelationColumn
}

/** Rows `from … to`, in memory of their own. */
export function sliceRelation(relation: Relation, from: number, to: number): Relation {
  if (from === 0 && to === relation.rowCount) return relation
  return mapColumns(relation, to - from, {
    rows: (rows) => sliceRows(rows, from, to),
    column: (column) => sliceColumn(column, from, to),
  })
}

/** The rows of these indexes, in their order. */
export function gatherRelation(relation: Relation, rows: Int32Array): Relation {
  return mapColumns(relation, rows.length, {
    rows: (list) => gatherRows(list, rows),
    column: (column) => gatherColumn(column, rows),
  })
}

function mapColumns(
  { rows, groupColumns, fields }: Relation,
  rowCount: number,
  map: {
    rows: (rows: RowList) => RowList
    column: (column: RelationColumn) => RelationColumn
  },
): Relation {
  return {
    rowCount,
    rows: rows && map.rows(rows),
    groupColumns: groupColumns.map(map.column),
    fields: fields.map(({ name, values }) => ({ name, values: map.column(values) })),
  }
}

function gatherRows(rows: RowList, indexes: Int32Array): RowList {
  return {
    object: pick(rows.object, indexes),
    paginationTransaction: pick(rows.paginationTransaction, indexes),
    paginationIndex: pick(rows.paginationIndex, indexes),
    transaction: pick(rows.transaction, indexes),
    index: pick(rows.index, indexes),
  }
}

function pick<T extends Int32Array | Float64Array>(values: T, indexes: Int32Array): T {
  const picked = new (values.constructor as new (length: number) => T)(indexes.length)
  for (let i = 0; i < indexes.length; i++) picked[i] = values[indexes[i]!]!
  return picked
}
