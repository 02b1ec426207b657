/**
 * Reads a field out of a column set: in place when all its values are of one type, row by row when
 * they are mixed, and from the row store what no column holds.
 */
import type { BoundObject } from '../binder/bound.ts'
import { anyBit, expandBits } from '../kernel/bitmap.ts'
import { notOf, orInto } from '../kernel/logic.ts'
import { newBytes } from '../kernel/memory.ts'
import { formatPaginationKey, formatTransaction } from '../type/transaction.ts'
import { type Path, type Value, valueAt } from '../type/value.ts'
import type {
  BooleanColumn,
  ColumnSet,
  NumberColumn,
  PathColumns,
  TextColumn,
} from '../vector/column.ts'
import { pathReader, stored, storedRows } from '../vector/read-column.ts'
import { paginationKeyAt } from '../vector/row-keys.ts'
import {
  compactValues,
  type DictionaryEntries,
  rowsOf,
  type Selection,
  textEntries,
  unknown,
  type Vector,
} from '../vector/vector.ts'
import { objectField } from './derived-field.ts'

export interface FieldReader {
  /** The field in the rows `from … from + count` of the set, as a batch of its own. */
  read(from: number, count: number, selection: Selection): Vector
  /** 1 where it is null. */
  isNull(from: number, count: number, selection: Selection): Uint8Array
  /** The column that has all values of these rows; absent or undefined unless they are texts. */
  textColumn?(from: number, count: number): TextColumn | undefined
}

/** Reads what a row of the set has at a path from the row store. */
export type RowFetcher = (set: ColumnSet, row: number, path: Path) => Value

export function openField(
  set: ColumnSet,
  path: Path,
  object: BoundObject,
  fetch: RowFetcher,
): FieldReader {
  return derivedField(set, path, object) ?? new ColumnFieldReader(set, path, fetch)
}

/** Fields that follow from the object or the row's keys; they are in no column. */
function derivedField(set: ColumnSet, path: Path, object: BoundObject): FieldReader | undefined {
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

class ColumnFieldReader implements FieldReader {
  readonly #path: Path
  /** The part of the path that columns have: object keys up to the first array index. */
  readonly #base: readonly string[]
  /** What is left to walk inside a value of the base path. */
  readonly #rest: Path
  readonly #columns: PathColumns
  /** Bitmaps of rows that hold something at the path which its columns do not tell. */
  readonly #elsewhere: readonly (Uint8Array | 'all')[]
  readonly #valueAt: (row: number) => Value
  readonly #entries: { text?: DictionaryEntries; json?: DictionaryEntries } = {}

  constructor(set: ColumnSet, path: Path, fetch: RowFetcher) {
    this.#path = path
    const index = path.findIndex((part) => typeof part === 'number')
    this.#base = (index < 0 ? path : path.slice(0, index)) as readonly string[]
    this.#rest = path.slice(this.#base.length)
    this.#columns = set.columns(this.#base) ?? {}
    const below = set.pathsBelow(this.#base).flatMap((path) => set.columns(path)?.stored ?? [])
    const residual = set.residualMayHold(this.#base) ? set.residual : undefined
    this.#elsewhere = [
      ...storedRows(set, this.#base),
      ...below,
      ...(residual ? [residual.validity ?? ('all' as const)] : []),
    ]
    const read = pathReader(set, this.#base)
    this.#valueAt = (row) => {
      const value = read(row)
      return value === stored ? fetch(set, row, this.#path) : valueAt(value, this.#rest)
    }
  }

  read(from: number, count: number, selection: Selection): Vector {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const whole = this.#rest.length === 0
    const hasObjects = objects !== undefined && anyBit(objects, from, count)
    const variants = [number, timestamp, boolean, text, json].filter((column) => column)
    if (this.#isElsewhere(from, count) || (whole && hasObjects) || variants.length > 1) {
      return this.#readValues(from, count, selection)
    }
    if (number && whole) return numberVector('number', number, from, count)
    if (timestamp && whole) return numberVector('timestamp', timestamp, from, count)
    if (boolean && whole) return booleanVector(boolean, from, count)
    if (text && whole) return this.#readText(text, from, count, selection)
    if (!json) return { kind: 'constant', value: null }
    if (json.encoding !== 'dictionary' || !whole) return this.#readValues(from, count, selection)
    this.#entries.json ??= textEntries(json.dictionary, 'json')
    const codes = json.codes.subarray(from, from + count)
    return { kind: 'dictionary', codes, entries: this.#entries.json }
  }

  isNull(from: number, count: number, selection: Selection): Uint8Array {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const nulls = newBytes(count)
    if (this.#rest.length > 0 || this.#isElsewhere(from, count)) {
      for (const row of rowsOf(selection, count)) {
        nulls[row] = this.#valueAt(from + row) === null ? 1 : 0
      }
      return nulls
    }
    const variants = [number, timestamp, boolean, text, json].filter((column) => column)
    if (variants.some((column) => column!.validity === undefined)) return nulls.fill(0)
    const present = variants.map((column) => column!.validity!)
    if (objects) present.push(objects)
    nulls.fill(0)
    const valid = newBytes(count)
    for (const bits of present) {
      expandBits(bits, from, count, valid)
      orInto(nulls, valid, count)
    }
    notOf(nulls, count, nulls)
    return nulls
  }

  textColumn(from: number, count: number): TextColumn | undefined {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    if (this.#rest.length > 0 || number || timestamp || boolean || json) return undefined
    if (objects !== undefined && anyBit(objects, from, count)) return undefined
    return this.#isElsewhere(from, count) ? undefined : text
  }

  #readText(column: TextColumn, from: number, count: number, selection: Selection): Vector {
    if (column.encoding === 'dictionary') {
      this.#entries.text ??= textEntries(column.dictionary, 'text')
      const codes = column.codes.subarray(from, from + count)
      return { kind: 'dictionary', codes, entries: this.#entries.text }
    }
    const { validity } = column
    let valid: Uint8Array | undefined
    if (validity) {
      valid = newBytes(count)
      expandBits(validity, from, count, valid)
    }
    return column.encoding === 'plain'
      ? { kind: 'text', texts: column.texts, first: from, valid }
      : { kind: 'text', texts: column.texts.between(from, count, selection), first: 0, valid }
  }

  #readValues(from: number, count: number, selection: Selection): Vector {
    const values = new Array<Value>(count)
    const rows = rowsOf(selection, count)
    for (const row of rows) values[row] = this.#valueAt(from + row)
    return compactValues(values, rows)
  }

  #isElsewhere(from: number, count: number): boolean {
    return this.#elsewhere.some((bits) => bits === 'all' || anyBit(bits, from, count))
  }
}

function booleanVector(column: BooleanColumn, from: number, count: number): Vector {
  const values = newBytes(count)
  expandBits(column.bits, from, count, values)
  if (column.validity) {
    const valid = newBytes(count)
    expandBits(column.validity, from, count, valid)
    for (let i = 0; i < count; i++) {
      const isValid = valid[i]!
      values[i] = (values[i]! & isValid) | ((isValid ^ 1) * unknown)
    }
  }
  return { kind: 'boolean', values }
}

function numberVector(
  kind: 'number' | 'timestamp',
  column: NumberColumn,
  from: number,
  count: number,
): Vector {
  return { kind, values: column.values.subarray(from, from + count) }
}
