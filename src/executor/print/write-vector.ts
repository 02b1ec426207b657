/** Prints values of vectors as JSON. */
import type { ByteWriter } from '../../json/byte-writer.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { formatTimestamp } from '../../type/time.ts'
import type { Value } from '../../type/value.ts'
import { writeJson } from '../../type/write-json.ts'
import { type TextVector, type Vector, valueReader } from '../../vector/vector.ts'
import { checkCancelled } from '../thread/cancelled.ts'

export type ValueWriter = (row: number, out: ByteWriter) => void

const quote = 0x22
const backslash = 0x5c

/** A function that appends the JSON of one row's value. */
export function valueWriter(vector: Vector): ValueWriter {
  switch (vector.kind) {
    case 'number': {
      const { values } = vector
      return (row, out) => {
        const value = values[row]!
        // Of what is not finite, NaN is null and the rest has no JSON.
        out.text(Number.isFinite(value) ? String(value) : 'null')
      }
    }
    case 'timestamp': {
      const { values } = vector
      return (row, out) => {
        const ms = values[row]!
        out.text(Number.isNaN(ms) ? 'null' : `"${formatTimestamp(ms)}"`)
      }
    }
    case 'text':
      return textWriter(vector)
    case 'constant': {
      const text = writeJson(vector.value)
      return (_, out) => out.text(text)
    }
    default: {
      const read = valueReader(vector)
      return (row, out) => writeValue(read(row), out)
    }
  }
}

/** Members of a list between two cancellation checks: a millisecond or less. */
const listPart = 1024

function writeValue(value: Value, out: ByteWriter): void {
  if (!Array.isArray(value) || value.length <= listPart) {
    out.text(writeJson(value))
    return
  }
  const list = value as readonly Value[]
  for (let from = 0; from < list.length; from += listPart) {
    checkCancelled()
    const part = writeJson(list.slice(from, from + listPart))
    out.text(from === 0 ? '[' : ',')
    out.text(part.slice(1, -1))
  }
  out.text(']')
}

function textWriter(vector: TextVector): ValueWriter {
  const { texts, first, valid } = vector
  const { bytes, offsets } = texts
  return (row, out) => {
    if (valid && valid[row] === 0) out.text('null')
    else writeText(bytes, offsets[first + row]!, offsets[first + row + 1]!, out)
  }
}

/** Appends the UTF-8 from `start` to `end` as JSON. Most texts need no escapes, and are copied. */
export function writeText(bytes: Uint8Array, start: number, end: number, out: ByteWriter): void {
  if (needsEscape(bytes, start, end)) {
    out.text(JSON.stringify(decodeUtf8(bytes, start, end)))
    return
  }
  out.byte(quote)
  out.copy(bytes, start, end)
  out.byte(quote)
}

function needsEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte < 0x20 || byte === quote || byte === backslash) return true
  }
  return false
}
