/**
 * Values of sort keys, carried fields and aggregates on their way between threads. Texts are bytes: a million of them as
 * strings take a thread a tenth of a second at either end of a message, and the main thread has two of those.
 */
import { ByteWriter } from '../../json/byte-writer.ts'
import { type PlainValue, toPlain } from '../../type/plain.ts'
import { isTimeOfNumber, type Timestamp, type Value } from '../../type/value.ts'
import { decodeText } from '../../vector/vector.ts'
import { checkAtTimes, checkCancelled } from '../thread/cancelled.ts'
import { objectAt } from './number-objects.ts'
import { slicePacked, unpackValues } from './packed-values.ts'
import { listReader, plainValues, textsOf, type WireValues } from './wire-values.ts'

/** The values as numbers, times or texts if they are nothing else, but for nulls. */
export function keyColumn(values: readonly Value[]): WireValues {
  switch (kindOf(values)) {
    case 'number':
      return { kind: 'number', values: numbersOf(values, (value) => value as number) }
    case 'timestamp':
      return { kind: 'timestamp', values: numbersOf(values, (value) => (value as Timestamp).ms) }
    case 'text':
      return textColumn(values as readonly (string | null)[])
    default:
      return plainValues(values)
  }
}

/** A value of the column as plain data. */
export function keyAt(column: WireValues, row: number): PlainValue {
  switch (column.kind) {
    case 'plain':
      return column.values[row]!
    case 'packed':
      return unpackValues(slicePacked(column, row, row + 1))[0]!
    case 'objects':
      return toPlain(objectAt(column, row))
    case 'lists':
      return toPlain(listReader(column)(row))
    case 'texts':
      return column.valid[row] === 0 ? null : toPlain(decodeText(textsOf(column), 'text', row))
    case 'coded': {
      const code = column.codes[row]!
      return code < 0 ? null : keyAt(column.values, code)
    }
    default: {
      const value = column.values[row]!
      if (Number.isNaN(value)) return null
      return column.kind === 'number' ? value : ['time', value]
    }
  }
}

function kindOf(values: readonly Value[]): 'number' | 'timestamp' | 'text' | 'mixed' {
  let kind: 'number' | 'timestamp' | 'text' | undefined
  for (const value of values) {
    checkAtTimes()
    if (value === null) continue
    const found = kindOfValue(value)
    if (found === 'mixed' || (kind ?? found) !== found) return 'mixed'
    kind = found
  }
  return kind ?? 'number'
}

const loneSurrogate = /\p{Surrogate}/u

function kindOfValue(value: Value): 'number' | 'timestamp' | 'text' | 'mixed' {
  if (typeof value === 'number') return 'number'
  // UTF-8 cannot hold half of a surrogate pair.
  if (typeof value === 'string') return loneSurrogate.test(value) ? 'mixed' : 'text'
  return isTimeOfNumber(value) ? 'timestamp' : 'mixed'
}

function numbersOf(values: readonly Value[], numberOf: (value: Value) => number): Float64Array {
  const numbers = new Float64Array(values.length)
  for (let i = 0; i < values.length; i++) {
    checkAtTimes()
    numbers[i] = values[i] === null ? Number.NaN : numberOf(values[i]!)
  }
  return numbers
}

function textColumn(values: readonly (string | null)[]): WireValues {
  const offsets = new Int32Array(values.length + 1)
  const valid = new Uint8Array(values.length)
  const bytes = new ByteWriter(values.length * 16)
  for (let i = 0; i < values.length; i++) {
    checkAtTimes()
    const value = values[i]!
    if (value !== null) {
      bytes.text(value)
      valid[i] = 1
    }
    offsets[i + 1] = bytes.length
  }
  checkCancelled()
  return { kind: 'texts', bytes: bytes.view(), offsets, valid }
}
