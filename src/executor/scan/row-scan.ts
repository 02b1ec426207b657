/** Gives batches of rows that were read from the row store, for when they are few. */
import type { BoundObject } from '../../binder/bound.ts'
import type { RowView } from '../../storage/row/row.ts'
import { formatPaginationKey, formatTransaction } from '../../type/transaction.ts'
import type { Path, Value } from '../../type/value.ts'
import { compactValues, rowsOf } from '../../vector/vector.ts'
import type { RowList } from '../column/row-list.ts'
import { type Batch, VectorField } from '../expression/batch.ts'
import { objectField } from '../field/derived-field.ts'
import { valueInRow } from '../field/locate-json.ts'

/** A batch of whole rows of one object, whose keys are given. */
export function rowBatch(rows: readonly RowView[], keys: RowList, object: BoundObject): Batch {
  return {
    rowCount: rows.length,
    keys,
    field: (path) =>
      new VectorField((selection) => {
        const values = new Array<Value>(rows.length)
        const alive = rowsOf(selection, rows.length)
        for (const row of alive) values[row] = fieldOfRow(rows[row]!, path, object)
        return compactValues(values, alive)
      }),
  }
}

/** A field's value, derived fields included. */
export function fieldOfRow(row: RowView, path: Path, object: BoundObject): Value {
  const name = String(path[0])
  const derived = derivedField(row, name, object)
  if (derived === undefined) return valueInRow(row, path)
  return path.length === 1 ? derived : null
}

function derivedField(row: RowView, name: string, object: BoundObject): Value | undefined {
  switch (name) {
    case 'created':
      return row.created
    case '_xact_id':
      return formatTransaction(row.transaction)
    case '_pagination_key':
      return formatPaginationKey(row.paginationKey)
    default:
      return objectField(name, object)
  }
}
