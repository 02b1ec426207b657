/**
 * Rows of the form of `storage/row/row.ts` to columns, as `storage/shred/shred-row.ts` makes them of more rows than have
 * room here. A node of the tree of paths, which the caller makes, has:
 *
 *     first child i32, child count i32, last child found i32, name u32, name length i32,
 *     kinds u32, numbers u32, timestamps u32, texts u32, JSON u32, is the time i32,
 *     listed names in residuals i32, has too many of them to list i32
 */

import { withoutEscapes } from './escapes'
import {
  areEqual,
  byteAt,
  closeBrace,
  colon,
  comma,
  endOfContainer,
  endOfString,
  endOfValue,
  openBrace,
  openBracket,
  quote,
  skipPlain,
} from './json-text'
import { beginResidualPaths, nodeShift, notePath, reserveResidualPaths } from './residual-paths'
import { beginHeap, reserve } from './shred-heap'
import { appendText, beginTexts, finishText, newText, repeatText, takeBackText } from './shred-text'

/** The number that stands from `start` to `end`; NaN if no double holds it. */
declare function readNumber(start: usize, end: usize): f64

/** Writes the name in quotes as it is stored, which is no longer, and returns its length. */
declare function writeStoredName(start: usize, end: usize, target: usize): i32

/** Whether milliseconds tell all of the time that stands from `start` to `end`. */
declare function isTimeOfNumber(start: usize, end: usize): bool

const numberKind: i32 = 1
const timestampKind: i32 = 2

/** As `type/value.ts` has it. */
const nearMs: f64 = 8796093022208
const falseKind: i32 = 3
const trueKind: i32 = 4
const textKind: i32 = 5
const jsonKind: i32 = 6
const objectKind: i32 = 7
const storedKind: i32 = 8
const nullKind: i32 = 9

const directoryEntryBytes: usize = 12
const exactDigits: usize = 15
const guesses: i32 = 6
const mostDepth: i32 = 20
const residualRoom: usize = 2 * 1024 * 1024

let nodes: usize = 0
let rowCount: i32 = 0
let maximumBytes: usize = 0
/** Behind the nodes of the tree: that of residuals. */
let residualNode: usize = 0
let row: i32 = 0
let powersOfTen: usize = 0
/** Where strings are put without their escapes. */
let unescaped: usize = 0
let unescapedRoom: usize = 0

let residual: usize = 0
let residualLength: usize = 0
let enclosing: usize = 0
let enclosed: i32 = 0
let open: i32 = 0
let needsComma: bool = false
/** Of the field at hand: whether it names a key twice, and whether it has more of a residual than there may be. */
let hasDuplicate: bool = false
let hasOverflowed: bool = false

/** @param from where memory is free behind the `nodeCount` nodes, of which the last is for residuals */
export function beginShred(
  firstNode: usize,
  nodeCount: i32,
  rows: i32,
  mostValueBytes: i32,
  from: usize,
): bool {
  nodes = firstNode
  rowCount = rows
  maximumBytes = <usize>mostValueBytes
  residualNode = nodes + ((<usize>(nodeCount - 1)) << nodeShift)
  residual = 0
  beginResidualPaths(nodes)
  unescaped = 0
  unescapedRoom = 0
  beginHeap(from)
  beginTexts(rows)
  powersOfTen = reserve((exactDigits + 1) << 3)
  if (powersOfTen === 0) return false
  let power: f64 = 1
  for (let i: usize = 0; i <= exactDigits; i++) {
    store<f64>(powersOfTen + (i << 3), power)
    power *= 10
  }
  return true
}

/** Takes row number `number`; returns whether it could. */
export function shredRow(number: i32, start: usize, length: i32): bool {
  row = number
  residualLength = 0
  enclosed = 0
  open = 0
  needsComma = false
  const fieldCount = <usize>bswap<u32>(load<u32>(start, 4))
  const directory = start + <usize>length - fieldCount * directoryEntryBytes
  for (let i: usize = 0; i < fieldCount; i++) {
    const entry = directory + i * directoryEntryBytes
    const name = start + <usize>bswap<u32>(load<u32>(entry))
    const nameLength = <usize>bswap<u32>(load<u32>(entry, 4))
    const value = name + nameLength + 1
    const end = value + <usize>bswap<u32>(load<u32>(entry, 8))
    let node = guessChild(nodes, name)
    if (node === 0) node = findChild(nodes, name, nameLength)
    const length = residualLength
    const needed = needsComma
    hasDuplicate = false
    hasOverflowed = false
    if (node === 0) {
      if (!addResidual(nodes, name, name + nameLength, value, end)) return false
    } else if (!shredField(node, value, end, start)) return false
    if (!hasDuplicate && !hasOverflowed) continue
    residualLength = length
    needsComma = needed
    open = 0
    if (node === 0) return leaveToRowStore(nodes)
    if (!leaveToRowStore(node)) return false
  }
  if (residualLength === 0) return true
  store<u8>(residual + residualLength, closeBrace)
  return addTo(residualNode, 36, jsonKind, residual, residualLength + 1, false)
}

