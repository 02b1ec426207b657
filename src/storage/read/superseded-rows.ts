/** Which rows of columns are superseded, by the marks of the row store. */
import type { KeyColumns } from '../../vector/column.ts'
import { comparePagination, lowerBound, paginationKeyAt } from '../../vector/row-keys.ts'
import type { ReadTransaction } from '../environment.ts'
import type { RecordReader } from './record-reader.ts'

/** Rows `from` to `to`, all of one object. */
export interface ObjectRange {
  readonly object: number
  readonly from: number
  readonly to: number
}

/**
 * Calls `found` for each row of the range that a transaction up to `through` superseded, in order.
 * Rows and marks both come in the order of pagination keys, so each is looked at once.
 */
export function forEachSuperseded(
  keys: KeyColumns,
  { object, from, to }: ObjectRange,
  through: number,
  records: RecordReader,
  found: (row: number, supersededBy: number) => void,
  readTransaction?: ReadTransaction,
): void {
  if (from === to) return
  const first = paginationKeyAt(keys, from)
  const last = paginationKeyAt(keys, to - 1)
  let next = from
  for (const mark of records.supersessions(object, first, last, through, readTransaction)) {
    const { paginationKey, version, transaction } = mark
    if (comparePagination(keys, next, paginationKey) < 0) {
      next = lowerBound(keys, next + 1, to, paginationKey)
      if (next === to) return
    }
    for (let row = next; row < to; row++) {
      if (comparePagination(keys, row, paginationKey) !== 0) break
      if (keys.transaction[row] === version.transaction && keys.index[row] === version.index) {
        found(row, transaction)
      }
    }
  }
}
