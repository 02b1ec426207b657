/** The order of rows in a column set, and their keys as columns. */
import type { RowKey } from '../../type/transaction.ts'
import type { KeyColumns } from '../../vector/column.ts'
import type { RowView } from '../row/row.ts'
import type { ObjectRun } from './shred-paths.ts'

/** A row version and where it belongs; no tombstone. */
export interface VersionedRow {
  /** Number of the object. */
  readonly object: number
  readonly version: RowKey
  readonly row: RowView
}

/** Rows by object, then pagination key, then version. */
export function sortRows(rows: readonly VersionedRow[]): {
  sorted: readonly VersionedRow[]
  keys: KeyColumns
} {
  const unsorted = keyColumns(rows)
  const order = new Uint32Array(rows.length).map((_, i) => i)
  const compare = (a: number, b: number) => compareKeys(unsorted, a, b)
  if (order.every((row) => row === 0 || compare(row - 1, row) <= 0)) {
    return { sorted: rows, keys: unsorted }
  }
  const sorted = Array.from(order.sort(compare), (row) => rows[row]!)
  return { sorted, keys: keyColumns(sorted) }
}

/** Orders two rows of one set of keys. */
export function compareKeys(keys: KeyColumns, a: number, b: number): number {
  return (
    keys.object[a]! - keys.object[b]! ||
    keys.paginationTransaction[a]! - keys.paginationTransaction[b]! ||
    keys.paginationIndex[a]! - keys.paginationIndex[b]! ||
    keys.transaction[a]! - keys.transaction[b]! ||
    keys.index[a]! - keys.index[b]!
  )
}

function keyColumns(rows: readonly VersionedRow[]): KeyColumns {
  const count = rows.length
  const object = new Int32Array(count)
  const paginationTransaction = new Float64Array(count)
  const paginationIndex = new Int32Array(count)
  const transaction = new Float64Array(count)
  const index = new Int32Array(count)
  const shownTransaction = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    const { version, row } = rows[i]!
    const pagination = row.paginationKey
    object[i] = rows[i]!.object
    paginationTransaction[i] = pagination.transaction
    paginationIndex[i] = pagination.index
    transaction[i] = version.transaction
    index[i] = version.index
    shownTransaction[i] = row.transaction
  }
  const same = shownTransaction.every((shown, i) => shown === transaction[i])
  return {
    object,
    paginationTransaction,
    paginationIndex,
    transaction,
    index,
    ...(!same && { shownTransaction }),
  }
}

/** The runs of equal numbers. */
export function objectRuns(objects: Int32Array): ObjectRun[] {
  const runs: ObjectRun[] = []
  let from = 0
  for (let row = 1; row <= objects.length; row++) {
    if (row < objects.length && objects[row] === objects[from]) continue
    runs.push({ from, to: row })
    from = row
  }
  return runs
}
