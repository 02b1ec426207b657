import { isTimeOfNumber, Timestamp, type Value } from '../../type/value.ts'
import { valueReader } from '../../vector/vector.ts'
import { picked } from '../column/gather-vector.ts'
import { grown } from '../column/grown.ts'
import { keyColumn } from '../column/key-column.ts'
import { newResultNumbers } from '../column/shared-array.ts'
import { valueBytes } from '../column/value-bytes.ts'
import { type ColumnVector, vectorOf, type WireValues } from '../column/wire-values.ts'
import { checkAtTimes, inCheckedChunks } from '../thread/cancelled.ts'
import { compareNullsLast } from './row-order.ts'

/** Of a value in an array, and of a number among others. */
const [placeBytes, numberBytes] = [48, 24]

/**
 * The values of one key of many rows: numbers or times in an array of numbers as long as they are nothing else. A
 * million of them as values are as many objects for V8 to go through, and take three times as long to put in order.
 */
export class KeyList {
  /** NaN for null. */
  #numbers: Float64Array | undefined = new Float64Array(64)
  #kind: 'number' | 'timestamp' | undefined
  /** Once values of another kind came. */
  #values: Value[] = []
  /** Of those. */
  #valueBytes = 0
  #count = 0

  /** About as many bytes as the values take, and what is made of them when they are put in order. */
  get heldBytes(): number {
    return this.#count * (this.#numbers ? numberBytes : placeBytes) + this.#valueBytes
  }

  push(value: Value): void {
    if (this.#numbers) {
      const kind = kindOf(value)
      if (kind !== 'null') this.#kind ??= kind
      if (kind === 'null' || (kind !== undefined && kind === this.#kind)) {
        if (this.#count === this.#numbers.length) {
          this.#numbers = grown(this.#numbers, this.#count + 1, 0)
        }
        this.#numbers[this.#count++] = numberOf(value)
        return
      }
      this.#box(this.#numbers)
    }
    this.#values.push(value)
    this.#valueBytes += valueBytes(value)
    this.#count++
  }

  append(column: WireValues, count: number): void {
    const vector = vectorOf(column)
    if (this.#appendNumbers(vector, count)) return
    const read = valueReader(vector)
    for (let row = 0; row < count; row++) {
      checkAtTimes()
      this.push(read(row))
    }
  }

  at(place: number): Value {
    if (!this.#numbers) return this.#values[place]!
    const number = this.#numbers[place]!
    if (Number.isNaN(number)) return null
    return this.#kind === 'timestamp' ? new Timestamp(number) : number
  }

  /** Nulls last, whatever the direction. */
  compare(a: number, b: number, descending: boolean): number {
    const numbers = this.#numbers
    if (!numbers) return compareNullsLast(this.#values[a]!, this.#values[b]!, descending)
    const [first, second] = [numbers[a]!, numbers[b]!]
    if (first < second) return descending ? 1 : -1
    if (first > second) return descending ? -1 : 1
    return first === second ? 0 : Number(Number.isNaN(first)) - Number(Number.isNaN(second))
  }

  /** Keeps the values of these places alone, in their order. */
  keep(order: readonly number[]): void {
    if (this.#numbers) {
      this.#numbers = picked(this.#numbers, order, new Float64Array(order.length))
    } else {
      this.#values = picked(this.#values, order, [])
      this.#valueBytes = sizeOf(this.#values)
    }
    this.#count = order.length
  }

  /** The values of these places. */
  pick(order: readonly number[]): WireValues {
    if (!this.#numbers) return keyColumn(picked(this.#values, order, []))
    const values = picked(this.#numbers, order, newResultNumbers(order.length))
    return { kind: this.#kind ?? 'number', values }
  }

  #appendNumbers(vector: ColumnVector, count: number): boolean {
    if (vector.kind !== 'number' && vector.kind !== 'timestamp') return false
    if (!this.#numbers || (this.#kind ?? vector.kind) !== vector.kind) return false
    this.#kind = vector.kind
    const numbers = grown(this.#numbers, this.#count + count, 0)
    inCheckedChunks(count, (from, to) => {
      numbers.set(vector.values.subarray(from, to), this.#count + from)
    })
    this.#numbers = numbers
    this.#count += count
    return true
  }

  /** Changes over to values of any kind. */
  #box(numbers: Float64Array): void {
    const read = valueReader({ kind: this.#kind ?? 'number', values: numbers })
    this.#values = []
    for (let place = 0; place < this.#count; place++) {
      checkAtTimes()
      const value = read(place)
      this.#values.push(value)
      this.#valueBytes += valueBytes(value)
    }
    this.#numbers = undefined
  }
}

function kindOf(value: Value): 'number' | 'timestamp' | 'null' | undefined {
  if (typeof value === 'number') return 'number'
  if (value === null) return 'null'
  return isTimeOfNumber(value) ? 'timestamp' : undefined
}

function numberOf(value: Value): number {
  if (value === null) return Number.NaN
  return value instanceof Timestamp ? value.ms : (value as number)
}

function sizeOf(values: readonly Value[]): number {
  let bytes = 0
  for (const value of values) {
    checkAtTimes()
    bytes += valueBytes(value)
  }
  return bytes
}
