/**
 * Rows in memory: what a stage gives to the next. Plain data, so that it crosses threads, and column
 * by column, so that expressions run over it in batches as over segments.
 */
import type { RowList } from '../column/row-list.ts'
import type { WireValues } from '../column/wire-values.ts'

export interface Relation {
  readonly rowCount: number
  /** The stored row that each row's fields are read from; undefined when rows have none. */
  readonly rows: RowList | undefined
  /** Of a comparison: the stored row that each row is compared with; see `comparedField`. */
  readonly compared?: RowList | undefined
  /** Columns of the aggregation below, by index. */
  readonly groupColumns: readonly WireValues[]
  /** Fields that are no stored ones: hidden fields, and what a pivot or a comparison has made. They
   * go before the stored row's. */
  readonly fields: readonly RelationField[]
}

/** The field of a comparison that is read from the row that is compared, and its parts. */
export const comparedField = {
  name: 'compared',
  /** Those of the row; `scores` and `metrics` are hidden fields. */
  parts: ['created', 'error', 'experiment_id', 'id', 'output', 'root_span_id', 'tags'],
} as const

export interface RelationField {
  readonly name: string
  readonly values: WireValues
}
