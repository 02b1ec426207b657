/**
 * Walks over JSON text as bytes. The text is known to be valid, as everything in the row store is:
 * unlike the scanner of requests (`json/scan.ts`), this one only looks for where values end.
 */

import { copyBytes } from '../../json/copy-bytes.ts'
import { isDouble } from '../../json/number-text.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { type ByteSource, byteSource } from './text-pool.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const space = 0x20

const fourQuotes = 0x22222222
const fourBackslashes = 0x5c5c5c5c

/** Bytes up to which a loop is faster than a native search, which costs 50 to 100 ns. */
const nearBytes = 96

/** Digits that a double holds whatever they are. */
const exactDigits = 15
const powersOfTen = Array.from({ length: exactDigits + 1 }, (_, exponent) => 10 ** exponent)

export class ValueScanner implements ByteSource {
  /** A copy of the text in memory that stays the same, and some room after it for whole words. */
  bytes: Buffer = Buffer.allocUnsafeSlow(64 * 1024)
  view = byteSource(this.bytes).view
  /** Whether the string read last has escapes. */
  escaped = false
  /** Where the number read last ends. */
  end = 0
  /** Whether the number read last is one that no double holds. */
  inexact = false

  /** No backslash is between the two. */
  #end = 0
  #plainFrom = 0
  #plainEnd = 0

  /** Reads `bytes` from now on. */
  start(text: Buffer): void {
    if (text.length + 4 > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow((text.length + 4) * 2)
      this.view = byteSource(this.bytes).view
    }
    this.bytes.set(text)
    this.#end = text.length
    this.#plainEnd = 0
  }

  /** The first byte from `position` on that is neither white space nor a comma. */
  skipSeparators(position: number): number {
    const bytes = this.bytes
    let at = position
    for (let byte = bytes[at]!; byte <= space || byte === comma; byte = bytes[at]!) at++
    return at
  }

  /** From a key's end over the colon to the first byte of the value. */
  skipColon(position: number): number {
    const bytes = this.bytes
    let at = position
    while (bytes[at] !== 0x3a) at++
    at++
    while (bytes[at]! <= space) at++
    return at
  }

  /** The end of the string whose opening quote is at `start`; sets `escaped`. */
  endOfString(start: number): number {
    const { bytes, view } = this
    const near = Math.min(start + nearBytes, this.#end)
    let escaped = false
    for (let position = start + 1; position < near; position += 4) {
      const word = view.getInt32(position, true)
      const found = marks(word ^ fourQuotes) | marks(word ^ fourBackslashes)
      if (found === 0) continue
      position += (31 - Math.clz32(found & -found)) >> 3
      if (bytes[position] === quote) {
        this.escaped = escaped
        return position + 1
      }
      escaped = true
      // Past the escape, less what the loop adds.
      position -= 2
    }
    return this.#endOfLongString(start, escaped)
  }

  #endOfLongString(start: number, escaped: boolean): number {
    const bytes = this.bytes
    const from = start + 1
    let end = bytes.indexOf(quote, from)
    while (end > from && bytes[end - 1] === backslash) {
      let first = end - 1
      while (first > from && bytes[first - 1] === backslash) first--
      // Backslashes come in pairs before a quote that ends the string.
      if ((end - first) % 2 === 0) break
      end = bytes.indexOf(quote, end + 1)
    }
    this.escaped = escaped || this.hasBackslash(from, end)
    return end + 1
  }

  /** Whether a backslash is between the two. */
  hasBackslash(start: number, end: number): boolean {
    const bytes = this.bytes
    if (end - start <= nearBytes) {
      for (let at = start; at < end; at += 4) {
        const found = marks(this.view.getInt32(at, true) ^ fourBackslashes)
        if (found !== 0) return at + ((31 - Math.clz32(found & -found)) >> 3) < end
      }
      return false
    }
    // The search goes past the string, so what it finds there is kept for the strings to come.
    if (start < this.#plainFrom || start > this.#plainEnd) {
      const next = bytes.indexOf(backslash, start)
      this.#plainFrom = start
      this.#plainEnd = next < 0 || next > this.#end ? this.#end : next
    }
    return this.#plainEnd < end
  }

  /** The number that starts here; sets `end` and `inexact`. */
  number(start: number): number {
    const bytes = this.bytes
    let position = start
    const negative = bytes[position] === 0x2d
    if (negative) position++
    let mantissa = 0
    const integer = position
    let digit = bytes[position]! - 0x30
    while (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit
      digit = bytes[++position]! - 0x30
    }
    const digits = position - integer
    let fraction = 0
    if (bytes[position] === 0x2e) {
      const point = position
      digit = bytes[++position]! - 0x30
      while (digit >= 0 && digit <= 9) {
        mantissa = mantissa * 10 + digit
        digit = bytes[++position]! - 0x30
      }
      fraction = position - point - 1
    }
    this.inexact = false
    const byte = bytes[position]! | 0x20
    if (digits + fraction > exactDigits || byte === 0x65) {
      return this.#longNumber(start, position, fraction === 0 && byte !== 0x65)
    }
    this.end = position
    // Both are exact, so that the one division rounds as the decimal text itself would.
    const value = fraction === 0 ? mantissa : mantissa / powersOfTen[fraction]!
    return negative ? -value : value
  }

