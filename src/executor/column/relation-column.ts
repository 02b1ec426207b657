/** Columns of relations, which are `WireValues`: made of vectors and values, read as vectors, cut and put in another order. */
import { pickCodes, pickNumbers } from '../../kernel/gather.ts'
import { type PlainValue, toPlain } from '../../type/plain.ts'
import { isTimeOfNumber, Timestamp, type Value } from '../../type/value.ts'
import { rowsOf, type Selection, type Vector, valueReader } from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { pickedCodes } from './gather-vector.ts'
import { gatherObjects, NumberObjectsBuilder, objectAt, sliceObjects } from './number-objects.ts'
import { slicePacked, unpackValues } from './packed-values.ts'
import { sliceArray } from './shared-array.ts'
import {
  type ColumnVector,
  countOf,
  listReader,
  type PlainValues,
  type TextValues,
  vectorOf,
  type WireValues,
} from './wire-values.ts'

/** Rows `from … to` of a vector, without copying what is long. */
export function sliceVector(vector: ColumnVector, from: number, to: number): ColumnVector {
  switch (vector.kind) {
    case 'text': {
      const { texts, first, valid } = vector
      return { kind: 'text', texts, first: first + from, valid: valid?.subarray(from, to) }
    }
    case 'values':
      return { kind: 'values', values: vector.values.slice(from, to) }
    case 'dictionary':
      return { ...vector, codes: vector.codes.subarray(from, to) }
    default:
      return { kind: vector.kind, values: vector.values.subarray(from, to) }
  }
}

/** The column that holds these values most compactly. */
export function columnOf(values: readonly Value[]): WireValues {
  const builder = new ColumnBuilder(values.length)
  builder.append({ kind: 'values', values }, values.length, undefined)
  return builder.finish()
}

/** The same column, as numbers or times when it holds nothing else. */
export function compactColumn(column: WireValues): WireValues {
  if (column.kind !== 'plain') return column
  const { values } = column
  if (values.every((value) => value === null || typeof value === 'number')) {
    const numbers = Float64Array.from(values, (value) => (value as number | null) ?? Number.NaN)
    return { kind: 'number', values: numbers }
  }
  if (!values.every((value) => value === null || isTime(value))) return column
  const times = Float64Array.from(values, (value) =>
    value !== null && isTime(value) ? value[1] : Number.NaN,
  )
  return { kind: 'timestamp', values: times }
}

function isTime(value: PlainValue): value is readonly ['time', number] {
  // One that a number tells.
  return Array.isArray(value) && value[0] === 'time' && value[2] === undefined
}

/** Puts a column together from the vectors of batches. */
export class ColumnBuilder {
  /** NaN where nothing was appended. */
  readonly #numbers: Float64Array
  #kind: 'number' | 'timestamp' | undefined
  /** Once an object of numbers came, after nothing but nulls. */
  #objects: NumberObjectsBuilder | undefined
  /** Once values of another kind came. */
  #values: Value[] | undefined
  #count = 0

  constructor(rowCount: number) {
    this.#numbers = new Float64Array(rowCount).fill(Number.NaN)
  }

