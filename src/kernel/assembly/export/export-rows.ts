/**
 * The loops that write rows of the row store (`storage/row/row.ts`) as rows of RowBinary, in the order of the columns of
 * `clickhouse/tables.ts`; compiled to `../../export.wasm`. What `clickhouse/row-encoder.ts` has to do is told by 0.
 */
import { withoutEscapes } from '../rows/escapes'
import {
  areEqual,
  byteAt,
  closeBrace,
  closeBracket,
  comma,
  endOfString,
  openBrace,
  openBracket,
  quote,
  skipPlain,
} from '../rows/json-text'
import { beginWords, cutWords, writeWords } from './cut-words'
import { addField, beginDocument, endDocument, writeDocument } from './document'
import { copy, outAt, setOut, write32, write64, writeByte, writeCount, writeText } from './out'
import {
  fieldNames,
  fieldTable,
  fieldValues,
  memberTable,
  mostFieldNameBytes,
  mostFields,
  mostMembers,
  outPlace,
  powersOfTen,
  roleCount,
  rowPlace,
  unescaped,
} from './places'

export {
  asciiTable,
  foldings,
  mostFoldingBytes,
  mostPages,
  mostRowBytes,
  outPlace,
  pages,
  pageTable,
  rowPlace,
} from './places'

/** What fields are besides values of the document, or instead: `kernel/export-rows.ts` has all of them. */
const idRole: u32 = 1
const spanIdRole: u32 = 2
const rootSpanIdRole: u32 = 3
const isRootRole: u32 = 4
const tagsRole: u32 = 6
const inputRole: u32 = 7
const outputRole: u32 = 8
const expectedRole: u32 = 9
const errorRole: u32 = 10
const spanAttributesRole: u32 = 12

const directoryEntryBytes: usize = 12
const tombstone: u32 = 1
const exactPowers: usize = 22

/** What a column of times holds, in ms since 1970. */
const firstTime: f64 = -2208988800000
const lastTime: f64 = 10413705600000

const nullKind: u32 = 1

let rowsEnd: usize = outPlace
let knownFields: i32 = 0
let nameEnd: usize = fieldNames

export function start(): void {
  let power: f64 = 1
  for (let i: usize = 0; i <= exactPowers; i++) {
    store<f64>(powersOfTen + (i << 3), power)
    power *= 10
  }
}

/** Adds the name in quotes that stands where the row does. */
export function addFieldName(length: i32, role: i32): bool {
  const hasRoom = nameEnd + <usize>length <= fieldNames + <usize>mostFieldNameBytes
  if (knownFields === mostFields || !hasRoom) return false
  memory.copy(nameEnd, rowPlace, <usize>length)
  const entry = fieldTable + ((<usize>knownFields) << 4)
  store<u32>(entry, <u32>nameEnd)
  store<i32>(entry, length, 4)
  store<i32>(entry, role, 8)
  nameEnd += <usize>length
  knownFields++
  return true
}

export function outEnd(): usize {
  return rowsEnd
}

export function clearOut(): void {
  rowsEnd = outPlace
}

/**
 * Adds the row of `length` bytes that stands at `rowPlace`; returns whether it could.
 *
 * @param by less than 0 for a version that nothing superseded
 */
export function addRow(
  length: i32,
  object: u32,
  versionTransaction: f64,
  versionIndex: u32,
  by: f64,
): bool {
  const flags = byteAt(rowPlace + 1)
  const fieldCount = <i32>bswap<u32>(load<u32>(rowPlace, 4))
  const ms = reinterpret<f64>(bswap<u64>(load<u64>(rowPlace, 8)))
  if ((flags & tombstone) !== 0 || fieldCount > mostMembers) return false
  if (!(ms >= firstTime && ms <= lastTime)) return false
  if (!readDirectory(rowPlace + <usize>length, fieldCount)) return false
  const previous = bswap<u64>(load<u64>(rowPlace, 32))
  if (!isText(rootSpanIdRole) && previous !== 0) return false
  setOut(rowsEnd)
  write32(object)
  write64(bswap<u64>(load<u64>(rowPlace, 16)))
  write64(((<u64>versionTransaction) << 16) | <u64>versionIndex)
  write64(bswap<u64>(load<u64>(rowPlace, 24)) >>> 16)
  write64(by < 0 ? <u64>-1 : <u64>by)
  writeByte(0)
  writeByte(flags)
  write64(previous)
  if (!writeName(idRole) || !writeName(spanIdRole) || !writeName(rootSpanIdRole)) return false
  writeByte(<u32>(beginOf(isRootRole) !== 0 && byteAt(beginOf(isRootRole)) === 0x74))
  write64(<u64>(<i64>rounded(ms * 1000)))
  if (!writeTags()) return false
  if (!writeValue(inputRole) || !writeValue(outputRole) || !writeValue(expectedRole)) return false
  writeDocument()
  if (!writeFieldWords()) return false
  writeBody(fieldCount)
  writeByte(kindOf(inputRole))
  writeByte(kindOf(outputRole))
  writeByte(kindOf(expectedRole))
  writeByte(kindOf(tagsRole))
  rowsEnd = outAt()
  return true
}

