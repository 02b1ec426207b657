/**
 * Sets of rows that a search has found: as bits or, where they are few of many, as a list, which takes no time that grows
 * with all rows. Sets are never changed once they are made, so results may share them; those that are made briefly
 * (`kernel/row-sets.ts`) last until others are.
 */
import { hasRow, type RowBits } from './row-bits.ts'
import { countBelow } from './sorted-integers.ts'

export type RowSet = RowBits | FewRows

export class FewRows {
  /** Ascending. */
  readonly rows: Int32Array

  constructor(rows: Int32Array) {
    this.rows = rows
  }

  has(row: number): boolean {
    return this.rows[countBelow(this.rows, row)] === row
  }

  /** The rows `from … to`. */
  between(from: number, to: number): Int32Array {
    return this.rows.subarray(countBelow(this.rows, from), countBelow(this.rows, to))
  }
}

export function isInSet(set: RowSet, row: number): boolean {
  return set instanceof FewRows ? set.has(row) : hasRow(set, row)
}
