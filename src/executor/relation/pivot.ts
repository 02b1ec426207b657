/** Turns groups that differ in one key only into one row, with columns for that key's values. */
import type { BoundPivot } from '../../binder/bound.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import { writeJson } from '../../type/write-json.ts'
import { GroupTable } from '../column/group-table.ts'
import { columnOf, columnReader } from '../column/relation-column.ts'
import { ValueCodes } from '../column/value-codes.ts'
import type { WireValues } from '../column/wire-values.ts'
import { compile } from '../expression/compile.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { checkLimit, maximumPivotCells, maximumPivotColumns } from '../thread/memory-limit.ts'
import type { Relation, RelationField } from './relation.ts'
import { gatherRelation } from './relation-parts.ts'
import type { StageContext } from './relation-stage.ts'

/**
 * The rows keep their places among the group columns; those that no longer have one value are null.
 *
 * @param keys all group columns that are keys, that of the pivot among them
 */
export function pivotRows(
  relation: Relation,
  { key, measures }: BoundPivot,
  keys: readonly number[],
  { evaluation, read }: StageContext,
): Relation {
  const { rowCount } = relation
  const reader = read(relation)
  const others = keys.filter((index) => index !== key)
  const rowOf = new Int32Array(rowCount)
  const table = new GroupTable(others.map(() => undefined))
  table.assign(
    others.map((index) => reader.groupColumn(index)(0, rowCount)),
    rowCount,
    undefined,
    rowOf,
  )
  const madeCount = rowCount === 0 ? 0 : table.groupCount
  const valueAt = new Int32Array(rowCount)
  const values = new ValueCodes()
  values.encode(reader.groupColumn(key)(0, rowCount), rowCount, undefined, valueAt)
  checkLimit(
    values.count * measures.length,
    maximumPivotColumns,
    'columns of a pivot',
    'filter the values of its key',
  )
  checkLimit(
    values.count * measures.length * madeCount,
    maximumPivotCells,
    'cells of a pivot',
    'group by less, or filter',
  )
  const cells = cellTable(rowOf, valueAt, madeCount, values.count)
  const labels = columnLabels(values)
  const made = gatherRelation(relation, firstRows(rowOf, madeCount))
  const nothing = columnOf(new Array<Value>(madeCount).fill(null))
  const fields = measures.flatMap(({ name, expression }) => {
    const column = reader.evaluate(compile(expression, evaluation))
    const readCell = columnReader(column)
    return labels.map((label, code): RelationField => {
      checkCancelled()
      const rows = cells.subarray(code * madeCount, (code + 1) * madeCount)
      return { name: `${label}_${name}`, values: pickCells(rows, readCell) }
    })
  })
  return {
    rowCount: madeCount,
    rows: undefined,
    groupColumns: made.groupColumns.map((column, index) =>
      others.includes(index) ? column : nothing,
    ),
    fields,
  }
}

/** For each value of the key, for each row that is made: the row that it is made of, or -1. */
function cellTable(
  rowOf: Int32Array,
  valueAt: Int32Array,
  madeCount: number,
  valueCount: number,
): Int32Array {
  const cells = new Int32Array(valueCount * madeCount).fill(-1)
  for (let row = 0; row < rowOf.length; row++) {
    cells[valueAt[row]! * madeCount + rowOf[row]!] = row
  }
  return cells
}

function firstRows(rowOf: Int32Array, madeCount: number): Int32Array {
  const first = new Int32Array(madeCount)
  for (let row = rowOf.length - 1; row >= 0; row--) first[rowOf[row]!] = row
  return first
}

function pickCells(rows: Int32Array, read: (row: number) => Value): WireValues {
  return columnOf(Array.from(rows, (row) => (row < 0 ? null : read(row))))
}

/** A value's text, which is `null` for null; of two values with one text, the other's JSON. */
function columnLabels(values: ValueCodes): string[] {
  const labels = new Array<string>(values.count)
  const taken = new Set<string>()
  const { nullCode } = values
  const codes = Array.from({ length: values.count }, (_, code) => code)
  for (const code of codes.sort((a, b) => +(b === nullCode) - +(a === nullCode) || a - b)) {
    const value = values.valueAt(code)
    const text = textOf(value)
    const label = taken.has(text) ? writeJson(value) : text
    taken.add(label)
    labels[code] = label
  }
  return labels
}