/** Notes where members and fields are, and makes the document; returns whether it could. */
function readDirectory(rowEnd: usize, fieldCount: i32): bool {
  memory.fill(fieldValues, 0, (<usize>roleCount) << 3)
  const directory = rowEnd - <usize>fieldCount * directoryEntryBytes
  beginDocument()
  for (let i = 0; i < fieldCount; i++) {
    const entry = directory + <usize>i * directoryEntryBytes
    const name = rowPlace + <usize>bswap<u32>(load<u32>(entry))
    const nameLength = <usize>bswap<u32>(load<u32>(entry, 4))
    const value = name + nameLength + 1
    const end = value + <usize>bswap<u32>(load<u32>(entry, 8))
    noteMember(i, name, end)
    const role = roleOf(name, nameLength)
    store<u32>(fieldValues + ((<usize>role) << 3), <u32>value)
    store<u32>(fieldValues + ((<usize>role) << 3), <u32>end, 4)
    const isOfDocument = role === 0 || (role >= errorRole && role <= spanAttributesRole)
    if (isOfDocument && !addDocumentField(name, nameLength, value)) return false
  }
  endDocument()
  return true
}

function addDocumentField(name: usize, nameLength: usize, value: usize): bool {
  if (skipPlain(name + 1) === name + nameLength - 1)
    return addField(name + 1, nameLength - 2, value)
  const length = withoutEscapes(name + 1, name + nameLength - 1, unescaped)
  return length >= 0 && addField(unescaped, <usize>length, value)
}

/** Members are noted in the order of the text. */
function noteMember(known: i32, start: usize, end: usize): void {
  let place = memberTable + ((<usize>known) << 3)
  while (place > memberTable && <usize>load<u32>(place - 8) > start) {
    store<u64>(place, load<u64>(place - 8))
    place -= 8
  }
  store<u32>(place, <u32>start)
  store<u32>(place, <u32>end, 4)
}

function roleOf(name: usize, length: usize): u32 {
  for (let i = 0; i < knownFields; i++) {
    const entry = fieldTable + ((<usize>i) << 4)
    if (<usize>load<u32>(entry, 4) !== length) continue
    if (areEqual(<usize>load<u32>(entry), name, length)) return load<u32>(entry, 8)
  }
  return 0
}

/** Where the field's value begins, and where it ends; 0 when the row has none. */
function beginOf(role: u32): usize {
  return <usize>load<u32>(fieldValues + ((<usize>role) << 3))
}

function endOf(role: u32): usize {
  return <usize>load<u32>(fieldValues + ((<usize>role) << 3), 4)
}

function isText(role: u32): bool {
  return beginOf(role) !== 0 && byteAt(beginOf(role)) === quote
}

function writeName(role: u32): bool {
  if (isText(role)) return writeString(beginOf(role), endOf(role))
  writeByte(0)
  return true
}

function writeString(start: usize, end: usize): bool {
  if (skipPlain(start + 1) === end - 1) {
    writeText(start + 1, end - start - 2)
    return true
  }
  const length = withoutEscapes(start + 1, end - 1, unescaped)
  if (length < 0) return false
  writeText(unescaped, <usize>length)
  return true
}

/** A string as it is, anything else as JSON. */
function writeValue(role: u32): bool {
  const start = beginOf(role)
  writeByte(<u32>(start === 0))
  if (start === 0) return true
  if (byteAt(start) === quote) return writeString(start, endOf(role))
  writeText(start, endOf(role) - start)
  return true
}

function writeTags(): bool {
  const start = beginOf(tagsRole)
  if (start === 0) {
    writeByte(0)
    return true
  }
  if (byteAt(start) !== openBracket) return false
  let count: usize = 0
  let at = start + 1
  while (byteAt(at) !== closeBracket) {
    if (byteAt(at) !== quote) return false
    at = endOfString(at + 1)
    if (byteAt(at) === comma) at++
    count++
  }
  writeCount(count)
  at = start + 1
  while (byteAt(at) !== closeBracket) {
    const end = endOfString(at + 1)
    if (!writeString(at, end)) return false
    at = end
    if (byteAt(at) === comma) at++
  }
  return true
}

function writeFieldWords(): bool {
  return writeWordsOf(inputRole) && writeWordsOf(outputRole) && writeOtherWords()
}

function writeWordsOf(role: u32): bool {
  beginWords(endOf(role) - beginOf(role))
  if (!addWords(role)) return false
  writeWords()
  return true
}

function writeOtherWords(): bool {
  let bytes: usize = 0
  for (let role = expectedRole; role <= spanAttributesRole; role++) {
    bytes += endOf(role) - beginOf(role)
  }
  beginWords(bytes + endOf(tagsRole) - beginOf(tagsRole))
  for (let role = expectedRole; role <= spanAttributesRole; role++) {
    if (!addWords(role)) return false
  }
  if (!addWords(tagsRole)) return false
  writeWords()
  return true
}

function addWords(role: u32): bool {
  return cutWords(beginOf(role), endOf(role))
}

function writeBody(fieldCount: i32): void {
  let length: usize = 1 + <usize>max(1, fieldCount)
  for (let i = 0; i < fieldCount; i++) {
    const member = memberTable + ((<usize>i) << 3)
    length += <usize>(load<u32>(member, 4) - load<u32>(member))
  }
  writeCount(length)
  writeByte(openBrace)
  for (let i = 0; i < fieldCount; i++) {
    if (i > 0) writeByte(comma)
    const member = memberTable + ((<usize>i) << 3)
    const start = <usize>load<u32>(member)
    copy(start, <usize>load<u32>(member, 4) - start)
  }
  writeByte(closeBrace)
}

/** As `clickhouse/tables.ts` numbers kinds. */
function kindOf(role: u32): u32 {
  const start = beginOf(role)
  if (start === 0) return nullKind
  const first = byteAt(start)
  if (first === 0x74 || first === 0x66) return 2
  if (first === quote) return 4
  if (first === openBracket) return 5
  if (first === openBrace) return 6
  return first === 0x6e ? nullKind : 3
}

/** To the nearest integer, and up from the middle between two. */
function rounded(value: f64): f64 {
  const below = Math.floor(value)
  return value - below >= 0.5 ? below + 1 : below
}
