/**
 * One column of a batch while a query runs. Nulls are part of the values, so that kernels need no
 * second array: NaN among numbers (JSON has none), 2 among booleans, -1 among dictionary codes.
 */
import { decodeUtf8 } from '../json/utf8.ts'
import { parseJsonBytes } from '../type/parse-json.ts'
import { isTimeOfNumber, Timestamp, type Value } from '../type/value.ts'
import type { ColumnSet, Texts } from './column.ts'

/** The third truth value, in a byte beside 0 and 1. */
export const unknown = 2

export interface ConstantVector {
  readonly kind: 'constant'
  readonly value: Value
}

/** Doubles, or times in ms since 1970 UTC; NaN is null. */
export interface NumberVector {
  readonly kind: 'number' | 'timestamp'
  readonly values: Float64Array
}

/** One byte per row: 0 false, 1 true, 2 null. */
export interface BooleanVector {
  readonly kind: 'boolean'
  readonly values: Uint8Array
}

/** Codes into distinct values; -1 is null, and no entry is. */
export interface DictionaryVector {
  readonly kind: 'dictionary'
  readonly codes: Int32Array
  readonly entries: DictionaryEntries
}

/** Row `i` is text `first + i`, unless it is not valid. */
export interface TextVector {
  readonly kind: 'text'
  readonly texts: Texts
  readonly first: number
  /** One byte per row of the batch, 1 when valid; undefined when all are. */
  readonly valid: Uint8Array | undefined
}

/** Boxed values; only those of the rows that were asked for are set. */
export interface ValuesVector {
  readonly kind: 'values'
  readonly values: readonly Value[]
}

/** Values that are made when they are asked for, and then kept. */
export interface LazyVector {
  readonly kind: 'lazy'
  valueAt(row: number): Value
  /** What they are made of, as far as that can be searched. */
  readonly source: LazySource | undefined
}

/**
 * Either JSON texts: the value of row `i` is text `first + i`. Or objects: the value of row `i` is put
 * together from what row `first + i` of the set has below `path`, in whatever place.
 */
export type LazySource =
  | { readonly kind: 'json'; readonly texts: Texts; readonly first: number }
  | {
      readonly kind: 'object'
      readonly set: ColumnSet
      readonly path: readonly string[]
      readonly first: number
    }

export type Vector =
  | ConstantVector
  | NumberVector
  | BooleanVector
  | DictionaryVector
  | TextVector
  | ValuesVector
  | LazyVector

/** Indexes of the rows of a batch that are alive, ascending; undefined: all of them. */
export type Selection = Int32Array | undefined

/** The distinct values of a dictionary, decoded when they are first asked for. */
export interface DictionaryEntries {
  readonly size: number
  valueAt(code: number): Value
  /** The entries as they are, when they are texts. */
  readonly texts?: Texts
  /** The entries as a vector that expressions can be evaluated on. */
  readonly vector: TextVector | ValuesVector | LazyVector
  /** What has been computed from all entries, by the expression that it was computed for. */
  readonly memo: WeakMap<object, unknown>
}

/**
 * Values that were decoded are kept by chunks of so many entries: room for all of a large dictionary took a third of
 * the time of a look-up, which reads a few of them.
 */
const chunkBits = 8
const chunkEntries = 1 << chunkBits

/** Entries that are texts, or JSON texts that stand for the values they parse to. */
export function textEntries(texts: Texts, content: 'text' | 'json'): DictionaryEntries {
  const size = texts.offsets.length - 1
  const chunks = new Array<Value[] | undefined>(Math.ceil(size / chunkEntries))
  const valueAt = (code: number): Value => {
    let chunk = chunks[code >> chunkBits]
    if (chunk === undefined) {
      chunk = new Array<Value>(chunkEntries)
      chunks[code >> chunkBits] = chunk
    }
    const at = code & (chunkEntries - 1)
    let value = chunk[at]
    if (value === undefined) {
      value = decodeText(texts, content, code)
      chunk[at] = value
    }
    return value
  }
  return {
    size,
    valueAt,
    ...(content === 'text' && { texts }),
    vector:
      content === 'text'
        ? { kind: 'text', texts, first: 0, valid: undefined }
        : { kind: 'lazy', valueAt, source: { kind: 'json', texts, first: 0 } },
    memo: new WeakMap(),
  }
}

