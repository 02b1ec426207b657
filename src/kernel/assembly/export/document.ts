/** Takes fields apart for the column `doc`, as `clickhouse/shred-fields.ts` tells. */
import { withoutEscapes } from '../rows/escapes'
import {
  byteAt,
  closeBrace,
  closeBracket,
  comma,
  endOfContainer,
  endOfString,
  hashOf,
  openBrace,
  openBracket,
  quote,
  skipPlain,
} from '../rows/json-text'
import { copy, outAt, setOut, writeByte, writeCount, writeDouble, writeText } from './out'
import { isLongInteger, readNumber, sortArray } from './outside'
import {
  documentPlace,
  listed,
  mostDocumentBytes,
  mostListedBytes,
  mostNames,
  mostPathBytes,
  nameHashes,
  path,
  powersOfTen,
  unescaped,
} from './places'

/** Types of values in a column of JSON, which come before each value. */
const float64Type: u32 = 0x0e
const stringType: u32 = 0x15
const booleanType: u32 = 0x2d

const mostValues: i32 = 2048
const deepest: i32 = 64
const mostListed: i32 = 64
/** Of bytes, which are no fewer than characters. */
const longestPath: usize = 512
const fewestLongDigits: usize = 16
/** Doubles have all integers of so many digits, and all powers of ten up to this one. */
const exactDigits: i32 = 15
const exactPowers: i32 = 22

let documentLength: usize = 0
let count: i32 = 0
let names: i32 = 0
/** Of the paths that are listed: how many, and where they end; and the same before the field at hand. */
let listedCount: i32 = 0
let listedEnd: usize = 0
let listedBefore: i32 = 0
let listedStart: usize = 0
/** Whether the value that was taken last has left anything. */
let isWritten: bool = false

/** The document is written where `documentPlace` is, until `endDocument`. */
export function beginDocument(): void {
  count = 0
  listedCount = 0
  listedEnd = listed
  setOut(documentPlace)
}

export function endDocument(): void {
  documentLength = outAt() - documentPlace
}

/** Writes the document and the listed paths. */
export function writeDocument(): void {
  writeCount(<usize>count)
  copy(documentPlace, documentLength)
  writeCount(<usize>listedCount)
  copy(listed, listedEnd - listed)
}

/** @param name its place behind the quote. Returns whether the field could be taken. */
export function addField(name: usize, nameLength: usize, value: usize): bool {
  listedBefore = listedCount
  listedStart = listedEnd
  names = 0
  const length = addName(0, name, nameLength)
  if (length === 0 || addValue(value, length, 1) === 0) return false
  if (listedCount - listedBefore > mostListed) {
    listedCount = listedBefore
    listedEnd = listedStart
    return list(length)
  }
  return true
}

/** Appends a name without escapes to a path; returns the new length, or 0 where there is no room. */
function addName(pathLength: usize, name: usize, nameLength: usize): usize {
  if (pathLength + nameLength * 3 > mostPathBytes - 64) return 0
  let to = path + pathLength
  for (let i: usize = 0; i < nameLength; i++) {
    const byte = byteAt(name + i)
    if (byte === 0x2e || byte === 0x25) {
      store<u8>(to, 0x25)
      store<u16>(to + 1, byte === 0x2e ? 0x4532 : 0x3532)
      to += 3
    } else store<u8>(to++, byte)
  }
  return to - path
}

/** Takes the value at `start`; returns where it ends, or 0 where that is not done here. */
function addValue(start: usize, pathLength: usize, depth: i32): usize {
  const first = byteAt(start)
  isWritten = true
  if (first === openBrace) return addObject(start, pathLength, depth)
  if (first === quote) return addString(start, pathLength)
  if (first === openBracket) return addArray(start, pathLength)
  if (first === 0x6e) {
    isWritten = false
    return start + 4
  }
  if (first === 0x74 || first === 0x66) {
    if (!beginValue(pathLength, booleanType, 1)) return 0
    writeByte(<u32>(first === 0x74))
    return start + (first === 0x74 ? 4 : 5)
  }
  return addNumber(start, pathLength)
}

/** Writes the path and the type of a value of `bytes` bytes; returns whether there is room. */
function beginValue(pathLength: usize, type: u32, bytes: usize): bool {
  if (outAt() + pathLength + bytes + 64 > documentPlace + mostDocumentBytes) return false
  count++
  writeText(path, pathLength)
  writeByte(type)
  return true
}

function addObject(start: usize, pathLength: usize, depth: i32): usize {
  if (depth > deepest || pathLength > longestPath || count > mostValues) return 0
  const firstName = names
  let hasValue = false
  let at = start + 1
  let byte = byteAt(at)
  while (byte !== closeBrace) {
    let name = at + 1
    const plain = skipPlain(name)
    let length = plain - name
    if (byteAt(plain) === quote) at = plain + 1
    else {
      at = endOfString(plain)
      const unescapedLength = withoutEscapes(name, at - 1, unescaped)
      if (unescapedLength < 0) return 0
      name = unescaped
      length = <usize>unescapedLength
    }
    if (!isNewName(firstName, name, length)) return 0
    store<u8>(path + pathLength, 0x2e)
    // Of an empty name nothing is added.
    const inner = length === 0 ? pathLength + 1 : addName(pathLength + 1, name, length)
    if (inner === 0) return 0
    at = addValue(at + 1, inner, depth + 1)
    if (at === 0) return 0
    if (isWritten) hasValue = true
    byte = byteAt(at)
    if (byte === comma) at++
  }
  names = firstName
  isWritten = true
  if (hasValue) return at + 1
  store<u32>(path + pathLength, 0x6f252e)
  if (!beginValue(pathLength + 3, booleanType, 1)) return 0
  writeByte(1)
  return at + 1
}

