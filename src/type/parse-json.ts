/**
 * JSON text to values. Differs from `JSON.parse` in one thing: an integer outside ±2^53 becomes a
 * `bigint` with all its digits. A number whose exponent a double cannot hold is infinite, and
 * `__proto__` is a key like any other. Of duplicate keys the last wins.
 */
import { AssayError } from '../error.ts'
import { JsonScanner, maximumDepth } from '../json/scan.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import type { Value } from './value.ts'

/** An integer outside ±2^53 has no fewer digits. */
const longDigits = /\d{16}/

/** Throws REQUEST_NOT_JSON where the text is not JSON, REQUEST_TOO_DEEP where it nests too deep. */
export function parseJson(text: string, deepest = maximumDepth): Value {
  if (longDigits.test(text)) return parseExactly(Buffer.from(text), deepest)
  if (mayBeDeep(text, deepest)) check(text, deepest)
  try {
    return JSON.parse(text) as Value
  } catch (cause) {
    // Our own words say where the fault is, whatever the version of the runtime.
    check(text, deepest)
    throw new AssayError('REQUEST_NOT_JSON', 'the text is not JSON', { cause })
  }
}

/** Parses the UTF-8 bytes from `start` to `end`, as `parseJson` does their text. */
export function parseJsonBytes(bytes: Uint8Array, start = 0, end = bytes.length): Value {
  return parseJson(decodeUtf8(bytes, start, end))
}

function mayBeDeep(text: string, deepest: number): boolean {
  if (text.length <= deepest) return false
  let openers = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code === 0x5b || code === 0x7b) && ++openers > deepest) return true
  }
  return false
}

function check(text: string, deepest: number): void {
  const bytes = Buffer.from(text)
  const scanner = new JsonScanner(bytes, 0, bytes.length, deepest)
  scanner.value()
  scanner.finish()
}

function parseExactly(bytes: Buffer, deepest: number): Value {
  const scanner = new JsonScanner(bytes, 0, bytes.length, deepest)
  const value = readValue(scanner)
  scanner.finish()
  return value
}

/** Recurses no deeper than the scanner allows. */
function readValue(scanner: JsonScanner): Value {
  if (scanner.openArray()) {
    const elements: Value[] = []
    while (scanner.nextElement()) elements.push(readValue(scanner))
    return elements
  }
  if (scanner.openObject()) {
    const members: Record<string, Value> = {}
    while (scanner.nextMember()) {
      const key = JSON.parse(decodeUtf8(scanner.bytes, scanner.keyStart, scanner.keyEnd)) as string
      setOwn(members, key, readValue(scanner))
    }
    return members
  }
  const start = scanner.value()
  const text = decodeUtf8(scanner.bytes, start, scanner.position)
  if (/^-?\d{16,}$/.test(text)) {
    const number = Number(text)
    return Math.abs(number) > 2 ** 53 || BigInt(text) !== BigInt(number) ? BigInt(text) : number
  }
  return JSON.parse(text) as Value
}

function setOwn(members: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(members, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else {
    members[key] = value
  }
}
