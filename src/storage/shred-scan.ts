/**
 * Walks over JSON text as bytes. The text is known to be valid, as everything in the row store is:
 * unlike the scanner of requests (`json/scan.ts`), this one only looks for where values end.
 */

import { copyBytes } from '../json/copy-bytes.ts'
import { decodeUtf8 } from '../json/utf8.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const space = 0x20

/** Bytes up to which a loop is faster than a native search or copy, which costs 50 to 100 ns. */
const nearBytes = 32

/** Digits that a double holds whatever they are. */
const exactDigits = 15
const powersOfTen = Array.from({ length: exactDigits + 1 }, (_, exponent) => 10 ** exponent)

export class ValueScanner {
  bytes: Buffer = Buffer.alloc(0)
  position = 0
  /** Of the string read last: its first byte after the quote, and its closing quote. */
  stringStart = 0
  stringEnd = 0
  /** Whether the string read last has escapes. */
  escaped = false
  /** Whether the number read last is one that no double holds. */
  inexact = false

  /** A backslash that is known to be the first at or after an earlier position, or -1. */
  #nextBackslash = -1

  start(bytes: Buffer, position: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.#nextBackslash = -1
    } else if (position < this.position) {
      this.#nextBackslash = -1
    }
    this.position = position
  }

  /** Moves to the next byte that is neither white space nor a comma, and returns it. */
  next(): number {
    const bytes = this.bytes
    let position = this.position
    let byte = bytes[position]!
    while (byte <= space || byte === comma) byte = bytes[++position]!
    this.position = position
    return byte
  }

  /** Moves from a key's end over the colon to the first byte of the value, and returns it. */
  nextValue(): number {
    const bytes = this.bytes
    let position = this.position
    while (bytes[position] !== 0x3a) position++
    position++
    while (bytes[position]! <= space) position++
    this.position = position
    return bytes[position]!
  }

  /** Reads the string that starts here and moves past it. */
  readString(): void {
    const bytes = this.bytes
    const start = this.position + 1
    const near = Math.min(start + nearBytes, bytes.length)
    let position = start
    let escaped = false
    while (position < near) {
      const byte = bytes[position]!
      if (byte === quote) {
        this.stringStart = start
        this.stringEnd = position
        this.escaped = escaped
        this.position = position + 1
        return
      }
      if (byte === backslash) {
        escaped = true
        position++
      }
      position++
    }
    this.#readLongString(start, position, escaped)
  }

  /** Reads on from `from`, which is not inside of an escape. */
  #readLongString(start: number, from: number, escaped: boolean): void {
    const bytes = this.bytes
    let end = bytes.indexOf(quote, from)
    while (end > from && bytes[end - 1] === backslash) {
      let first = end - 1
      while (first > from && bytes[first - 1] === backslash) first--
      // Backslashes come in pairs before a quote that ends the string.
      if ((end - first) % 2 === 0) break
      end = bytes.indexOf(quote, end + 1)
    }
    this.stringStart = start
    this.stringEnd = end
    this.escaped = escaped || this.#backslashWithin(from, end)
    this.position = end + 1
  }

  #backslashWithin(from: number, end: number): boolean {
    // The search goes past the string, so what it finds there is kept for the strings to come.
    if (this.#nextBackslash < from) {
      const next = this.bytes.indexOf(backslash, from)
      this.#nextBackslash = next < 0 ? Number.POSITIVE_INFINITY : next
    }
    return this.#nextBackslash < end
  }

  /** Reads the number that starts here and moves past it; sets `inexact`. */
  readNumber(): number {
    const bytes = this.bytes
    const start = this.position
    let position = start
    const negative = bytes[position] === 0x2d
    if (negative) position++
    let mantissa = 0
    let digits = 0
    let digit = bytes[position]! - 0x30
    while (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit
      digits++
      digit = bytes[++position]! - 0x30
    }
    let fraction = 0
    if (bytes[position] === 0x2e) {
      digit = bytes[++position]! - 0x30
      while (digit >= 0 && digit <= 9) {
        mantissa = mantissa * 10 + digit
        fraction++
        digit = bytes[++position]! - 0x30
      }
    }
    this.inexact = false
    const byte = bytes[position]! | 0x20
    if (digits + fraction > exactDigits || byte === 0x65) {
      return this.#readLongNumber(start, position, fraction === 0 && byte !== 0x65)
    }
    this.position = position
    // Both are exact, so that the one division rounds as the decimal text itself would.
    const value = fraction === 0 ? mantissa : mantissa / powersOfTen[fraction]!
    return negative ? -value : value
  }

  #readLongNumber(start: number, from: number, integer: boolean): number {
    const bytes = this.bytes
    let position = from
    while (position < bytes.length && isNumberByte(bytes[position]!)) position++
    this.position = position
    const value = Number(decodeUtf8(bytes, start, position))
    this.inexact = integer ? !Number.isSafeInteger(value) : !Number.isFinite(value)
    return value
  }

  /** Moves past the value that starts here. */
  skipValue(): void {
    const bytes = this.bytes
    let position = this.position
    let depth = 0
    do {
      const byte = bytes[position]!
      if (byte === quote) {
        this.position = position
        this.readString()
        position = this.position
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
    this.position = position
  }
}

/** Takes the escapes out of strings, into bytes that the next string overwrites. */
export class Unescaper {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096)

  /**
   * Returns the length of the string whose bytes between the quotes are given, or -1 when UTF-8
   * cannot hold it because half of a surrogate pair is missing.
   */
  unescape(source: Buffer, start: number, end: number): number {
    // No escape is shorter than what it stands for.
    if (end - start > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow((end - start) * 2)
    const bytes = this.bytes
    let length = 0
    let position = start
    for (;;) {
      const near = Math.min(position + nearBytes, end)
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
