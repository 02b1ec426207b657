/** Puts the columns of a chunk of rows together from vectors. */
import { assert } from '../error.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import { formatInterval, formatTimestamp, microsecondsOf } from '../type/time.ts'
import { Interval, Timestamp, type Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import type { Texts } from '../vector/column.ts'
import { type DictionaryEntries, unknown, type Vector, valueReader } from '../vector/vector.ts'
import type { ColumnData, ColumnValues } from './column-data.ts'
import type { ColumnType } from './column-type.ts'

/** One column of a chunk, which grows by the rows of batches. */
export abstract class ColumnBuffer {
  protected rowCount = 0
  readonly #valid: Uint8Array
  #nullCount = 0

  /** @param capacity how many rows may come */
  constructor(capacity: number) {
    this.#valid = new Uint8Array(capacity).fill(1)
  }

  /** Bytes that the column takes so far, about. */
  abstract get byteLength(): number

  /** Appends the first `rowCount` rows of a vector. */
  append(vector: Vector, rowCount: number): void {
    const read = valueReader(vector)
    for (let row = 0; row < rowCount; row++) this.push(read(row))
  }

  push(value: Value): void {
    // What is not finite has no JSON either.
    const isShown = typeof value !== 'number' || Number.isFinite(value)
    if (value === null || !isShown) this.pushNull()
    else {
      this.put(value)
      this.rowCount++
    }
  }

  finish(): ColumnData {
    const { rowCount } = this
    const valid = this.#nullCount === 0 ? undefined : this.#valid.subarray(0, rowCount)
    return { ...this.values(), rowCount, valid }
  }

  protected pushNull(): void {
    this.#nullCount++
    this.#valid[this.rowCount] = 0
    this.putNull()
    this.rowCount++
  }

  /** Writes a value that is not null at `rowCount`. */
  protected abstract put(value: Value): void
  /** Leaves row `rowCount` empty. */
  protected abstract putNull(): void
  protected abstract values(): ColumnValues
}

class BooleanBuffer extends ColumnBuffer {
  readonly #values: Uint8Array

  constructor(capacity: number) {
    super(capacity)
    this.#values = new Uint8Array(capacity)
  }

  get byteLength(): number {
    return this.rowCount
  }

  override append(vector: Vector, rowCount: number): void {
    if (vector.kind !== 'boolean') {
      super.append(vector, rowCount)
      return
    }
    const { values } = vector
    for (let row = 0; row < rowCount; row++) {
      if (values[row] === unknown) this.pushNull()
      else this.#values[this.rowCount++] = values[row]!
    }
  }

  protected put(value: Value): void {
    assert(typeof value === 'boolean', 'a column of booleans has met another value')
    this.#values[this.rowCount] = value ? 1 : 0
  }

  protected putNull(): void {}

  protected values(): ColumnValues {
    return { kind: 'booleans', values: this.#values.subarray(0, this.rowCount) }
  }
}

class NumberBuffer extends ColumnBuffer {
  readonly #values: Float64Array

  constructor(capacity: number) {
    super(capacity)
    this.#values = new Float64Array(capacity)
  }

  get byteLength(): number {
    return this.rowCount * 8
  }

  override append(vector: Vector, rowCount: number): void {
    if (vector.kind !== 'number') {
      super.append(vector, rowCount)
      return
    }
    const { values } = vector
    for (let row = 0; row < rowCount; row++) {
      if (Number.isFinite(values[row])) this.#values[this.rowCount++] = values[row]!
      else this.pushNull()
    }
  }

  protected put(value: Value): void {
    assert(typeof value === 'number', 'a column of numbers has met another value')
    this.#values[this.rowCount] = value
  }

  protected putNull(): void {}

  protected values(): ColumnValues {
    return { kind: 'numbers', values: this.#values.subarray(0, this.rowCount) }
  }
}

class IntegerBuffer extends ColumnBuffer {
  readonly #values: BigInt64Array
  readonly #toInteger: (value: Value) => bigint

  constructor(capacity: number, toInteger: (value: Value) => bigint) {
    super(capacity)
    this.#values = new BigInt64Array(capacity)
    this.#toInteger = toInteger
  }

  get byteLength(): number {
    return this.rowCount * 8
  }

  protected put(value: Value): void {
    this.#values[this.rowCount] = this.#toInteger(value)
  }

  protected putNull(): void {}

  protected values(): ColumnValues {
    return { kind: 'integers', values: this.#values.subarray(0, this.rowCount) }
  }
}

function integerOf(value: Value): bigint {
  if (typeof value === 'bigint') return value
  assert(Number.isInteger(value), 'a column of integers has met another value')
  return BigInt(value as number)
}

function timeInteger(value: Value): bigint {
  assert(value instanceof Timestamp, 'a column of times has met another value')
  return microsecondsOf(value)
}

/** Texts, or values as the texts of their JSON. */
export class TextBuffer extends ColumnBuffer {
  readonly #bytes = new ByteWriter(4096)
  readonly #offsets: Int32Array
  readonly #toText: (value: Value) => string

  constructor(capacity: number, toText: (value: Value) => string) {
    super(capacity)
    this.#offsets = new Int32Array(capacity + 1)
    this.#toText = toText
  }

  get byteLength(): number {
    return this.#bytes.length + this.rowCount * 4
  }

  override append(vector: Vector, rowCount: number): void {
    if (vector.kind === 'text' && this.#toText === textOf) {
      const { texts, first, valid } = vector
      for (let row = 0; row < rowCount; row++) {
        if (valid && valid[row] === 0) this.pushNull()
        else
          this.pushBytes(texts.bytes, texts.offsets[first + row]!, texts.offsets[first + row + 1]!)
      }
    } else super.append(vector, rowCount)
  }

  pushBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes.copy(bytes, start, end)
    this.#offsets[++this.rowCount] = this.#bytes.length
  }

  /** Appends what is written, unless that is `null`. */
  pushWritten(write: (out: ByteWriter) => void): void {
    const start = this.#bytes.length
    write(this.#bytes)
    const { bytes, length } = this.#bytes
    if (length - start === 4 && bytes[start] === 0x6e) {
      this.#bytes.truncate(start)
      this.pushNull()
    } else this.#offsets[++this.rowCount] = length
  }

  protected put(value: Value): void {
    this.#bytes.text(this.#toText(value))
    this.#offsets[this.rowCount + 1] = this.#bytes.length
  }

  protected putNull(): void {
    this.#offsets[this.rowCount + 1] = this.#bytes.length
  }

  protected values(): ColumnValues {
    return {
      kind: 'texts',
      texts: textsOf(this.#bytes, this.#offsets.subarray(0, this.rowCount + 1)),
    }
  }
}

/** Texts that repeat. */
class CodedBuffer extends ColumnBuffer {
  readonly #codes: Int32Array
  readonly #bytes = new ByteWriter(1024)
  readonly #offsets: number[] = [0]
  readonly #codeOf = new Map<string, number>()
  /** By the entries of a vector: the code here of each of its own; -1 of those that have not come. */
  readonly #maps = new Map<DictionaryEntries, Int32Array>()

  constructor(capacity: number) {
    super(capacity)
    this.#codes = new Int32Array(capacity)
  }

  get byteLength(): number {
    return this.#bytes.length + this.rowCount * 4
  }

  override append(vector: Vector, rowCount: number): void {
    if (vector.kind !== 'dictionary') {
      super.append(vector, rowCount)
      return
    }
    const { codes, entries } = vector
    const map = this.#mapOf(entries)
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row]!
      if (code < 0) this.pushNull()
      else {
        if (map[code]! < 0) map[code] = this.#add(textOf(entries.valueAt(code)))
        this.#codes[this.rowCount++] = map[code]!
      }
    }
  }

  #mapOf(entries: DictionaryEntries): Int32Array {
    const known = this.#maps.get(entries)
    if (known) return known
    const map = new Int32Array(entries.size).fill(-1)
    this.#maps.set(entries, map)
    return map
  }

  #add(text: string): number {
    const known = this.#codeOf.get(text)
    if (known !== undefined) return known
    const code = this.#codeOf.size
    this.#codeOf.set(text, code)
    this.#bytes.text(text)
    this.#offsets.push(this.#bytes.length)
    return code
  }

  protected put(value: Value): void {
    this.#codes[this.rowCount] = this.#add(textOf(value))
  }

  protected putNull(): void {}

  protected values(): ColumnValues {
    return {
      kind: 'coded',
      codes: this.#codes.subarray(0, this.rowCount),
      entries: textsOf(this.#bytes, Int32Array.from(this.#offsets)),
    }
  }
}

class ListBuffer extends ColumnBuffer {
  readonly #offsets: Int32Array
  readonly #bytes = new ByteWriter(1024)
  readonly #itemOffsets: number[] = [0]

  constructor(capacity: number) {
    super(capacity)
    this.#offsets = new Int32Array(capacity + 1)
  }

  get byteLength(): number {
    return this.#bytes.length + this.#itemOffsets.length * 4 + this.rowCount * 4
  }

  protected put(value: Value): void {
    assert(Array.isArray(value), 'a column of lists has met another value')
    for (const item of value as readonly Value[]) {
      this.#bytes.text(textOf(item))
      this.#itemOffsets.push(this.#bytes.length)
    }
    this.putNull()
  }

  protected putNull(): void {
    this.#offsets[this.rowCount + 1] = this.#itemOffsets.length - 1
  }

  protected values(): ColumnValues {
    return {
      kind: 'lists',
      offsets: this.#offsets.subarray(0, this.rowCount + 1),
      items: textsOf(this.#bytes, Int32Array.from(this.#itemOffsets)),
    }
  }
}

/** @param isCoded of texts: whether they repeat, and are to be kept once each */
export function columnBuffer(type: ColumnType, isCoded: boolean, capacity: number): ColumnBuffer {
  switch (type) {
    case 'boolean':
      return new BooleanBuffer(capacity)
    case 'number':
      return new NumberBuffer(capacity)
    case 'integer':
      return new IntegerBuffer(capacity, integerOf)
    case 'timestamp':
      return new IntegerBuffer(capacity, timeInteger)
    case 'text':
      return isCoded ? new CodedBuffer(capacity) : new TextBuffer(capacity, textOf)
    case 'texts':
      return new ListBuffer(capacity)
    case 'json':
      return new TextBuffer(capacity, writeJson)
  }
}

/** A value as plain text, without the quotes that JSON has. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value
  if (value instanceof Timestamp) return formatTimestamp(value)
  return value instanceof Interval ? formatInterval(value) : writeJson(value)
}

function textsOf(bytes: ByteWriter, offsets: Int32Array): Texts {
  return { bytes: bytes.view(), offsets }
}
