/**
 * Checks JSON and copies it without white space. What is not valid, or nests too deep, is left to
 * `json/scan.ts`, which says what is wrong. Behind the text there is a zero byte, which nothing has in it.
 */
import { kindStack } from './places'

export const quote: u32 = 0x22
export const comma: u32 = 0x2c
export const colon: u32 = 0x3a
export const backslash: u32 = 0x5c
export const openBracket: u32 = 0x5b
export const closeBracket: u32 = 0x5d
export const openBrace: u32 = 0x7b
export const closeBrace: u32 = 0x7d

const mostNames: i32 = 1024

/** Where what is copied goes. */
let out: usize = 0

/** Objects and lists that may enclose a value, itself included. */
let mostDepth: i32 = 0

/** Whether a string that was copied since `expectAttachments` says that an object is an attachment. */
let hasAttachment: bool = false

/** Of the names in the object that was copied last, and of those in its objects. */
let hash: u64 = 0
let names: i32 = 0

export function outAt(): usize {
  return out
}

export function setOut(to: usize): void {
  out = to
}

export function setMostDepth(depth: i32): void {
  mostDepth = depth
}

export function expectAttachments(): void {
  hasAttachment = false
}

export function foundAttachment(): bool {
  return hasAttachment
}

export function namesHash(): u64 {
  return names === 0 ? 0 : hash
}

export function byteAt(at: usize): u32 {
  return <u32>load<u8>(at)
}

export function skipSpace(from: usize): usize {
  let at = from
  let byte = byteAt(at)
  while (byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)) {
    byte = byteAt(++at)
  }
  return at
}

function isHexadecimal(byte: u32): bool {
  return byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 6
}

/** Where the first byte is from `from` on that does not stand for itself in a string. */
export function skipPlain(from: usize): usize {
  let at = from
  while (true) {
    const mask = specialsIn(v128.load(at))
    if (mask !== 0) return at + <usize>ctz(mask)
    at += 16
  }
}

function specialsIn(bytes: v128): i32 {
  const quotes = i8x16.eq(bytes, i8x16.splat(0x22))
  const backslashes = i8x16.eq(bytes, i8x16.splat(0x5c))
  const controls = i8x16.lt_u(bytes, i8x16.splat(0x20))
  return i8x16.bitmask(v128.or(v128.or(quotes, backslashes), controls))
}

/** Copies `length` bytes, and perhaps some of what follows them. */
export function copyBytes(from: usize, length: usize): void {
  let done: usize = 0
  do {
    v128.store(out + done, v128.load(from + done))
    done += 16
  } while (done < length)
  out += length
}

export function writeByte(byte: u32): void {
  store<u8>(out++, byte)
}

/** Copies the string at `from`. Returns where it ends, or 0 if it is not valid. */
export function copyString(from: usize): usize {
  let at = from + 1
  let to = out
  store<u8>(to++, quote)
  while (true) {
    const bytes = v128.load(at)
    v128.store(to, bytes)
    const mask = specialsIn(bytes)
    if (mask === 0) {
      at += 16
      to += 16
      continue
    }
    const plain = <usize>ctz(mask)
    at += plain
    to += plain
    const byte = byteAt(at)
    if (byte === quote) {
      if (at - from === attachmentLength + 1 && isAttachment(from + 1)) hasAttachment = true
      out = to + 1
      return at + 1
    }
    if (byte !== backslash) return 0
    const letter = byteAt(at + 1)
    store<u16>(to, load<u16>(at))
    if (letter === 0x75) {
      for (let i: usize = 2; i < 6; i++) if (!isHexadecimal(byteAt(at + i))) return 0
      store<u32>(to + 2, load<u32>(at + 2))
      at += 6
      to += 6
    } else if (isEscape(letter)) {
      at += 2
      to += 2
    } else return 0
  }
}

/** Of the text `braintrust_attachment`. */
const attachmentLength: usize = 21

function isAttachment(at: usize): bool {
  if (load<u32>(at) !== 0x69617262 || load<u32>(at, 4) !== 0x7572746e) return false
  if (load<u32>(at, 8) !== 0x615f7473 || load<u32>(at, 12) !== 0x63617474) return false
  return load<u32>(at, 16) === 0x6e656d68 && byteAt(at + 20) === 0x74
}

function isEscape(letter: u32): bool {
  return (
    letter === quote ||
    letter === backslash ||
    letter === 0x6e ||
    letter === 0x74 ||
    letter === 0x72 ||
    letter === 0x2f ||
    letter === 0x62 ||
    letter === 0x66
  )
}

/** Copies the value at `from`. Returns where it ends, or 0 if it is not valid. */
export function copyValue(from: usize): usize {
  names = 0
  const byte = byteAt(from)
  if (byte === quote) return copyString(from)
  if (byte === openBrace || byte === openBracket) return copyContainer(from)
  return copyScalar(from)
}

function copyScalar(from: usize): usize {
  const byte = byteAt(from)
  const word = load<u32>(from)
  if (byte === 0x74 || byte === 0x6e) {
    if (word !== 0x65757274 && word !== 0x6c6c756e) return 0
    store<u32>(out, word)
    out += 4
    return from + 4
  }
  if (byte === 0x66) {
    if (load<u32>(from + 1) !== 0x65736c61) return 0
    store<u8>(out, 0x66)
    store<u32>(out + 1, 0x65736c61)
    out += 5
    return from + 5
  }
  const end = endOfNumber(from)
  if (end !== 0) copyBytes(from, end - from)
  return end
}

