/**
 * Sets of rows that a search has found: as bits or, where they are few of many, as a list, which takes no time that grows
 * with all rows. Sets are never changed once they are made, so results may share them.
 */
import { hasRow, type RowBits } from './row-bits.ts'

export type RowSet = RowBits | FewRows

export class FewRows {
  /** Ascending. */
  readonly rows: Int32Array

  constructor(rows: Int32Array) {
    this.rows = rows
  }

  has(row: number): boolean {
    return this.rows[this.#placeOf(row)] === row
  }

  /** The rows `from … to`. */
  between(from: number, to: number): Int32Array {
    return this.rows.subarray(this.#placeOf(from), this.#placeOf(to))
  }

  /** How many are before a row. */
  #placeOf(row: number): number {
    let low = 0
    let high = this.rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.rows[middle]! < row) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function isInSet(set: RowSet, row: number): boolean {
  return set instanceof FewRows ? set.has(row) : hasRow(set, row)
}
