/** Rows to the body of a block, as `storage/row/row-block-body.ts` describes it. */
import { byteAt, quote } from './json-text'
import { outPlace, rowTable } from './places'

const mostPackedRows: i32 = 1024
/** Of a row: they are sorted by insertion. */
const mostFields: i32 = 1024
const headerBytes: usize = 40
const directoryEntryBytes: usize = 12

const plainValue: u32 = 0
const hexValue: u32 = 1
const uuidValue: u32 = 2
const fewestDigits: usize = 16
const uuidLength: usize = 38
const dash: u32 = 0x2d

/** Times, flags and shapes of rows. */
export const packedFixed: usize = outPlace
export const packedLengths: usize = packedFixed + 0x10000
export const packedTable: usize = packedLengths + 0x200000
/** Of each shape, of which each row may have one: its field count, and where its fields are. */
const shapeCounts: usize = packedTable + 0x100000
const shapePlaces: usize = shapeCounts + 0x1000
/** Of fields in the order of the text: rank, kind and length of the name. A row of 2 MiB has 120,000 at most. */
const shapeFields: usize = shapePlaces + 0x1000
/** Where the members of each row end. */
export const packedEnds: usize = shapeFields + 0x100000
/** Of the row at hand, by rank: begin, length of the name, of the value, and kind. */
const directory: usize = packedEnds + 0x1000
export const packedMembers: usize = directory + 0x4000

export let packedLengthsBytes: i32 = 0
export let packedTableBytes: i32 = 0
export let packedMembersBytes: i32 = 0

let shapes: i32 = 0
/** Where the fields of the next shape begin. */
let nextFields: usize = 0
let lengths: usize = 0
let members: usize = 0

/** Packs the rows whose begins and ends are in `rowTable`; returns whether it could. */
export function packRows(count: i32): bool {
  if (count > mostPackedRows) return false
  shapes = 0
  nextFields = shapeFields
  lengths = packedLengths
  members = packedMembers
  let shape: i32 = 0
  const flags = packedFixed + ((<usize>count) << 3)
  const shapesOf = flags + <usize>count
  for (let row = 0; row < count; row++) {
    const place = rowTable + ((<usize>row) << 3)
    const start = <usize>load<u32>(place)
    const end = <usize>load<u32>(place, 4)
    const fieldCount = <i32>bswap<u32>(load<u32>(start, 4))
    if (fieldCount > mostFields) return false
    readDirectory(start, end, fieldCount)
    if (shape >= shapes || !isOfShape(shape, fieldCount)) {
      for (shape = 0; shape < shapes; shape++) if (isOfShape(shape, fieldCount)) break
      if (shape === shapes) addShape(fieldCount)
    }
    store<u64>(packedFixed + ((<usize>row) << 3), load<u64>(start, 8))
    store<u8>(flags + <usize>row, load<u8>(start, 1))
    store<u16>(shapesOf + ((<usize>row) << 1), bswap<u16>(<u16>shape))
    addMembers(start, shape)
    store<u32>(packedEnds + ((<usize>row) << 2), <u32>(members - packedMembers))
  }
  packedLengthsBytes = <i32>(lengths - packedLengths)
  packedTableBytes = writeTable()
  packedMembersBytes = <i32>(members - packedMembers)
  return true
}

function fieldsOf(shape: i32): usize {
  return <usize>load<u32>(shapePlaces + ((<usize>shape) << 2))
}

function entryOf(rank: i32): usize {
  return directory + ((<usize>rank) << 4)
}

function readDirectory(start: usize, end: usize, fieldCount: i32): void {
  let from = end - <usize>fieldCount * directoryEntryBytes
  for (let rank = 0; rank < fieldCount; rank++) {
    const offset = bswap<u32>(load<u32>(from))
    const nameLength = bswap<u32>(load<u32>(from, 4))
    const valueLength = bswap<u32>(load<u32>(from, 8))
    const entry = entryOf(rank)
    store<u32>(entry, offset)
    store<u32>(entry, nameLength, 4)
    store<u32>(entry, valueLength, 8)
    const value = start + <usize>(offset + nameLength + 1)
    store<u32>(entry, kindOf(value, <usize>valueLength), 12)
    from += directoryEntryBytes
  }
}

function isOfShape(shape: i32, fieldCount: i32): bool {
  if (load<i32>(shapeCounts + ((<usize>shape) << 2)) !== fieldCount) return false
  let field = fieldsOf(shape)
  let after: u32 = 0
  for (let i = 0; i < fieldCount; i++) {
    const entry = entryOf(<i32>load<u16>(field))
    const offset = load<u32>(entry)
    if (offset < after || load<u32>(entry, 4) !== load<u32>(field, 4)) return false
    if (load<u32>(entry, 12) !== <u32>load<u16>(field, 2)) return false
    after = offset + 1
    field += 8
  }
  return true
}