/** Takes back what the row has at the node and below, and says that the row store alone has it. */
function leaveToRowStore(node: usize): bool {
  clearBelow(node)
  return mark(node, storedKind)
}

function clearBelow(node: usize): void {
  clear(node)
  const first = nodes + ((<usize>load<i32>(node)) << nodeShift)
  const count = load<i32>(node, 4)
  for (let i = 0; i < count; i++) clearBelow(first + ((<usize>i) << nodeShift))
}

function clear(node: usize): void {
  const kinds = <usize>load<u32>(node, 20)
  if (kinds === 0) return
  const kind = <i32>load<u8>(kinds + <usize>row)
  const place = (<usize>row) << 3
  if (kind === numberKind) store<f64>(<usize>load<u32>(node, 24) + place, NaN)
  else if (kind === timestampKind) store<f64>(<usize>load<u32>(node, 28) + place, NaN)
  else if (kind === textKind) takeBackText(<usize>load<u32>(node, 32), row)
  else if (kind === jsonKind) takeBackText(<usize>load<u32>(node, 36), row)
  store<u8>(kinds + <usize>row, 0)
}

/** Brings texts into their last form; returns whether it could. */
export function finishShred(): bool {
  for (let node = nodes; node <= residualNode; node += 64) {
    const text = <usize>load<u32>(node, 32)
    if (text !== 0 && !finishText(text)) return false
    const json = <usize>load<u32>(node, 36)
    if (json !== 0 && !finishText(json)) return false
  }
  return true
}

/** The end of a field's value is known, so that strings and lists need not be looked through. */
function shredField(node: usize, start: usize, end: usize, rowStart: usize): bool {
  const first = byteAt(start)
  if (first === openBrace) return shredObject(node, start) !== 0
  if (first === openBracket) return addJson(node, start, end)
  if (first === quote) {
    if (load<i32>(node, 40) !== 0) {
      const ms = reinterpret<f64>(bswap<u64>(load<u64>(rowStart, 8)))
      // Of times far away a column may not have the microseconds.
      const isNear = abs<f64>(ms) < nearMs
      if (!isNear && !isTimeOfNumber(start + 1, end - 1)) return mark(node, storedKind)
      return addNumber(node, 28, timestampKind, ms)
    }
    if (repeat(node, start + 1) >= 0) return true
    return addText(node, start + 1, end - 1, skipPlain(start + 1) !== end - 1)
  }
  return shredValue(node, start) !== 0
}

/** Shreds the value at `start`; returns where it ends, or 0. */
function shredValue(node: usize, start: usize): usize {
  const kinds = <usize>load<u32>(node, 20)
  if (kinds !== 0 && load<u8>(kinds + <usize>row) !== 0) {
    // Only the last of duplicates counts; that is for the parser to say, not for columns.
    hasDuplicate = true
    return endOfValue(start)
  }
  const first = byteAt(start)
  if (first === quote) {
    const length = repeat(node, start + 1)
    if (length >= 0) return start + <usize>length + 2
    const plain = skipPlain(start + 1)
    if (byteAt(plain) === quote) return addText(node, start + 1, plain, false) ? plain + 1 : 0
    const end = endOfString(plain)
    return addText(node, start + 1, end - 1, true) ? end : 0
  }
  if (first === openBrace) return shredObject(node, start)
  if (first === openBracket) {
    const end = endOfContainer(start)
    return addJson(node, start, end) ? end : 0
  }
  if (first === 0x74) return mark(node, trueKind) ? start + 4 : 0
  if (first === 0x66) return mark(node, falseKind) ? start + 5 : 0
  if (first === 0x6e) return mark(node, nullKind) ? start + 4 : 0
  return shredNumber(node, start)
}

