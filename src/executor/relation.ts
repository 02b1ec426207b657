/**
 * Rows in memory: what a stage gives to the next. Plain data, so that it crosses threads, and column
 * by column, so that expressions run over it in batches as over segments.
 */
import type { RowList } from './row-buffer.ts'
import type { WireValues } from './wire-values.ts'

export type RelationColumn =
  /** Doubles, or ms since 1970 UTC; NaN is null. */
  | { readonly kind: 'number' | 'timestamp'; readonly values: Float64Array }
  | WireValues

export interface Relation {
  readonly rowCount: number
  /** The stored row that each row's fields are read from; undefined when rows have none. */
  readonly rows: RowList | undefined
  /** Columns of the aggregation below, by index. */
  readonly groupColumns: readonly RelationColumn[]
  /** Fields that are no stored ones: hidden fields, and what a pivot or a comparison has made. They
   * go before the stored row's. */
  readonly fields: readonly { readonly name: string; readonly values: RelationColumn }[]
}
