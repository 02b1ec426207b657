/**
 * Takes the fields of a record apart for the column `doc`: a value for each path. ClickHouse's JSON cannot hold all that JSON
 * can, so what does not fit just as it is gets its path listed, and `body` has it:
 *
 * - numbers are doubles; integers that none holds are the nearest, and listed; what is beyond all doubles is only listed
 * - an array is its JSON with sorted keys, under the name `%a`
 * - an object without values has `true` under the name `%o`; a null within an object is left out
 * - of a name that an object has twice the first counts, and it is listed
 * - dots and percent signs in names are `%2E` and `%25`
 */
import { JsonScanner, jsonKind } from '../json/scan.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { parseJson } from '../type/parse-json.ts'
import { writeSortedJson } from '../type/write-json.ts'
import { BinaryRows } from './binary-rows.ts'
import { isPlain, stringOf } from './json-string.ts'

/** Values of a record, at most, and how deep they may be; what is beyond is listed by its field. */
const mostValues = 2048
const deepest = 64
/** Listed paths of a field, at most; of more the field is listed. */
const mostListed = 64
const longestPath = 512

/** Doubles have all integers of fewer digits. */
const fewestLongDigits = 16

const openBrace = 0x7b
const backslash = 0x5c

export class FieldShredder {
  /** Paths with their values. */
  readonly #values = new BinaryRows()
  #count = 0
  /** Of the record, and of the field that is taken apart. */
  #listed: string[] = []
  #listedOfField: string[] = []

  begin(): void {
    this.#values.clear()
    this.#count = 0
    this.#listed = []
  }

  add(field: string, bytes: Uint8Array, start: number, end: number): void {
    this.#listedOfField = []
    const path = escapedName(field)
    const scanner = new JsonScanner(bytes, start, end)
    this.#value(scanner, path, 1)
    if (this.#listedOfField.length > mostListed) this.#listed.push(path)
    else this.#listed.push(...this.#listedOfField)
  }

  /** Lists a path whose value is elsewhere. */
  list(path: string): void {
    this.#listed.push(path)
  }

  writeDocument(out: BinaryRows): void {
    out.count(this.#count)
    out.append(this.#values)
  }

  writeListed(out: BinaryRows): void {
    out.count(this.#listed.length)
    for (const path of this.#listed) out.text(path)
  }

  /** Whether anything was written. */
  #value(scanner: JsonScanner, path: string, depth: number): boolean {
    const kind = jsonKind(scanner.peek())
    if (kind === 'object') return this.#object(scanner, path, depth)
    const start = scanner.value()
    const { bytes, position: end } = scanner
    switch (kind) {
      case 'null':
        return false
      case 'boolean':
        this.#path(path)
        this.#values.dynamicBoolean(bytes[start] === 0x74)
        return true
      case 'number':
        return this.#number(decodeUtf8(bytes, start, end), path)
      case 'string':
        return this.#string(bytes, start, end, path)
      case 'array':
        return this.#array(bytes, start, end, path)
    }
  }

  #object(scanner: JsonScanner, path: string, depth: number): boolean {
    if (depth > deepest || path.length > longestPath || this.#count > mostValues) {
      scanner.value()
      this.#list(path)
      return true
    }
    let hasValue = false
    const names = new Set<string>()
    scanner.openObject()
    while (scanner.nextMember()) {
      const name = stringOf(scanner.bytes, scanner.keyStart, scanner.keyEnd)
      const inner = `${path}.${escapedName(name)}`
      if (names.has(name) || hasHalf(name)) {
        scanner.value()
        this.#list(hasHalf(name) ? path : inner)
        hasValue = true
        continue
      }
      names.add(name)
      if (this.#value(scanner, inner, depth + 1)) hasValue = true
    }
    if (!hasValue) this.#empty(path)
    return true
  }

  #empty(path: string): void {
    this.#path(`${path}.%o`)
    this.#values.dynamicBoolean(true)
  }

  #number(text: string, path: string): boolean {
    const number = Number(text)
    if (!Number.isFinite(number)) {
      this.#list(path)
      return true
    }
    this.#path(path)
    this.#values.dynamicNumber(number)
    if (text.length >= fewestLongDigits && isLongInteger(text, number)) this.#list(path)
    return true
  }

  #string(bytes: Uint8Array, start: number, end: number, path: string): boolean {
    if (isPlain(bytes, start, end)) {
      this.#path(path)
      this.#values.dynamicText()
      this.#values.bytes(bytes, start + 1, end - 1)
      return true
    }
    const text = stringOf(bytes, start, end)
    if (hasHalf(text)) this.#list(path)
    this.#path(path)
    this.#values.dynamicText()
    this.#values.text(text)
    return true
  }

  #array(bytes: Uint8Array, start: number, end: number, path: string): boolean {
    this.#path(`${path}.%a`)
    this.#values.dynamicText()
    if (isCanonical(bytes, start, end)) {
      this.#values.bytes(bytes, start, end)
      return true
    }
    const text = writeSortedJson(parseJson(decodeUtf8(bytes, start, end)))
    this.#values.text(text)
    // Sorting keys changes no length; all else does.
    if (Buffer.byteLength(text) !== end - start) this.#list(path)
    return true
  }

  #path(path: string): void {
    this.#count++
    this.#values.text(path)
  }

  #list(path: string): void {
    this.#listedOfField.push(path)
  }
}

/** Whether an array's JSON is certainly what it would be written as. */
function isCanonical(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte === openBrace || byte === backslash) return false
    // A negative zero is written as zero.
    if (byte === 0x2d && bytes[at + 1] === 0x30) return false
    // A point or an exponent of a number, or of a text.
    if (byte === 0x2e || byte === 0x45 || byte === 0x65) return !isNumeric(bytes, start, end)
  }
  return true
}

/** Whether the array may have numbers. */
function isNumeric(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= 0x30 && byte <= 0x39) return true
    if (byte === openBrace || byte === backslash) return true
  }
  return false
}

/** Whether it is an integer that no double has. */
function isLongInteger(text: string, nearest: number): boolean {
  return /^-?\d+$/.test(text) && BigInt(text) !== BigInt(nearest)
}

/** Whether the text has half of a surrogate pair, which UTF-8 cannot hold. */
export function hasHalf(text: string): boolean {
  // Of pairs and halves alike, which hardly any text has.
  return /[\ud800-\udfff]/.test(text) && /\p{Surrogate}/u.test(text)
}

export function escapedName(name: string): string {
  if (!name.includes('.') && !name.includes('%')) return name
  return name.replaceAll('%', '%25').replaceAll('.', '%2E')
}
