import { type BoundObject, hiddenField } from '../../binder/bound.ts'
import { objectColumnValue, recordColumn } from '../../type/record.ts'
import type { Value } from '../../type/value.ts'

/**
 * The value of a column that is the same for all rows of an object; undefined for other columns. Null
 * where the object's type does not have the column.
 */
export function objectField(name: string, object: BoundObject): Value | undefined {
  if (name === hiddenField.object) return object.number
  return recordColumn(name)?.origin === 'object' ? objectColumnValue(name, object) : undefined
}
