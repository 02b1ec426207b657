/** Keys of single rows out of key columns, whatever else the columns belong to. */
import type { RowKey } from '../type/transaction.ts'
import type { KeyColumns } from './column.ts'

export function paginationKeyAt(
  keys: Pick<KeyColumns, 'paginationTransaction' | 'paginationIndex'>,
  row: number,
): RowKey {
  return { transaction: keys.paginationTransaction[row]!, index: keys.paginationIndex[row]! }
}

/** The key that names the row's version. */
export function versionKeyAt(keys: Pick<KeyColumns, 'transaction' | 'index'>, row: number): RowKey {
  return { transaction: keys.transaction[row]!, index: keys.index[row]! }
}
