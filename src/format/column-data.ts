/** Columns of a chunk of rows, laid out as Arrow has them, but for nulls, which are bytes. */
import type { Texts } from '../vector/column.ts'

export type ColumnData = ColumnValues & {
  readonly rowCount: number
  /** One byte per row, 0 where it is null; undefined when no row is. */
  readonly valid: Uint8Array | undefined
}

export type ColumnValues =
  | { readonly kind: 'booleans'; readonly values: Uint8Array }
  | { readonly kind: 'numbers'; readonly values: Float64Array }
  /** Of 64 bits: integers, and times in microseconds since 1970 UTC. */
  | { readonly kind: 'integers'; readonly values: BigInt64Array }
  | { readonly kind: 'texts'; readonly texts: Texts }
  /** Codes into distinct texts; 0 where the row is null. */
  | { readonly kind: 'coded'; readonly codes: Int32Array; readonly entries: Texts }
  /** The items of row `i` are texts `offsets[i] … offsets[i + 1]`. */
  | { readonly kind: 'lists'; readonly offsets: Int32Array; readonly items: Texts }
