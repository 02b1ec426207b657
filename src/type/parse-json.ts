/**
 * JSON text to values. Differs from `JSON.parse` in one thing: an integer outside ±2^53 becomes a
 * `bigint` with all its digits. A number whose exponent a double cannot hold is infinite, and
 * `__proto__` is a key like any other. Of duplicate keys the last wins.
 */
import { AssayError } from '../error.ts'
import { manyValues, requireRoomForValues } from '../json/heap-room.ts'
import { JsonScanner, jsonKind, maximumDepth } from '../json/scan.ts'
import { setMember } from '../json/set-member.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import type { Value } from './value.ts'

/** An integer outside ±2^53 has no fewer digits. */
const longDigits = /\d{16}/

/**
 * Throws REQUEST_NOT_JSON where the text is not JSON, REQUEST_TOO_DEEP where it nests too deep, LIMIT_MEMORY where its
 * values do not fit into the heap.
 */
export function parseJson(text: string): Value {
  if (text.length >= manyValues) requireRoomForValues(countValues(text))
  if (longDigits.test(text)) return readJson(text, valueOfNumber)
  if (mayBeDeep(text)) check(text)
  try {
    return JSON.parse(text) as Value
  } catch (cause) {
    // Our own words say where the fault is, whatever the version of the runtime.
    check(text)
    throw new AssayError('REQUEST_NOT_JSON', 'the text is not JSON', { cause })
  }
}

/** Parses the UTF-8 bytes from `start` to `end`, as `parseJson` does their text. */
export function parseJsonBytes(bytes: Uint8Array, start = 0, end = bytes.length): Value {
  return parseJson(decodeUtf8(bytes, start, end))
}

/** How many values a JSON text has, or somewhat more: each comma and each bracket that opens counts, also within texts. */
function countValues(text: string): number {
  let count = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    count += +(code === 0x2c || code === 0x5b || code === 0x7b)
  }
  return count
}

function mayBeDeep(text: string): boolean {
  if (text.length <= maximumDepth) return false
  let openers = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code === 0x5b || code === 0x7b) && ++openers > maximumDepth) return true
  }
  return false
}

function check(text: string): void {
  const scanner = new JsonScanner(Buffer.from(text))
  scanner.value()
  scanner.finish()
}

function valueOfNumber(text: string): number | bigint {
  const number = Number(text)
  if (!/^-?\d{16,}$/.test(text)) return number
  return Math.abs(number) > 2 ** 53 || BigInt(text) !== BigInt(number) ? BigInt(text) : number
}

/** What JSON is made of, with numbers as `Numeric`. */
export type JsonOf<Numeric> =
  | null
  | boolean
  | string
  | Numeric
  | JsonOf<Numeric>[]
  | { [key: string]: JsonOf<Numeric> }

/** Reads JSON whose numbers are what `numberOf` makes of their texts. Throws as `parseJson`. */
export function readJson<Numeric>(
  text: string,
  numberOf: (text: string) => Numeric,
): JsonOf<Numeric> {
  // UTF-8 cannot hold half of a surrogate pair.
  const scanner = new JsonScanner(Buffer.from(text.replace(/\p{Surrogate}/gu, escaped)))
  const value = readValue(scanner, numberOf)
  scanner.finish()
  return value
}

function escaped(half: string): string {
  return JSON.stringify(half).slice(1, -1)
}

/** Recurses no deeper than the scanner allows. */
function readValue<Numeric>(
  scanner: JsonScanner,
  numberOf: (text: string) => Numeric,
): JsonOf<Numeric> {
  if (scanner.openArray()) {
    const elements: JsonOf<Numeric>[] = []
    while (scanner.nextElement()) elements.push(readValue(scanner, numberOf))
    return elements
  }
  if (scanner.openObject()) {
    const members: { [key: string]: JsonOf<Numeric> } = {}
    while (scanner.nextMember()) {
      const key = JSON.parse(decodeUtf8(scanner.bytes, scanner.keyStart, scanner.keyEnd)) as string
      setMember(members, key, readValue(scanner, numberOf))
    }
    return members
  }
  const isNumber = jsonKind(scanner.peek()) === 'number'
  const start = scanner.value()
  const text = decodeUtf8(scanner.bytes, start, scanner.position)
  return isNumber ? numberOf(text) : (JSON.parse(text) as null | boolean | string)
}