  #longNumber(start: number, from: number, integer: boolean): number {
    const bytes = this.bytes
    let position = from
    while (position < bytes.length && isNumberByte(bytes[position]!)) position++
    this.end = position
    const text = decodeUtf8(bytes, start, position)
    const value = Number(text)
    this.inexact = integer ? !Number.isSafeInteger(value) : !isDouble(text, value)
    return value
  }

  /** The end of the value that starts here. */
  endOfValue(start: number): number {
    const bytes = this.bytes
    let position = start
    let depth = 0
    do {
      const byte = bytes[position]!
      if (byte === quote) {
        position = this.endOfString(position)
        continue
      }
      // Bit 5 is all that sets the braces apart from the brackets.
      const bracket = byte & 0xdf
      if (bracket === 0x5b) depth++
      else if (bracket === 0x5d) depth--
      else if (depth === 0) {
        while (position < bytes.length && isScalarByte(bytes[position]!)) position++
        break
      }
      position++
    } while (depth > 0)
    return position
  }
}

/** Sets the highest bit of the lowest byte that is zero, and maybe of bytes above it. */
function marks(word: number): number {
  return (word - 0x01010101) & ~word & 0x80808080
}

/** Bytes up to which a loop over bytes is faster than a native search and copy. */
const nearCopied = 32

/** Takes the escapes out of strings, into bytes that the next string overwrites. */
export class Unescaper implements ByteSource {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096)
  view = byteSource(this.bytes).view

  /**
   * Returns the length of the string whose bytes between the quotes are given, or -1 when UTF-8
   * cannot hold it because half of a surrogate pair is missing.
   */
  unescape(source: Buffer, start: number, end: number): number {
    // No escape is shorter than what it stands for.
    if (end - start > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow((end - start) * 2)
      this.view = byteSource(this.bytes).view
    }
    const bytes = this.bytes
    let length = 0
    let position = start
    for (;;) {
      const near = Math.min(position + nearCopied, end)
      while (position < near && source[position] !== backslash) {
        bytes[length++] = source[position++]!
      }
      if (position === end) return length
      if (source[position] !== backslash) {
        let plainEnd = source.indexOf(backslash, position)
        if (plainEnd < 0 || plainEnd > end) plainEnd = end
        length = copyBytes(source, position, plainEnd, bytes, length)
        position = plainEnd
        if (position === end) return length
      }
      const letter = source[position + 1]!
      position += 2
      if (letter !== 0x75) {
        bytes[length++] = escapes[letter]!
        continue
      }
      let code = hexadecimal(source, position)
      position += 4
      if (code >= 0xd800 && code < 0xe000) {
        const low =
          code < 0xdc00 && source[position] === backslash && source[position + 1] === 0x75
            ? hexadecimal(source, position + 2)
            : 0
        if (low < 0xdc00 || low >= 0xe000) return -1
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
        position += 6
      }
      length = writeCodePoint(bytes, length, code)
    }
  }
}

/** What the letter after a backslash stands for; quote, backslash and slash for themselves. */
const escapes = new Uint8Array(256).map((_, letter) => letter)
for (const [letter, byte] of Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9 })) {
  escapes[letter.charCodeAt(0)] = byte
}

function hexadecimal(source: Uint8Array, start: number): number {
  let code = 0
  for (let i = 0; i < 4; i++) {
    const byte = source[start + i]!
    code = code * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
  }
  return code
}

function writeCodePoint(bytes: Uint8Array, at: number, code: number): number {
  let length = at
  if (code < 0x80) {
    bytes[length++] = code
    return length
  }
  if (code < 0x800) {
    bytes[length++] = 0xc0 | (code >> 6)
  } else {
    if (code < 0x10000) {
      bytes[length++] = 0xe0 | (code >> 12)
    } else {
      bytes[length++] = 0xf0 | (code >> 18)
      bytes[length++] = 0x80 | ((code >> 12) & 0x3f)
    }
    bytes[length++] = 0x80 | ((code >> 6) & 0x3f)
  }
  bytes[length++] = 0x80 | (code & 0x3f)
  return length
}

/** Digits, point, signs and the exponent's letter. */
function isNumberByte(byte: number): boolean {
  return (byte >= 0x2b && byte <= 0x39 && byte !== comma && byte !== 0x2f) || (byte | 0x20) === 0x65
}

/** What numbers, `true`, `false` and `null` are made of. */
function isScalarByte(byte: number): boolean {
  return byte > space && byte !== comma && (byte & 0xdf) !== 0x5d
}
