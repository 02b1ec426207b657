/** Reads fields that follow from the object or the row's keys; they are in no column. */
import type { BoundObject } from '../../binder/bound.ts'
import { formatPaginationKey, formatTransaction } from '../../type/transaction.ts'
import type { Path, Value } from '../../type/value.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { rowsOf } from '../../vector/vector.ts'
import { objectField } from './derived-field.ts'
import type { FieldReader } from './field-reader.ts'

/** Undefined for a field that does not follow from the object or the row's keys. */
export function derivedField(
  set: ColumnSet,
  path: Path,
  object: BoundObject,
): FieldReader | undefined {
  const constant = objectField(String(path[0]), object)
  if (constant !== undefined) return constantField(path, constant)
  switch (path[0]) {
    case '_xact_id':
      return transactionField(set, path)
    case '_pagination_key':
      return keyField(path, (row) => formatPaginationKey(paginationKeyAt(set.keys, row)))
    default:
      return undefined
  }
}

function constantField(path: Path, value: Value): FieldReader {
  const found = path.length === 1 ? value : null
  return {
    read: () => ({ kind: 'constant', value: found }),
    isNull: (_, count) => new Uint8Array(count).fill(found === null ? 1 : 0),
  }
}

function keyField(path: Path, format: (row: number) => string): FieldReader {
  if (path.length > 1) return constantField(path, null)
  return {
    read: (from, count, selection) => {
      const values = new Array<Value>(count)
      for (const row of rowsOf(selection, count)) values[row] = format(from + row)
      return { kind: 'values', values }
    },
    isNull: (_, count) => new Uint8Array(count),
  }
}

/** Rows of one request share a transaction and lie together, so most texts are made once. */
function transactionField(set: ColumnSet, path: Path): FieldReader {
  const transactions = set.keys.shownTransaction ?? set.keys.transaction
  let last = -1
  let text = ''
  return keyField(path, (row) => {
    if (transactions[row] !== last) {
      last = transactions[row]!
      text = formatTransaction(last)
    }
    return text
  })
}