function shredObject(node: usize, start: usize): usize {
  if (byteAt(start + 1) === closeBrace) return addJson(node, start, start + 2) ? start + 2 : 0
  if (!mark(node, objectKind) || !enter(node)) return 0
  let at = start + 1
  while (true) {
    if (byteAt(at) !== quote) return 0
    let child = guessChild(node, at)
    let nameEnd = at
    if (child !== 0) nameEnd += <usize>load<i32>(child, 16)
    else {
      nameEnd = skipPlain(at + 1)
      const isSpelled = byteAt(nameEnd) !== quote
      nameEnd = isSpelled ? endOfString(nameEnd) : nameEnd + 1
      child = findChild(node, at, nameEnd - at)
      if (isSpelled && child === 0) {
        // The name may be known, but spelled in another way.
        if (!reserveUnescaped(nameEnd - at)) return 0
        const length = writeStoredName(at, nameEnd, unescaped)
        child = findChild(node, unescaped, <usize>length)
      }
    }
    if (byteAt(nameEnd) !== colon) return 0
    const value = nameEnd + 1
    let end: usize
    if (child !== 0) {
      end = shredValue(child, value)
      if (end === 0) return 0
    } else {
      end = endOfValue(value)
      if (!addResidual(node, at, nameEnd, value, end)) return 0
    }
    const next = byteAt(end)
    at = end + 1
    if (next === closeBrace) break
    if (next !== comma) return 0
  }
  leave()
  return at
}

function shredNumber(node: usize, start: usize): usize {
  let at = start
  const isNegative = byteAt(at) === 0x2d
  if (isNegative) at++
  const integer = at
  let mantissa: i64 = 0
  let digit = byteAt(at) - 0x30
  while (digit < 10) {
    mantissa = mantissa * 10 + <i64>digit
    digit = byteAt(++at) - 0x30
  }
  let digits = at - integer
  let fraction: usize = 0
  if (byteAt(at) === 0x2e) {
    const point = at
    digit = byteAt(++at) - 0x30
    while (digit < 10) {
      mantissa = mantissa * 10 + <i64>digit
      digit = byteAt(++at) - 0x30
    }
    fraction = at - point - 1
    digits += fraction
  }
  const last = byteAt(at)
  if (digits > exactDigits || (last | 0x20) === 0x65) {
    let end = at
    while (isOfNumber(byteAt(end))) end++
    const value = readNumber(start, end)
    if (!(value >= -Infinity)) return addJson(node, start, end) ? end : 0
    return addNumber(node, 24, numberKind, value) ? end : 0
  }
  // Both are exact, so that the one division rounds as the decimal text itself would.
  let value = <f64>mantissa
  if (fraction !== 0) value /= load<f64>(powersOfTen + (fraction << 3))
  return addNumber(node, 24, numberKind, isNegative ? -value : value) ? at : 0
}

/** Digits, point, signs and the exponent's letter. */
function isOfNumber(byte: u32): bool {
  return (byte >= 0x2b && byte <= 0x39 && byte !== comma && byte !== 0x2f) || (byte | 0x20) === 0x65
}

function mark(node: usize, kind: i32): bool {
  let kinds = <usize>load<u32>(node, 20)
  if (kinds === 0) {
    kinds = reserve(<usize>rowCount)
    if (kinds === 0) return false
    memory.fill(kinds, 0, <usize>rowCount)
    store<u32>(node, <u32>kinds, 20)
  }
  store<u8>(kinds + <usize>row, kind)
  return true
}

/** @param at where the node has the place of such numbers */
function addNumber(node: usize, at: usize, kind: i32, value: f64): bool {
  let numbers = <usize>load<u32>(node + at)
  if (numbers === 0) {
    numbers = reserve((<usize>rowCount) << 3)
    if (numbers === 0) return false
    for (let i = 0; i < rowCount; i++) store<f64>(numbers + ((<usize>i) << 3), NaN)
    store<u32>(node + at, <u32>numbers)
  }
  store<f64>(numbers + ((<usize>row) << 3), value)
  return mark(node, kind)
}

function repeat(node: usize, start: usize): i32 {
  const text = <usize>load<u32>(node, 32)
  if (text === 0) return -1
  const length = repeatText(text, row, start)
  if (length >= 0) store<u8>(<usize>load<u32>(node, 20) + <usize>row, textKind)
  return length
}