function endOfNumber(from: usize): usize {
  let at = from
  if (byteAt(at) === 0x2d) at++
  if (byteAt(at) === 0x30) at++
  else {
    at = skipDigits(at)
    if (at === 0) return 0
  }
  if (byteAt(at) === 0x2e) {
    at = skipDigits(at + 1)
    if (at === 0) return 0
  }
  if ((byteAt(at) | 0x20) === 0x65) {
    at++
    const sign = byteAt(at)
    if (sign === 0x2b || sign === 0x2d) at++
    at = skipDigits(at)
  }
  return at
}

function skipDigits(from: usize): usize {
  let at = from
  while (byteAt(at) - 0x30 < 10) at++
  return at === from ? 0 : at
}

function copyContainer(from: usize): usize {
  const isRecord = byteAt(from) === openBrace
  let at = from
  let byte = byteAt(at)
  let depth: i32 = 0
  /** A bit for each container that is open, up to 64, the innermost the lowest: 1 for objects. */
  let kinds: u64 = 0
  hash = 0
  while (true) {
    if (byte === quote) {
      at = copyString(at)
      if (at === 0) return 0
    } else if (byte === openBrace || byte === openBracket) {
      if (depth === mostDepth) return 0
      writeByte(byte)
      const isObject = <u64>(byte === openBrace)
      if ((depth & 63) === 0) keepKinds(depth, kinds)
      kinds = (kinds << 1) | isObject
      depth++
      at = skipSpace(at + 1)
      byte = byteAt(at)
      if (byte === (isObject !== 0 ? closeBrace : closeBracket)) {
        writeByte(byte)
        at++
        depth--
        kinds = kindsAround(depth, kinds)
      } else {
        if (isObject !== 0) {
          at = copyName(at, isRecord && depth <= 2 ? depth : 0)
          if (at === 0) return 0
          byte = byteAt(at)
        }
        continue
      }
    } else {
      at = copyScalar(at)
      if (at === 0) return 0
    }
    while (true) {
      if (depth === 0) return at
      at = skipSpace(at)
      const next = byteAt(at)
      if (next === comma) {
        writeByte(comma)
        at = skipSpace(at + 1)
        if ((kinds & 1) !== 0) {
          at = copyName(at, isRecord && depth <= 2 ? depth : 0)
          if (at === 0) return 0
        }
        byte = byteAt(at)
        break
      }
      if (next !== ((kinds & 1) !== 0 ? closeBrace : closeBracket)) return 0
      writeByte(next)
      at++
      depth--
      kinds = kindsAround(depth, kinds)
    }
  }
}

/** Keeps the bits of all containers that are open, before the next 64 are. */
function keepKinds(depth: i32, kinds: u64): void {
  store<u64>(kindStack + (<usize>depth >> 3), kinds)
}

/** The bits of the containers that are open, of which there were one more. */
function kindsAround(depth: i32, kinds: u64): u64 {
  return (depth & 63) === 0 ? load<u64>(kindStack + (<usize>depth >> 3)) : kinds >> 1
}

/** Copies a name and its colon; names of a level are noted. Returns where the value begins, or 0. */
function copyName(from: usize, level: i32): usize {
  if (byteAt(from) !== quote) return 0
  const start = out
  let at = copyString(from)
  if (at === 0) return 0
  if (level !== 0 && names < mostNames) {
    names++
    hash = hashOf(start, out, hash ^ <u64>level)
  }
  at = skipSpace(at)
  if (byteAt(at) !== colon) return 0
  writeByte(colon)
  return skipSpace(at + 1)
}

/** Of hashes. */
export const factor: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15

/** Of the bytes from `start` to `end`, behind which others may stand. */
export function hashOf(start: usize, end: usize, seed: u64): u64 {
  let mixed = seed ^ ((<u64>(end - start)) << 32)
  let at = start
  for (; at + 8 <= end; at += 8) {
    mixed = (mixed ^ load<u64>(at)) * factor
    mixed ^= mixed >>> 29
  }
  if (at < end) {
    const bits = (<u64>(end - at)) << 3
    mixed = (mixed ^ (load<u64>(at) & (((<u64>1) << bits) - 1))) * factor
    mixed ^= mixed >>> 29
  }
  return mixed
}

/** Whether the same `length` bytes stand at both places. */
export function areEqual(a: usize, b: usize, length: usize): bool {
  let at: usize = 0
  for (; at + 16 <= length; at += 16) {
    if (v128.any_true(v128.xor(v128.load(a + at), v128.load(b + at)))) return false
  }
  if (at === length) return true
  const differ = i8x16.bitmask(i8x16.ne(v128.load(a + at), v128.load(b + at)))
  return (differ & ((1 << (<i32>(length - at))) - 1)) === 0
}

/** Where the string ends, of which `from` is a byte inside. */
export function endOfString(from: usize): usize {
  let at = skipPlain(from)
  while (byteAt(at) !== quote) at = skipPlain(at + 2)
  return at + 1
}

/** Where the valid value of a member ends. */
export function endOfValue(start: usize): usize {
  const first = byteAt(start)
  if (first === quote) return endOfString(start + 1)
  if (first === openBrace || first === openBracket) return endOfContainer(start)
  let at = start
  let byte = first
  while (byte !== comma && byte !== closeBrace) byte = byteAt(++at)
  return at
}

/** Where the valid object or list ends. */
export function endOfContainer(start: usize): usize {
  let at = start
  let depth: i32 = 0
  do {
    const byte = byteAt(at)
    if (byte === quote) {
      at = endOfString(at + 1)
      continue
    }
    // Bit 5 is all that sets the braces apart from the brackets.
    const bracket = byte & 0xdf
    if (bracket === 0x5b) depth++
    else if (bracket === 0x5d) depth--
    at++
  } while (depth > 0)
  return at
}
