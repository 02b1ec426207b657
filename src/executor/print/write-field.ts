/**
 * A field of a stored row as JSON, the same whether a column or the row's text tells it: numbers are in their shortest
 * form, as in every answer, but for those with more digits than a double has. What is inside of objects and lists is
 * as it was sent.
 */
import type { ByteWriter } from '../../json/byte-writer.ts'
import { isDouble } from '../../json/number-text.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { parseJsonBytes } from '../../type/parse-json.ts'
import { writeJson } from '../../type/write-json.ts'
import type { FieldAtRow } from '../field/field-at-row.ts'
import { writeText } from './write-vector.ts'

/** Appends what the columns have in the row; false where the row's text is to be asked. */
export function writeFromColumns(field: FieldAtRow, row: number, out: ByteWriter): boolean {
  const text = field.textAt(row)
  if (text) {
    writeText(text, 0, text.length, out)
    return true
  }
  const value = field.valueAt(row)
  if (value === undefined) return false
  out.text(writeJson(value))
  return true
}

/** Appends the JSON text from `start` to `end` of a row. */
export function writeFromRow(bytes: Uint8Array, start: number, end: number, out: ByteWriter): void {
  if (isNumber(bytes[start]!) && !isShortest(bytes, start, end)) {
    const value = parseJsonBytes(bytes, start, end)
    if (typeof value === 'number' && isDouble(decodeUtf8(bytes, start, end), value)) {
      out.text(writeJson(value))
      return
    }
  }
  out.copy(bytes, start, end)
}

const [zero, nine, minus, point] = [0x30, 0x39, 0x2d, 0x2e]

/** Digits that a double has in any case. */
const safeDigits = 15

function isNumber(byte: number): boolean {
  return (byte >= zero && byte <= nine) || byte === minus
}

/** Whether a number is known to be as short as it can be, by its digits alone. */
function isShortest(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === minus ? start + 1 : start
  if (end - first > safeDigits) return false
  if (bytes[first] === zero) {
    // Zero may be negative, and what is less than a tenth may be shorter with an exponent.
    if (end === first + 1) return first === start
    if (bytes[first + 2] === zero) return false
  }
  let isWhole = true
  for (let at = first; at < end; at++) {
    const byte = bytes[at]!
    if (byte === point) isWhole = false
    else if (byte < zero || byte > nine) return false
  }
  return isWhole || bytes[end - 1] !== zero
}