/** Sets the string whose bytes stand between `start` and `end`. */
function addText(node: usize, start: usize, end: usize, isEscaped: bool): bool {
  const length = end - start
  if (length > maximumBytes) return mark(node, storedKind)
  if (!isEscaped) return addTo(node, 32, textKind, start, length, true)
  if (!reserveUnescaped(length)) return false
  const written = withoutEscapes(start, end, unescaped)
  if (written < 0) return addJson(node, start - 1, end + 1)
  return addTo(node, 32, textKind, unescaped, <usize>written, false)
}

function reserveUnescaped(length: usize): bool {
  if (length <= unescapedRoom) return true
  unescapedRoom = max(<usize>4096, length * 2)
  unescaped = reserve(unescapedRoom)
  return unescaped !== 0
}

function addJson(node: usize, start: usize, end: usize): bool {
  if (end - start > maximumBytes) return mark(node, storedKind)
  return addTo(node, 36, jsonKind, start, end - start, false)
}

function addTo(
  node: usize,
  at: usize,
  kind: i32,
  start: usize,
  length: usize,
  isVerbatim: bool,
): bool {
  let text = <usize>load<u32>(node + at)
  if (text === 0) {
    text = newText()
    if (text === 0) return false
    store<u32>(node + at, <u32>text)
  }
  return appendText(text, row, start, length, isVerbatim) && mark(node, kind)
}

/** The child whose name stands at `at`, if it is easily found; or 0. */
function guessChild(node: usize, at: usize): usize {
  const count = load<i32>(node, 4)
  const first = nodes + ((<usize>load<i32>(node)) << nodeShift)
  let index = load<i32>(node, 8) + 1
  for (let tries = min(guesses, count); tries > 0; tries--, index++) {
    if (index >= count) index = 0
    const child = first + ((<usize>index) << nodeShift)
    if (!isNamed(child, at, <usize>load<i32>(child, 16))) continue
    store<i32>(node, index, 8)
    return child
  }
  return 0
}

function findChild(node: usize, at: usize, length: usize): usize {
  const count = load<i32>(node, 4)
  const first = nodes + ((<usize>load<i32>(node)) << nodeShift)
  for (let index = 0; index < count; index++) {
    const child = first + ((<usize>index) << nodeShift)
    if (<usize>load<i32>(child, 16) !== length || !isNamed(child, at, length)) continue
    store<i32>(node, index, 8)
    return child
  }
  return 0
}

function isNamed(child: usize, at: usize, length: usize): bool {
  return byteAt(at + length - 1) === quote && areEqual(at, <usize>load<u32>(child, 12), length)
}

/** Enters an object; it is written once something is in it. */
function enter(node: usize): bool {
  if (enclosed === mostDepth) return false
  if (residual === 0 && !beginResiduals()) return false
  store<u32>(enclosing + ((<usize>enclosed) << 2), <u32>node)
  enclosed++
  return true
}

function leave(): void {
  if (open === enclosed) {
    store<u8>(residual + residualLength++, closeBrace)
    open--
    needsComma = true
  }
  enclosed--
}

function beginResiduals(): bool {
  enclosing = reserve((<usize>mostDepth) << 2)
  residual = reserve(residualRoom)
  return enclosing !== 0 && residual !== 0 && reserveResidualPaths()
}

function addResidual(parent: usize, name: usize, nameEnd: usize, value: usize, end: usize): bool {
  if (residual === 0 && !beginResiduals()) return false
  if (residualLength + (end - value) + (nameEnd - name) > maximumBytes) {
    hasOverflowed = true
    notePath(parent, name, nameEnd)
    return true
  }
  if (residualLength === 0) store<u8>(residual + residualLength++, openBrace)
  while (open < enclosed) {
    const node = <usize>load<u32>(enclosing + ((<usize>open) << 2))
    const length = <usize>load<i32>(node, 16)
    if (residualLength + length + 64 > residualRoom) return false
    separate()
    write(<usize>load<u32>(node, 12), length)
    store<u8>(residual + residualLength++, colon)
    store<u8>(residual + residualLength++, openBrace)
    needsComma = false
    open++
  }
  if (residualLength + (end - name) + 64 > residualRoom) return false
  separate()
  write(name, nameEnd - name)
  store<u8>(residual + residualLength++, colon)
  write(value, end - value)
  needsComma = true
  notePath(parent, name, nameEnd)
  return true
}

function separate(): void {
  if (needsComma) store<u8>(residual + residualLength++, comma)
}

function write(from: usize, length: usize): void {
  memory.copy(residual + residualLength, from, length)
  residualLength += length
}
