/** Values of attributes and bodies, `AnyValue` in the protocol, in both encodings. */
import { isUtf8 } from 'node:buffer'
import { AssayError } from '../error.ts'
import { maximumDepth } from '../json/scan.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { isObject, type JsonObject, type Value } from '../type/value.ts'
import { readerOf } from './schema.ts'

/** Told of what is not kept as it was sent. */
export type Remark = (text: string) => void

type Reader = ReturnType<typeof readerOf>

/** Digits of an integer; texts that have more stay texts, as reading them takes ever longer. */
const longestInteger = 400

/**
 * The value that an `AnyValue` holds: bytes of a message, or what its JSON form was parsed to. What is
 * not of the type that it says to be is kept as it is; of an unknown kind, null. Numbers that are not
 * finite are the texts that JSON has for them. Throws where bytes are no message, or nest too deep.
 */
export function anyValue(any: unknown, remark: Remark): Value {
  if (any instanceof Uint8Array) return valueOfBytes(any, remark)
  return any === undefined ? null : valueOfJson(any as Value)
}

function valueOfBytes(bytes: Uint8Array, remark: Remark): Value {
  const reader = readerOf(bytes)
  return readAny(reader, reader.len, 0, remark)
}

function readAny(reader: Reader, end: number, depth: number, remark: Remark): Value {
  if (depth > maximumDepth) throw tooDeep()
  let value: Value = null
  while (reader.pos < end) {
    const tag = reader.uint32()
    switch (tag) {
      case 0x0a:
        value = textOfBytes(reader.bytes(), remark)
        break
      case 0x10:
        value = reader.bool()
        break
      case 0x18:
        value = integerOf(String(reader.int64()))
        break
      case 0x21:
        value = doubleOf(reader.double())
        break
      case 0x2a:
        value = readArray(reader, endOf(reader, end), depth + 1, remark)
        break
      case 0x32:
        value = readMembers(reader, endOf(reader, end), depth + 1, remark)
        break
      case 0x3a:
        value = Buffer.from(reader.bytes()).toString('base64')
        break
      default:
        reader.skipType(tag & 7)
    }
  }
  return ended(reader, end, value)
}

function readArray(reader: Reader, end: number, depth: number, remark: Remark): Value {
  const values: Value[] = []
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 0x0a) values.push(readAny(reader, endOf(reader, end), depth, remark))
    else reader.skipType(tag & 7)
  }
  return ended(reader, end, values)
}

function readMembers(reader: Reader, end: number, depth: number, remark: Remark): Value {
  const members: [string, Value][] = []
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 0x0a) members.push(readMember(reader, endOf(reader, end), depth, remark))
    else reader.skipType(tag & 7)
  }
  return ended(reader, end, Object.fromEntries(members))
}

function readMember(reader: Reader, end: number, depth: number, remark: Remark): [string, Value] {
  let key = ''
  let value: Value = null
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 0x0a) key = textOfBytes(reader.bytes(), remark)
    else if (tag === 0x12) value = readAny(reader, endOf(reader, end), depth, remark)
    else reader.skipType(tag & 7)
  }
  return ended(reader, end, [key, value])
}

/** Where the message that is next ends, within the one that it is part of. */
function endOf(reader: Reader, outerEnd: number): number {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > outerEnd) throw damaged()
  return end
}

function ended<Result>(reader: Reader, end: number, result: Result): Result {
  if (reader.pos !== end) throw damaged()
  return result
}

function textOfBytes(bytes: Uint8Array, remark: Remark): string {
  const text = decodeUtf8(bytes)
  if (text.includes('\ufffd') && !isUtf8(bytes)) {
    remark('is not UTF-8: U+FFFD stands for what cannot be read')
  }
  return text
}

function valueOfJson(any: Value): Value {
  if (any === null || !isObject(any)) return any
  const given = (name: string) => member(any, name)
  const text = given('stringValue')
  if (text !== null) return text
  const flag = given('boolValue')
  if (flag !== null) return flag
  const integer = given('intValue')
  if (integer !== null) return typeof integer === 'string' ? integerOf(integer) : integer
  const double = given('doubleValue')
  if (double !== null) return doubleOf(double)
  const array = given('arrayValue')
  if (array !== null) return elementsOf(array)
  const list = given('kvlistValue')
  if (list !== null) return membersOf(list)
  return given('bytesValue')
}

function elementsOf(array: Value): Value {
  if (!isObject(array)) return array
  const values = member(array, 'values')
  return Array.isArray(values) ? values.map(valueOfJson) : []
}

function membersOf(list: Value): Value {
  if (!isObject(list)) return list
  const values = member(list, 'values')
  if (!Array.isArray(values)) return {}
  return Object.fromEntries(
    values.filter(isMember).map((entry) => [String(entry.key), valueOfJson(entry.value ?? null)]),
  )
}

function isMember(entry: Value): entry is JsonObject {
  return entry !== null && isObject(entry) && Object.hasOwn(entry, 'key')
}

function integerOf(text: string): Value {
  if (!/^-?\d+$/.test(text) || text.length > longestInteger) return text
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** JSON has texts for doubles that its numbers cannot be, and some senders write all of them as texts. */
function doubleOf(value: Value): Value {
  if (typeof value === 'string') {
    const number = value.trim() === '' ? Number.NaN : Number(value)
    return Number.isFinite(number) ? number : value
  }
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** A member by its name in JSON, or by the one that the protocol's own files give it: `a_name` for `aName`. */
export function member(object: JsonObject, name: string): Value {
  if (Object.hasOwn(object, name)) return object[name]!
  const other = snakeCase(name)
  return other !== name && Object.hasOwn(object, other) ? object[other]! : null
}

const snakeCases = new Map<string, string>()

function snakeCase(name: string): string {
  let found = snakeCases.get(name)
  if (found === undefined) {
    found = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    snakeCases.set(name, found)
  }
  return found
}

function tooDeep(): AssayError {
  return new AssayError('REQUEST_TOO_DEEP', `nests deeper than ${maximumDepth} levels`)
}

function damaged(): AssayError {
  return new AssayError('REQUEST_INVALID', 'a message does not end where it says')
}
