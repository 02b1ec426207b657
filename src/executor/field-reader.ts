/**
 * Reads a field out of a column set: in place when all its values are of one type, row by row when
 * they are mixed, and from the row store what no column holds.
 */
import type { BoundObject } from '../binder/bound.ts'
import { anyBit, bitAt, expandBits } from '../kernel/bitmap.ts'
import { formatPaginationKey, formatTransaction } from '../type/transaction.ts'
import { isObject, type Path, Timestamp, type Value, valueAt } from '../type/value.ts'
import type { ColumnSet, NumberColumn, PathColumns, TextColumn } from '../vector/column.ts'
import {
  compactValues,
  type DictionaryEntries,
  decodeText,
  rowsOf,
  type Selection,
  textEntries,
  unknown,
  type Vector,
} from '../vector/vector.ts'

export interface FieldReader {
  /** The field in the rows `from … from + count` of the set, as a batch of its own. */
  read(from: number, count: number, selection: Selection): Vector
  /** 1 where it is null. */
  isNull(from: number, count: number, selection: Selection): Uint8Array
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
  switch (path[0]) {
    case 'project_id':
      return constantField(path, object.projectId)
    case 'org_id':
      return constantField(path, object.type === 'project_logs' ? object.organizationId : null)
    case 'log_id':
      return constantField(path, object.type === 'project_logs' ? 'g' : null)
    case 'experiment_id':
      return constantField(path, object.type === 'experiment' ? object.id : null)
    case 'dataset_id':
      return constantField(path, object.type === 'dataset' ? object.id : null)
    case '_xact_id':
      return transactionField(set, path)
    case '_pagination_key': {
      const { paginationTransaction, paginationIndex } = set.keys
      return keyField(path, (row) =>
        formatPaginationKey({
          transaction: paginationTransaction[row]!,
          index: paginationIndex[row]!,
        }),
      )
    }
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
  readonly #set: ColumnSet
  readonly #path: Path
  readonly #fetch: RowFetcher
  /** The part of the path that columns have: object keys up to the first array index. */
  readonly #base: readonly string[]
  /** What is left to walk inside a value of the base path. */
  readonly #rest: Path
  readonly #columns: PathColumns
  /** `stored` bitmaps of the path and of those above and below it. */
  readonly #stored: readonly Uint8Array[]
  readonly #residual: TextColumn | undefined
  readonly #entries: { text?: DictionaryEntries; json?: DictionaryEntries } = {}

  constructor(set: ColumnSet, path: Path, fetch: RowFetcher) {
    this.#set = set
    this.#path = path
    this.#fetch = fetch
    const index = path.findIndex((part) => typeof part === 'number')
    this.#base = (index < 0 ? path : path.slice(0, index)) as readonly string[]
    this.#rest = path.slice(this.#base.length)
    this.#columns = set.columns(this.#base) ?? {}
    this.#stored = this.#storedBitmaps()
    this.#residual = set.residualMayHold(this.#base) ? set.residual : undefined
  }

  read(from: number, count: number, selection: Selection): Vector {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const whole = this.#rest.length === 0
    const scattered =
      this.#needsRow(from, count) ||
      this.#residualInRange(from, count) ||
      (whole && objects !== undefined && anyBit(objects, from, count))
    if (scattered) return this.#readValues(from, count, selection)
    const variants = [number, timestamp, boolean, text, json].filter((column) => column)
    if (variants.length === 0) return { kind: 'constant', value: null }
    if (variants.length > 1) return this.#readValues(from, count, selection)
    if (!whole) {
      return json ? this.#readJson(json, from, count, selection) : { kind: 'constant', value: null }
    }
    if (number) return numberVector('number', number, from, count)
    if (timestamp) return numberVector('timestamp', timestamp, from, count)
    if (boolean) {
      const values = new Uint8Array(count)
      expandBits(boolean.bits, from, count, values)
      if (boolean.validity) {
        for (let i = 0; i < count; i++) {
          if (bitAt(boolean.validity, from + i) === 0) values[i] = unknown
        }
      }
      return { kind: 'boolean', values }
    }
    if (text) return this.#readText(text, from, count)
    return this.#readJson(json!, from, count, selection)
  }

  isNull(from: number, count: number, selection: Selection): Uint8Array {
    const nulls = new Uint8Array(count)
    if (this.#rest.length > 0) {
      for (const row of rowsOf(selection, count)) {
        nulls[row] = this.#valueAt(from + row) === null ? 1 : 0
      }
      return nulls
    }
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const variants = [number, timestamp, boolean, text, json].filter((column) => column)
    if (variants.some((column) => column!.validity === undefined)) return nulls
    const present = variants.map((column) => column!.validity!)
    if (objects) present.push(objects)
    nulls.fill(1)
    for (const bits of present) {
      for (let i = 0; i < count; i++) nulls[i]! &= 1 - bitAt(bits, from + i)
    }
    if (this.#needsRow(from, count) || this.#residualInRange(from, count)) {
      for (const row of rowsOf(selection, count)) {
        if (nulls[row] === 1) nulls[row] = this.#valueAt(from + row) === null ? 1 : 0
      }
    }
    return nulls
  }

  #readText(column: TextColumn, from: number, count: number): Vector {
    if (column.encoding === 'dictionary') {
      this.#entries.text ??= textEntries(column.dictionary, 'text')
      const codes = column.codes.subarray(from, from + count)
      return { kind: 'dictionary', codes, entries: this.#entries.text }
    }
    const { texts, validity } = column
    let valid: Uint8Array | undefined
    if (validity) {
      valid = new Uint8Array(count)
      expandBits(validity, from, count, valid)
    }
    return { kind: 'text', texts, first: from, valid }
  }

  #readJson(column: TextColumn, from: number, count: number, selection: Selection): Vector {
    if (column.encoding === 'dictionary' && this.#rest.length === 0) {
      this.#entries.json ??= textEntries(column.dictionary, 'json')
      const codes = column.codes.subarray(from, from + count)
      return { kind: 'dictionary', codes, entries: this.#entries.json }
    }
    return this.#readValues(from, count, selection)
  }

  #readValues(from: number, count: number, selection: Selection): Vector {
    const values = new Array<Value>(count)
    const rows = rowsOf(selection, count)
    for (const row of rows) values[row] = this.#valueAt(from + row)
    return compactValues(values, rows)
  }