function addShape(fieldCount: i32): void {
  const fields = nextFields
  nextFields += (<usize>fieldCount) << 3
  store<i32>(shapeCounts + ((<usize>shapes) << 2), fieldCount)
  store<u32>(shapePlaces + ((<usize>shapes) << 2), <u32>fields)
  for (let rank = 0; rank < fieldCount; rank++) {
    const entry = entryOf(rank)
    const offset = load<u32>(entry)
    // Sorted by where they stand in the text.
    let to = fields + ((<usize>rank) << 3)
    while (to > fields && load<u32>(entryOf(<i32>load<u16>(to - 8))) > offset) {
      store<u64>(to, load<u64>(to - 8))
      to -= 8
    }
    store<u16>(to, <u16>rank)
    store<u16>(to, <u16>load<u32>(entry, 12), 2)
    store<u32>(to, load<u32>(entry, 4), 4)
  }
  shapes++
}

/** Leaves out members that the row's directory does not name. */
function addMembers(start: usize, shape: i32): void {
  const count = load<i32>(shapeCounts + ((<usize>shape) << 2))
  let field = fieldsOf(shape)
  let copied = start + headerBytes
  let end = copied
  for (let i = 0; i < count; i++) {
    const entry = entryOf(<i32>load<u16>(field))
    const member = start + <usize>load<u32>(entry)
    const valueLength = load<u32>(entry, 8)
    writeVarint(valueLength)
    if (member !== end) {
      copyMembers(copied, end)
      copied = member
    }
    const value = member + <usize>load<u32>(field, 4) + 1
    end = value + <usize>valueLength
    const kind = <u32>load<u16>(field, 2)
    if (kind !== plainValue) {
      copyMembers(copied, value)
      packDigits(value + 1, end - 1)
      copied = end
    }
    field += 8
  }
  copyMembers(copied, end)
}

function copyMembers(from: usize, end: usize): void {
  memory.copy(members, from, end - from)
  members += end - from
}

function writeVarint(value: u32): void {
  let rest = value
  while (rest > 0x7f) {
    store<u8>(lengths++, (rest & 0x7f) | 0x80)
    rest >>= 7
  }
  store<u8>(lengths++, rest)
}

function writeTable(): i32 {
  let to = packedTable
  for (let shape = 0; shape < shapes; shape++) {
    const count = load<i32>(shapeCounts + ((<usize>shape) << 2))
    store<u16>(to, bswap<u16>(<u16>count))
    to += 2
    let field = fieldsOf(shape)
    for (let i = 0; i < count; i++) {
      store<u16>(to, bswap<u16>(load<u16>(field)))
      store<u32>(to, bswap<u32>(load<u32>(field, 4)), 2)
      store<u8>(to, <u8>load<u16>(field, 2), 6)
      to += 7
      field += 8
    }
  }
  return <i32>(to - packedTable)
}

function kindOf(value: usize, length: usize): u32 {
  if (length < fewestDigits + 2 || byteAt(value) !== quote) return plainValue
  if (length === uuidLength && byteAt(value + 9) === dash) {
    return isUuid(value + 1) ? uuidValue : plainValue
  }
  if ((length & 1) !== 0) return plainValue
  return areDigits(value + 1, length - 2) ? hexValue : plainValue
}

/** A bit for each of 16 bytes that is a hexadecimal digit in lower case. */
function digitsIn(bytes: v128): i32 {
  const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10))
  const letters = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x61)), i8x16.splat(6))
  return i8x16.bitmask(v128.or(digits, letters))
}

function areDigits(from: usize, length: usize): bool {
  let done: usize = 0
  for (; done + 16 <= length; done += 16) {
    if (digitsIn(v128.load(from + done)) !== 0xffff) return false
  }
  const last = (1 << (<i32>(length - done))) - 1
  return (digitsIn(v128.load(from + done)) & last) === last
}

/** Dashes at 8, 13, 18 and 23 of 36 characters, digits elsewhere. */
function isUuid(at: usize): bool {
  if (byteAt(at + 13) !== dash || byteAt(at + 18) !== dash || byteAt(at + 23) !== dash) return false
  return (
    digitsIn(v128.load(at)) === 0xdeff &&
    digitsIn(v128.load(at + 16)) === 0xff7b &&
    digitsIn(v128.load(at + 20)) === 0xfff7
  )
}

function ofDigit(digit: u32): u32 {
  return (digit & 15) + (digit > 0x39 ? 9 : 0)
}

/** Writes a byte for each two digits, and none for dashes. */
function packDigits(start: usize, end: usize): void {
  for (let at = start; at < end; at += 2) {
    if (byteAt(at) === dash) at++
    store<u8>(members++, (ofDigit(byteAt(at)) << 4) | ofDigit(byteAt(at + 1)))
  }
}
