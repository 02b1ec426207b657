/** Rows that scans gave in order, as relations and as places in the order. */
import type { SortPosition } from '../../binder/bound.ts'
import { longestPosition } from '../../binder/sort-cursor.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { paginationKeyAt, versionKeyAt } from '../../vector/row-keys.ts'
import { keyAt } from '../column/key-column.ts'
import { packedLength } from '../column/packed-values.ts'
import { concatenateColumns, sliceColumn } from '../column/relation-column.ts'
import { concatenateRowLists, type SortedRows } from '../column/row-list.ts'
import type { ValueLists, WireValues } from '../column/wire-values.ts'
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
    ...placeByAge(rows, row),
  }
}

/** The same for scans that go on after the row, whose long sort keys are not looked at. */
export function positionAfter(plan: PhysicalPlan, rows: SortedRows, row: number) {
  if (!hasLongKeys(plan, rows, row)) return { afterSorted: positionOfRow(plan, rows, row) }
  const columns = rows.keys.slice(0, plan.sort.length)
  const values = columns.map((column) => {
    return lengthAt(column, row) > longestPosition ? null : keyAt(column, row)
  })
  return {
    afterSorted: { ...placeByAge(rows, row), values },
    longAfter: columns.map((column) => sliceColumn(column, row, row + 1)),
  }
}

function placeByAge(rows: SortedRows, row: number): Omit<SortPosition, 'values'> {
  return {
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

/** Bytes of a value, which is read only if it is known to be short. */
function lengthAt(column: WireValues, row: number): number {
  switch (column.kind) {
    case 'number':
    case 'timestamp':
      return 0
    case 'texts':
      return column.offsets[row + 1]! - column.offsets[row]!
    case 'coded': {
      const code = column.codes[row]!
      return code < 0 ? 0 : lengthAt(column.values, code)
    }
    case 'packed': {
      const bytes = packedLength(column, row)
      return bytes > longBlock ? bytes : bytesOf(keyAt(column, row))
    }
    case 'lists': {
      const bytes = listLength(column, row)
      return bytes > longestPosition ? bytes : bytesOf(keyAt(column, row))
    }
    default:
      return bytesOf(keyAt(column, row))
  }
}

/** Of packed values that are read together; most blocks have half as much. */
const longBlock = 2 ** 18
const memberBytes = 16

function listLength({ starts, ends, members }: ValueLists, row: number): number {
  if (members.kind === 'packed') return members.bytes.length
  let bytes = (ends[row]! - starts[row]!) * memberBytes
  for (let member = starts[row]!; member < ends[row]! && bytes <= longestPosition; member++) {
    bytes += lengthAt(members, member)
  }
  return bytes
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
