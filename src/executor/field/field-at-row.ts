/** A field in single rows of a column set, as far as its columns have it. */
import type { BoundObject } from '../../binder/bound.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { isStoredField } from '../../type/record.ts'
import { type Path, Timestamp, type Value } from '../../type/value.ts'
import type { ColumnSet, PathColumns } from '../../vector/column.ts'
import { isSet, isValid, storedRows, textBytesAt } from '../../vector/read-column.ts'
import { valueReader } from '../../vector/vector.ts'
import { derivedField } from './derived-reader.ts'

export interface FieldAtRow {
  /** Null, a number, a boolean, a text or a time; undefined where the row's own text has to be asked. */
  valueAt(row: number): Value | undefined
  /** The UTF-8 of a text, in place; undefined for what is none. */
  textAt(row: number): Uint8Array | undefined
}

/** Undefined where the columns tell of no row, or not without reading texts of others. */
export function fieldAtRow(
  set: ColumnSet,
  path: Path,
  object: BoundObject,
): FieldAtRow | undefined {
  const derived = derivedField(set, path, object)
  if (derived) {
    const valueAt = (row: number) => valueReader(derived.read(row, 1, undefined))(0)
    return { valueAt, textAt: () => undefined }
  }
  const isInColumns = path.every((part) => typeof part === 'string')
  if (!isInColumns || !isStoredField(String(path[0])) || set.residualMayHold(path)) return undefined
  const columns = set.columns(path) ?? {}
  const { number, timestamp, boolean, text, json, objects } = columns
  if (text?.encoding === 'compressed' && !text.texts.areApart) return undefined
  const hasScalars = (number ?? timestamp ?? boolean ?? text) !== undefined
  if (!hasScalars && (json ?? objects)) return undefined
  return new ColumnFieldAtRow(columns, storedRows(set, path))
}

class ColumnFieldAtRow implements FieldAtRow {
  readonly #columns: PathColumns
  /** Rows of which the columns do not tell. */
  readonly #elsewhere: readonly Uint8Array[]

  constructor(columns: PathColumns, storedRows: readonly Uint8Array[]) {
    this.#columns = columns
    this.#elsewhere = columns.objects ? [...storedRows, columns.objects] : storedRows
  }

  valueAt(row: number): Value | undefined {
    const { number, text, boolean, timestamp, json } = this.#columns
    if (number && isValid(number.validity, row)) return number.values.at(row)
    if (text && isValid(text.validity, row)) return decodeUtf8(textBytesAt(text, row)!)
    if (boolean && isValid(boolean.validity, row)) return isSet(boolean.bits, row)
    if (timestamp && isValid(timestamp.validity, row)) {
      return new Timestamp(timestamp.values.at(row))
    }
    if (json && isValid(json.validity, row)) return undefined
    for (const bits of this.#elsewhere) if (isSet(bits, row)) return undefined
    return null
  }

  textAt(row: number): Uint8Array | undefined {
    const { text } = this.#columns
    return text && textBytesAt(text, row)
  }
}