/** Text `at`, or the value that it is the JSON of. */
export function decodeText(texts: Texts, content: 'text' | 'json', at: number): Value {
  const [start, end] = [texts.offsets[at]!, texts.offsets[at + 1]!]
  return content === 'text'
    ? decodeUtf8(texts.bytes, start, end)
    : parseJsonBytes(texts.bytes, start, end)
}

export function valueEntries(values: readonly Value[]): DictionaryEntries {
  return {
    size: values.length,
    valueAt: (code) => values[code]!,
    vector: { kind: 'values', values },
    memo: new WeakMap(),
  }
}

/** A function that gives the value of one row, for loops that no kernel serves. */
export function valueReader(vector: Vector): (row: number) => Value {
  switch (vector.kind) {
    case 'constant': {
      const { value } = vector
      return () => value
    }
    case 'number': {
      const { values } = vector
      return (row) => {
        const value = values[row]!
        return Number.isNaN(value) ? null : value
      }
    }
    case 'timestamp': {
      const { values } = vector
      return (row) => {
        const value = values[row]!
        return Number.isNaN(value) ? null : new Timestamp(value)
      }
    }
    case 'boolean': {
      const { values } = vector
      return (row) => (values[row] === unknown ? null : values[row] === 1)
    }
    case 'dictionary': {
      const { codes, entries } = vector
      return (row) => {
        const code = codes[row]!
        return code < 0 ? null : entries.valueAt(code)
      }
    }
    case 'text': {
      const { texts, first, valid } = vector
      return (row) => {
        if (valid && valid[row] === 0) return null
        return decodeText(texts, 'text', first + row)
      }
    }
    case 'values': {
      const { values } = vector
      return (row) => values[row]!
    }
    case 'lazy':
      return (row) => vector.valueAt(row)
  }
}

/** @param make gives the value of one of `count` rows; is asked once for each */
export function lazyVector(
  count: number,
  make: (row: number) => Value,
  source: LazySource | undefined,
): LazyVector {
  // Not made where no value is asked for, as it is for predicates that bytes or a constant decide.
  let values: Value[] | undefined
  const valueAt = (row: number): Value => {
    values ??= new Array<Value>(count)
    let value = values[row]
    if (value === undefined) {
      value = make(row)
      values[row] = value
    }
    return value
  }
  return { kind: 'lazy', valueAt, source }
}

/**
 * The vector that holds these values most compactly.
 *
 * @param values one per row of the batch; rows that are not alive may hold anything
 */
export function compactValues(values: Value[], rows: Int32Array): Vector {
  let kind: 'number' | 'timestamp' | undefined
  for (const row of rows) {
    const value = values[row]!
    if (value === null) continue
    const found =
      typeof value === 'number' ? 'number' : isTimeOfNumber(value) ? 'timestamp' : undefined
    if (found === undefined || (kind !== undefined && found !== kind)) {
      return { kind: 'values', values }
    }
    kind = found
  }
  if (kind === undefined) return { kind: 'constant', value: null }
  const numbers = new Float64Array(values.length).fill(Number.NaN)
  for (const row of rows) {
    const value = values[row]!
    if (value === null) continue
    numbers[row] = value instanceof Timestamp ? value.ms : (value as number)
  }
  return { kind, values: numbers }
}

/** 0, 1, 2, …: the selection of all rows, as long as the largest batch so far. */
let everyRow = new Int32Array(0)

/** The rows of a selection, to loop over. */
export function rowsOf(selection: Selection, rowCount: number): Int32Array {
  if (selection) return selection
  if (everyRow.length < rowCount) everyRow = new Int32Array(rowCount).map((_, i) => i)
  return everyRow.subarray(0, rowCount)
}