/** Whether no other name of the object is like it, of which its last is at `names`. */
function isNewName(firstName: i32, name: usize, length: usize): bool {
  if (names === mostNames) return false
  const hash = hashOf(name, name + length, 0)
  for (let i = firstName; i < names; i++) {
    if (load<u64>(nameHashes + ((<usize>i) << 3)) === hash) return false
  }
  store<u64>(nameHashes + ((<usize>names) << 3), hash)
  names++
  return true
}

function addString(start: usize, pathLength: usize): usize {
  const plain = skipPlain(start + 1)
  if (byteAt(plain) === quote) {
    const length = plain - start - 1
    if (!beginValue(pathLength, stringType, length)) return 0
    writeText(start + 1, length)
    return plain + 1
  }
  const end = endOfString(plain)
  const length = withoutEscapes(start + 1, end - 1, unescaped)
  if (length < 0 || !beginValue(pathLength, stringType, <usize>length)) return 0
  writeText(unescaped, <usize>length)
  return end
}

function addArray(start: usize, pathLength: usize): usize {
  const end = endOfContainer(start)
  store<u32>(path + pathLength, 0x61252e)
  if (!beginValue(pathLength + 3, stringType, end - start)) return 0
  if (isCanonical(start, end)) {
    writeText(start, end - start)
    return end
  }
  const room = documentPlace + mostDocumentBytes - outAt() - 64
  const told = sortArray(start, end, unescaped, min(room, <usize>0x100000))
  if (told < 0) return 0
  writeText(unescaped, <usize>(told >> 1))
  if ((told & 1) !== 0 && !list(pathLength)) return 0
  return end
}

/** Whether the array is certainly written as it stands. */
function isCanonical(start: usize, end: usize): bool {
  let at = start
  while (at < end) {
    const byte = byteAt(at)
    if (byte === quote) {
      at = skipPlain(at + 1)
      if (byteAt(at) !== quote) return false
      at++
    } else if (byte - 0x30 < 10 || byte === 0x2d) {
      const number = at
      while (byteAt(at) - 0x30 < 10 || byteAt(at) === 0x2d) at++
      const next = byteAt(at)
      if (next !== comma && next !== closeBracket) return false
      if (at - number > <usize>exactDigits || load<u16>(number) === 0x302d) return false
    } else {
      if (byte === openBrace) return false
      at++
    }
  }
  return true
}

function addNumber(start: usize, pathLength: usize): usize {
  let at = start
  const isNegative = byteAt(at) === 0x2d
  if (isNegative) at++
  let digits: i32 = 0
  let fraction: i32 = 0
  let mantissa: u64 = 0
  let byte = byteAt(at)
  for (; byte - 0x30 < 10; byte = byteAt(++at)) {
    mantissa = mantissa * 10 + <u64>(byte - 0x30)
    digits++
  }
  let isInteger = true
  if (byte === 0x2e) {
    isInteger = false
    byte = byteAt(++at)
    for (; byte - 0x30 < 10; byte = byteAt(++at)) {
      mantissa = mantissa * 10 + <u64>(byte - 0x30)
      digits++
      fraction++
    }
  }
  const isShort = digits <= exactDigits && fraction <= exactPowers
  if (isShort && (byte | 0x20) !== 0x65) {
    const value = <f64>mantissa / load<f64>(powersOfTen + ((<usize>fraction) << 3))
    if (!beginValue(pathLength, float64Type, 8)) return 0
    writeDouble(isNegative ? -value : value)
    return at
  }
  while (byte !== comma && byte !== closeBrace && byte !== quote && byte > 0x20) {
    if (byte === 0x2e || (byte | 0x20) === 0x65) isInteger = false
    byte = byteAt(++at)
  }
  return addLongNumber(start, at, isInteger, pathLength)
}

function addLongNumber(start: usize, end: usize, isInteger: bool, pathLength: usize): usize {
  const value = readNumber(start, end)
  if (!(abs<f64>(value) < Infinity)) return list(pathLength) ? end : 0
  if (!beginValue(pathLength, float64Type, 8)) return 0
  writeDouble(value)
  const mayBeLong = isInteger && end - start >= fewestLongDigits
  if (mayBeLong && isLongInteger(start, end) && !list(pathLength)) return 0
  return end
}

/** Lists the path; returns whether there is room. */
function list(pathLength: usize): bool {
  if (listedEnd + pathLength + 64 > listed + mostListedBytes) return false
  const back = outAt()
  setOut(listedEnd)
  writeText(path, pathLength)
  listedEnd = outAt()
  setOut(back)
  listedCount++
  return true
}
