/**
 * The order of rows: by the sort keys, nulls last, then newest first, then by object and version, so
 * that no two stored rows are equal.
 */
import type { BoundSortKey, SortPosition } from '../../binder/bound.ts'
import { orderValues } from '../../type/compare.ts'
import { fromPlain } from '../../type/plain.ts'
import type { Value } from '../../type/value.ts'

/** Keys of rows as parallel arrays, of whatever kind. */
export interface RowKeyArrays {
  readonly object: ArrayLike<number>
  readonly paginationTransaction: ArrayLike<number>
  readonly paginationIndex: ArrayLike<number>
  readonly transaction: ArrayLike<number>
  readonly index: ArrayLike<number>
}

/** The order of one sort key. */
export function compareNullsLast(a: Value, b: Value, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return descending ? orderValues(b, a) : orderValues(a, b)
}

/** The order of rows whose sort keys tie: row `i` of `a` against row `j` of `b`. */
export function compareNewestFirst(a: RowKeyArrays, i: number, b: RowKeyArrays, j: number): number {
  return (
    b.paginationTransaction[j]! - a.paginationTransaction[i]! ||
    b.paginationIndex[j]! - a.paginationIndex[i]! ||
    a.object[i]! - b.object[j]! ||
    b.transaction[j]! - a.transaction[i]! ||
    b.index[j]! - a.index[i]!
  )
}

/** Whether the row comes strictly after a position; `values` read its sort keys. */
export type AfterPosition = (
  values: readonly ((row: number) => Value)[],
  keys: RowKeyArrays,
  row: number,
) => boolean

/** @param ends the values of the position, where it does not have them itself */
export function afterPosition(
  sort: readonly BoundSortKey[],
  { paginationKey, object, version, values: own }: SortPosition,
  ends: readonly Value[] = own.map(fromPlain),
): AfterPosition {
  const end: RowKeyArrays = {
    object: [object],
    paginationTransaction: [paginationKey.transaction],
    paginationIndex: [paginationKey.index],
    transaction: [version.transaction],
    index: [version.index],
  }
  return (values, keys, row) => {
    for (let k = 0; k < ends.length; k++) {
      const order = compareNullsLast(values[k]!(row), ends[k]!, sort[k]!.descending)
      if (order !== 0) return order > 0
    }
    return compareNewestFirst(keys, row, end, 0) > 0
  }
}
