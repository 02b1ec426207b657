/** Reads fields that follow from the object or the row's keys; they are in no column. */
import type { BoundObject } from '../../binder/bound.ts'
import { formatPaginationKey, formatTransaction } from '../../type/transaction.ts'
import type { Path, Value } from '../../type/value.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { type ConstantVector, rowsOf, type Selection, type Vector } from '../../vector/vector.ts'
import { type Encoding, unread } from '../expression/batch.ts'
import { objectField } from './derived-field.ts'
import type { FieldReader } from './field-reader.ts'

/** Undefined for a field that does not follow from the object or the row's keys. */
export function derivedField(
  set: ColumnSet,
  path: Path,
  object: BoundObject,
): FieldReader | undefined {
  const constant = objectField(String(path[0]), object)
  if (constant !== undefined) return new ConstantReader(path, constant)
  switch (path[0]) {
    case '_xact_id':
      return transactionField(set, path)
    case '_pagination_key':
      return keyField(path, (row) => formatPaginationKey(paginationKeyAt(set.keys, row)))
    default:
      return undefined
  }
}

/** No column has it. */
abstract class DerivedReader implements FieldReader {
  readonly lastingBytes = undefined
  abstract read(from: number, count: number, selection: Selection): Vector

  encoding(): Encoding {
    return unread
  }

  nulls(_: number, count: number): Uint8Array {
    return new Uint8Array(count)
  }

  presence(): undefined {}

  textColumn(): undefined {}
}

class ConstantReader extends DerivedReader {
  readonly #constant: ConstantVector

  constructor(path: Path, value: Value) {
    super()
    this.#constant = { kind: 'constant', value: path.length === 1 ? value : null }
  }

  override encoding(): Encoding {
    return this.#constant
  }

  read(): Vector {
    return this.#constant
  }

  override nulls(_: number, count: number): Uint8Array {
    return new Uint8Array(count).fill(this.#constant.value === null ? 1 : 0)
  }
}

/** What is made of the keys of a row. */
class KeyReader extends DerivedReader {
  readonly #format: (row: number) => string

  constructor(format: (row: number) => string) {
    super()
    this.#format = format
  }

  read(from: number, count: number, selection: Selection): Vector {
    const values = new Array<Value>(count)
    for (const row of rowsOf(selection, count)) values[row] = this.#format(from + row)
    return { kind: 'values', values }
  }
}

function keyField(path: Path, format: (row: number) => string): FieldReader {
  return path.length > 1 ? new ConstantReader(path, null) : new KeyReader(format)
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