  /** Appends the selected rows of a vector. */
  append(vector: Vector, rowCount: number, selection: Selection): void {
    const count = selection ? selection.length : rowCount
    if (this.#appendNumbers(vector, count, selection)) return
    const read = valueReader(vector)
    for (const row of rowsOf(selection, rowCount)) {
      checkAtTimes()
      this.push(read(row))
    }
  }

  finish(): WireValues {
    if (this.#values) return { kind: 'plain', values: this.#values.map(toPlain) }
    if (this.#objects) return this.#objects.finish()
    return { kind: this.#kind ?? 'number', values: this.#numbers }
  }

  #appendNumbers(vector: Vector, count: number, selection: Selection): boolean {
    if (vector.kind !== 'number' && vector.kind !== 'timestamp') return false
    if (this.#values || this.#objects || (this.#kind ?? vector.kind) !== vector.kind) return false
    this.#kind = vector.kind
    const out = this.#numbers.subarray(this.#count, this.#count + count)
    if (selection) pickNumbers(vector.values, selection, out)
    else out.set(vector.values.subarray(0, count))
    this.#count += count
    return true
  }

  push(value: Value): void {
    if (!this.#values && !this.#takes(value)) this.#box()
    this.#values?.push(value)
    this.#count++
  }

  /** False where the value is none of what the column has been made of so far. */
  #takes(value: Value): boolean {
    if (this.#objects) return this.#objects.push(value)
    if (value === null) return true
    const kind = kindOfNumber(value)
    if (kind === undefined) return this.#kind === undefined && this.#beginsObjects(value)
    if ((this.#kind ?? kind) !== kind) return false
    this.#kind = kind
    this.#numbers[this.#count] = value instanceof Timestamp ? value.ms : (value as number)
    return true
  }

  #beginsObjects(value: Value): boolean {
    const objects = new NumberObjectsBuilder(this.#count)
    if (!objects.push(value)) return false
    this.#objects = objects
    return true
  }

  /** Changes over to values of any kind. */
  #box(): void {
    const objects = this.#objects?.finish()
    const read = objects
      ? (row: number) => objectAt(objects, row)
      : valueReader({ kind: this.#kind ?? 'number', values: this.#numbers })
    this.#values = Array.from({ length: this.#count }, (_, row) => read(row))
    this.#objects = undefined
  }
}

function kindOfNumber(value: Value): 'number' | 'timestamp' | undefined {
  if (typeof value === 'number') return 'number'
  return isTimeOfNumber(value) ? 'timestamp' : undefined
}

/** Gives rows `from … to` as a vector, made when they are asked for where a value of each row is to be made. */
export function vectorSlices(column: WireValues): (from: number, to: number) => ColumnVector {
  if (column.kind === 'objects' || column.kind === 'plain') {
    return (from, to) => vectorOf(sliceColumn(column, from, to))
  }
  if (column.kind === 'lists') {
    const listAt = listReader(column)
    return (from, to) => {
      return {
        kind: 'values',
        values: Array.from({ length: to - from }, (_, i) => listAt(from + i)),
      }
    }
  }
  const whole = vectorOf(column)
  return (from, to) => sliceVector(whole, from, to)
}

/** Gives the value of a row. */
export function columnReader(column: WireValues): (row: number) => Value {
  if (column.kind === 'objects') return (row) => objectAt(column, row)
  return column.kind === 'lists' ? listReader(column) : valueReader(vectorOf(column))
}

/** Rows `from … to`; see `sliceArray`. */
export function sliceColumn(column: WireValues, from: number, to: number): WireValues {
  switch (column.kind) {
    case 'texts': {
      const start = column.offsets[from]!
      return {
        kind: 'texts',
        bytes: sliceArray(column.bytes, start, column.offsets[to]!),
        offsets: column.offsets.slice(from, to + 1).map((offset) => offset - start),
        valid: sliceArray(column.valid, from, to),
      }
    }
    case 'plain':
      return { kind: 'plain', values: column.values.slice(from, to) }
    case 'packed':
      return slicePacked(column, from, to)
    case 'objects':
      return sliceObjects(column, from, to)
    case 'lists':
      return {
        ...column,
        starts: sliceArray(column.starts, from, to),
        ends: sliceArray(column.ends, from, to),
      }
    case 'coded':
      return { ...column, codes: sliceArray(column.codes, from, to) }
    default:
      return { kind: column.kind, values: sliceArray(column.values, from, to) }
  }
}

/** The values of all columns, one column after the other. */
export function concatenateColumns(columns: readonly WireValues[]): WireValues {
  if (columns.length === 1) return columns[0]!
  const counts = columns.map(countOf)
  const builder = new ColumnBuilder(counts.reduce((sum, count) => sum + count, 0))
  for (const [i, column] of columns.entries())
    builder.append(vectorOf(column), counts[i]!, undefined)
  return builder.finish()
}

/** The rows of these indexes, in their order. */
export function gatherColumn(column: WireValues, rows: Int32Array): WireValues {
  switch (column.kind) {
    case 'texts':
      return gatherTexts(column, rows)
    case 'plain':
      return gatherPlain(column.values, rows)
    case 'packed':
      return gatherPlain(unpackValues(column), rows)
    case 'objects':
      return gatherObjects(column, rows)
    case 'lists': {
      const starts = pickedCodes(column.starts, rows)
      return { ...column, starts, ends: pickedCodes(column.ends, rows) }
    }
    case 'coded': {
      const codes = new Int32Array(rows.length)
      pickCodes(column.codes, rows, codes)
      return { ...column, codes }
    }
    default: {
      const values = new Float64Array(rows.length)
      pickNumbers(column.values, rows, values)
      return { kind: column.kind, values }
    }
  }
}

/** The same, with null where the index is -1. The column has rows. */
export function gatherOrNull(column: WireValues, rows: Int32Array): WireValues {
  const gathered = gatherColumn(
    column,
    rows.map((row) => Math.max(0, row)),
  )
  const isNone = (i: number) => rows[i]! < 0
  switch (gathered.kind) {
    case 'objects':
    case 'texts':
      return { ...gathered, valid: gathered.valid.map((valid, i) => (isNone(i) ? 0 : valid)) }
    case 'lists':
      return { ...gathered, starts: gathered.starts.map((start, i) => (isNone(i) ? -1 : start)) }
    case 'coded':
      return { ...gathered, codes: gathered.codes.map((code, i) => (isNone(i) ? -1 : code)) }
    case 'plain':
    case 'packed': {
      const values = gathered.kind === 'packed' ? unpackValues(gathered) : gathered.values
      return { kind: 'plain', values: values.map((value, i) => (isNone(i) ? null : value)) }
    }
    default:
      return {
        kind: gathered.kind,
        values: gathered.values.map((value, i) => (isNone(i) ? Number.NaN : value)),
      }
  }
}

function gatherPlain(values: readonly PlainValue[], rows: Int32Array): PlainValues {
  return { kind: 'plain', values: Array.from(rows, (row) => values[row]!) }
}

function gatherTexts({ bytes, offsets, valid }: TextValues, rows: Int32Array): TextValues {
  const gathered = {
    offsets: new Int32Array(rows.length + 1),
    valid: new Uint8Array(rows.length),
  }
  let length = 0
  for (let i = 0; i < rows.length; i++) {
    checkAtTimes()
    const row = rows[i]!
    gathered.valid[i] = valid[row]!
    length += offsets[row + 1]! - offsets[row]!
    gathered.offsets[i + 1] = length
  }
  const out = new Uint8Array(length)
  let at = 0
  for (let i = 0; i < rows.length; i++) {
    checkAtTimes()
    const end = offsets[rows[i]! + 1]!
    // A loop beats the view that `set` would need: texts are short.
    for (let k = offsets[rows[i]!]!; k < end; k++) out[at++] = bytes[k]!
  }
  return { kind: 'texts', bytes: out, ...gathered }
}
