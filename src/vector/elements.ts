/** Numbers and codes of a column's rows, however wide they are stored. */

/**
 * Whole numbers, each for `(integer + base) / divisor`, and the least of their width for null; or codes, of
 * which null is -1.
 */
export interface StoredIntegers {
  readonly integers: Int8Array | Int16Array | Int32Array
  readonly base: number
  readonly divisor: number
}

export interface Elements<Wide extends Int32Array | Float64Array> {
  /** That of one row. Loops over many rows are faster with `between`. */
  at(row: number): number
  /**
   * Those of rows `from … from + count`: in place, or widened, and then in the memory of the batch if one
   * is being read. Not to be changed.
   */
  between(from: number, count: number): Wide
  /** The same of all rows as they are stored, where they are narrower there. */
  readonly stored?: StoredIntegers
}

/** Rows that are not valid have NaN, so that kernels need no second array. */
export type Numbers = Elements<Float64Array>

/** Places in a dictionary; rows that are not valid have -1. */
export type Codes = Elements<Int32Array>

/** Those of an array that holds them as they are. */
export function elementsOf<Wide extends Int32Array | Float64Array>(array: Wide): Elements<Wide> {
  return new PlainElements(array)
}

class PlainElements<Wide extends Int32Array | Float64Array> implements Elements<Wide> {
  readonly array: Wide

  constructor(array: Wide) {
    this.array = array
  }

  at(row: number): number {
    return this.array[row]!
  }

  between(from: number, count: number): Wide {
    return this.array.subarray(from, from + count) as Wide
  }
}