  /** The value in one row, wherever it is. */
  #valueAt(row: number): Value {
    if (this.#stored.some((bits) => bitAt(bits, row) === 1)) {
      return this.#fetch(this.#set, row, this.#path)
    }
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    if (json && isValid(json.validity, row)) {
      return valueAt(this.#entryAt(json, 'json', row), this.#rest)
    }
    if (objects && bitAt(objects, row) === 1) {
      return this.#rest.length > 0 ? null : this.#fetch(this.#set, row, this.#path)
    }
    if (this.#rest.length === 0) {
      if (number && isValid(number.validity, row)) return number.values[row]!
      if (timestamp && isValid(timestamp.validity, row))
        return new Timestamp(timestamp.values[row]!)
      if (boolean && isValid(boolean.validity, row)) return bitAt(boolean.bits, row) === 1
      if (text && isValid(text.validity, row)) return this.#entryAt(text, 'text', row)
    }
    return this.#residualValue(row)
  }

  #residualValue(row: number): Value {
    const residual = this.#residual
    if (!residual || !isValid(residual.validity, row)) return null
    const value = valueAt(textAt(residual, 'json', row), this.#path)
    // Part of an object may be in columns; only the row has it whole.
    return isObject(value) ? this.#fetch(this.#set, row, this.#path) : value
  }

  #entryAt(column: TextColumn, content: 'text' | 'json', row: number): Value {
    if (column.encoding === 'plain') return textAt(column, content, row)
    this.#entries[content] ??= textEntries(column.dictionary, content)
    return this.#entries[content].valueAt(column.codes[row]!)
  }

  #needsRow(from: number, count: number): boolean {
    return this.#stored.some((bits) => anyBit(bits, from, count))
  }

  #residualInRange(from: number, count: number): boolean {
    if (!this.#residual) return false
    const { validity } = this.#residual
    return validity === undefined || anyBit(validity, from, count)
  }

  #storedBitmaps(): Uint8Array[] {
    const above = this.#base.map((_, i) => this.#base.slice(0, i))
    return [...above, this.#base, ...this.#set.pathsBelow(this.#base)].flatMap(
      (path) => this.#set.columns(path)?.stored ?? [],
    )
  }
}

function numberVector(
  kind: 'number' | 'timestamp',
  column: NumberColumn,
  from: number,
  count: number,
): Vector {
  return { kind, values: column.values.subarray(from, from + count) }
}

function isValid(validity: Uint8Array | undefined, row: number): boolean {
  return validity === undefined || bitAt(validity, row) === 1
}

function textAt(column: TextColumn, content: 'text' | 'json', row: number): Value {
  const texts = column.encoding === 'plain' ? column.texts : column.dictionary
  const at = column.encoding === 'plain' ? row : column.codes[row]!
  return decodeText(texts, content, at)
}
