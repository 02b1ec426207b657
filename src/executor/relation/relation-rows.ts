/** Rows that scans gave in order, as relations and as places in the order. */
import type { SortPosition } from '../../binder/bound.ts'
import { longestPosition } from '../../binder/sort-cursor.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { paginationKeyAt, versionKeyAt } from '../../vector/row-keys.ts'
import { keyAt } from '../column/key-column.ts'
import { concatenateColumns } from '../column/relation-column.ts'
import type { WireValues } from '../column/wire-values.ts'
import { concatenateRowLists, type SortedRows } from '../order/row-list.ts'
import { bytesOf } from '../task/held-bytes.ts'
import type { Relation } from './relation.ts'

/** The rows with the fields that the plan's scans carry. */
export function relationOfRows({ stage, sort }: PhysicalPlan, rows: SortedRows): Relation {
  const carried = stage.kind === 'rows' ? stage.carried : []
  return {
    rowCount: rows.object.length,
    rows: {
      object: rows.object,
      paginationTransaction: rows.paginationTransaction,
      paginationIndex: rows.paginationIndex,
      transaction: rows.transaction,
      index: rows.index,
    },
    groupColumns: [],
    fields: carried.map((name, i) => {
      // No rows at all have no columns either.
      return { name, values: rows.keys[sort.length + i] ?? noValues }
    }),
  }
}

const noValues: WireValues = { kind: 'plain', values: [] }

/** Where the row is in the order of the plan's sort keys. */
export function positionOfRow({ sort }: PhysicalPlan, rows: SortedRows, row: number): SortPosition {
  return {
    values: sort.map((_, k) => keyAt(rows.keys[k]!, row)),
    paginationKey: paginationKeyAt(rows, row),
    object: rows.object[row]!,
    version: versionKeyAt(rows, row),
  }
}

/** Whether the sort keys of a row are too long for its position to be told. */
export function hasLongKeys({ sort }: PhysicalPlan, rows: SortedRows, row: number): boolean {
  let bytes = 0
  for (let k = 0; k < sort.length; k++) bytes += lengthAt(rows.keys[k]!, row)
  return bytes > longestPosition
}

function lengthAt(column: WireValues, row: number): number {
  if (column.kind === 'texts') return column.offsets[row + 1]! - column.offsets[row]!
  if (column.kind === 'coded') {
    const code = column.codes[row]!
    return code < 0 ? 0 : lengthAt(column.values, code)
  }
  return column.kind === 'number' || column.kind === 'timestamp' ? 0 : bytesOf(keyAt(column, row))
}

/** All rows of the lists, one list after the other. */
export function concatenateRows(lists: readonly SortedRows[]): SortedRows {
  if (lists.length === 1) return lists[0]!
  return {
    ...concatenateRowLists(lists),
    keys: (lists[0]?.keys ?? []).map((_, k) =>
      concatenateColumns(lists.map(({ keys }) => keys[k]!)),
    ),
  }
}
