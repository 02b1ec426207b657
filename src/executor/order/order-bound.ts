/** How far rows in order are known while others are left to be read. */
import type { BoundSortKey } from '../../binder/bound.ts'
import type { RowKey } from '../../type/transaction.ts'
import { comparePagination } from '../../vector/row-keys.ts'
import type { SortedRows } from '../column/row-list.ts'
import type { SortThreshold } from '../scan/prune.ts'

/**
 * What no row of those that are left comes before: the newest of them may be as new, or have that value as its first
 * sort key; `null`: none has a value; `any`: nothing is known of them.
 */
export type OrderBound =
  | { readonly kind: 'age'; readonly newest: RowKey }
  | SortThreshold
  | { readonly kind: 'null' | 'any' }

/** How many of the rows, which are in order, come before all that are left; of none, all. */
export function countAhead(
  rows: SortedRows,
  [key]: readonly BoundSortKey[],
  bound: OrderBound | undefined,
): number {
  const count = rows.object.length
  if (!bound) return count
  const isAhead = aheadOf(rows, key?.descending === true, bound)
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAhead(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** True for the first rows, if for any. */
function aheadOf(
  rows: SortedRows,
  isDescending: boolean,
  bound: OrderBound,
): (row: number) => boolean {
  if (bound.kind === 'age') return (row) => comparePagination(rows, row, bound.newest) > 0
  const [first] = rows.keys
  if (first?.kind !== 'number' && first?.kind !== 'timestamp') return () => false
  const { values } = first
  if (bound.kind === 'null') return (row) => !Number.isNaN(values[row]!)
  if (bound.kind === 'any' || bound.kind !== first.kind) return () => false
  const { value } = bound
  return isDescending ? (row) => values[row]! > value : (row) => values[row]! < value
}
