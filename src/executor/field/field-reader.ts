import type { TextColumn } from '../../vector/column.ts'
import type { Selection, Vector } from '../../vector/vector.ts'
import type { Encoding, Presence } from '../expression/batch.ts'

/** The field of a batch, of the rows `from … from + count` of the set. */
export interface FieldReader {
  encoding(from: number, count: number): Encoding
  read(from: number, count: number, selection: Selection): Vector
  nulls(from: number, count: number, selection: Selection): Uint8Array
  presence(from: number, count: number): Presence | undefined
  /** The column that has all values of these rows; undefined unless they are texts. */
  textColumn(from: number, count: number): TextColumn | undefined
  /**
   * About as many bytes as what it knows of the set will take, if it may serve later queries: that is little, and it
   * asks no row store.
   */
  readonly lastingBytes: number | undefined
}
