/** Keys of single rows out of key columns, whatever else the columns belong to. */
import type { RowKey } from '../type/transaction.ts'
import type { KeyColumns } from './column.ts'

type PaginationKeys = Pick<KeyColumns, 'paginationTransaction' | 'paginationIndex'>

export function paginationKeyAt(keys: PaginationKeys, row: number): RowKey {
  return { transaction: keys.paginationTransaction[row]!, index: keys.paginationIndex[row]! }
}

/** The key that names the row's version. */
export function versionKeyAt(keys: Pick<KeyColumns, 'transaction' | 'index'>, row: number): RowKey {
  return { transaction: keys.transaction[row]!, index: keys.index[row]! }
}

/** The first row from `from` to `to`, which are in order, whose pagination key is not below `key`. */
export function lowerBound(keys: PaginationKeys, from: number, to: number, key: RowKey): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (comparePagination(keys, middle, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Below zero where the row has a lesser pagination key than `key`. */
export function comparePagination(keys: PaginationKeys, row: number, key: RowKey): number {
  return (
    keys.paginationTransaction[row]! - key.transaction || keys.paginationIndex[row]! - key.index
  )
}
