/**
 * Walks texts and marks the hashes of their parts (`vector/gram-index.ts`). About 3 ns per byte of
 * ASCII, so it is one loop, without a folded copy of the texts.
 */
import { dottedCapitalI, foldCodePoint } from '../../type/fold-text.ts'
import { parseJson } from '../../type/parse-json.ts'
import { textOf } from '../../type/text.ts'

const quote = 0x22
const backslash = 0x5c

/** ASCII in lower case. */
const lower = Uint8Array.from({ length: 128 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
)

/** How JSON writes control characters that have letters. */
const letterOfControl: Readonly<Record<number, string>> = {
  8: 'b',
  9: 't',
  10: 'n',
  12: 'f',
  13: 'r',
}

/** Numbers that are printed as they are written, whatever digits they have. */
const plainNumber = /^-?(?:\d+|(?!0\.00000)\d+\.\d*[1-9])$/
/** A double has this many digits for certain; with a point and a sign. */
const plainNumberLength = 17

export class GramScanner {
  /** By hash, the bits that were marked. */
  readonly marks: Int32Array
  readonly #hashBits: number
  #bit = 1
  /** The last 4 bytes of what was pushed. */
  #gram = 0

  constructor(hashBits: number) {
    this.#hashBits = hashBits
    this.marks = new Int32Array(1 << hashBits)
  }

  /** Marks what follows with one bit of 32. */
  useBit(index: number): void {
    this.#bit = 1 << index
  }

  addText(bytes: Uint8Array, start: number, end: number): void {
    const { marks } = this
    const bit = this.#bit
    const shift = 32 - this.#hashBits
    let gram = 0
    let at = start
    while (at < end) {
      const byte = bytes[at]!
      if (byte < 0x80) {
        gram = (gram << 8) | lower[byte]!
        marks[Math.imul(gram, 0x9e3779b1) >>> shift]! |= bit
        at++
      } else {
        this.#gram = gram
        at = this.#character(bytes, at)
        gram = this.#gram
      }
    }
  }

  /**
   * Adds JSON as it would be printed: the strings in it, names too, each with the shortest escapes;
   * and its numbers. What lies between them is left out.
   */
  addJson(bytes: Buffer, start: number, end: number): void {
    let at = start
    while (at < end) {
      const byte = bytes[at]!
      if (byte === quote) at = this.#string(bytes, at + 1)
      else if (isOfScalar(byte)) at = this.#scalar(bytes, at, end)
      else at++
    }
  }

  /** Returns where the string's closing quote was left behind. */
  #string(bytes: Buffer, start: number): number {
    const { marks } = this
    const bit = this.#bit
    const shift = 32 - this.#hashBits
    let gram = 0
    let at = start
    for (;;) {
      const byte = bytes[at]!
      if (byte === quote) return at + 1
      if (byte < 0x80 && byte !== backslash) {
        gram = (gram << 8) | lower[byte]!
        marks[Math.imul(gram, 0x9e3779b1) >>> shift]! |= bit
        at++
      } else {
        this.#gram = gram
        at = byte === backslash ? this.#escape(bytes, at) : this.#character(bytes, at)
        gram = this.#gram
      }
    }
  }

  /** Adds the escape at `at` as it would be printed, and returns where it ends. */
  #escape(bytes: Buffer, at: number): number {
    const letter = bytes[at + 1]!
    if (letter === 0x2f) {
      this.#push(letter)
      return at + 2
    }
    if (letter !== 0x75) {
      this.#push(backslash)
      this.#push(letter)
      return at + 2
    }
    const unit = hexadecimal(bytes, at + 2)
    if (unit >= 0xd800 && unit < 0xdc00 && bytes[at + 6] === backslash && bytes[at + 7] === 0x75) {
      const second = hexadecimal(bytes, at + 8)
      if (second >= 0xdc00 && second < 0xe000) {
        this.#codePoint(0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00))
        return at + 12
      }
    }
    if (unit === quote || unit === backslash) {
      this.#push(backslash)
      this.#push(unit)
    } else if (unit < 0x20) {
      const short = letterOfControl[unit]
      this.#pushAscii(short ? `\\${short}` : `\\u${unit.toString(16).padStart(4, '0')}`)
    } else if (unit >= 0xd800 && unit < 0xe000) {
      this.#pushAscii(`\\u${unit.toString(16)}`)
    } else {
      this.#codePoint(unit)
    }
    return at + 6
  }

  /** Adds a number or `true` and its like. */
  #scalar(bytes: Buffer, start: number, limit: number): number {
    let end = start
    let isWhole = true
    while (end < limit && isOfScalar(bytes[end]!)) {
      const byte = bytes[end++]!
      if (byte === 0x2e || byte === 0x45 || byte === 0x65) isWhole = false
    }
    this.addText(bytes, start, end)
    const first = bytes[start]!
    if (!isWhole && first <= 0x39) {
      const text = bytes.toString('latin1', start, end)
      if (text.length > plainNumberLength || !plainNumber.test(text)) {
        const printed = Buffer.from(textOf(parseJson(text)))
        this.addText(printed, 0, printed.length)
      }
    }
    return end
  }

  /** Adds the character at `at`, which is not ASCII, and returns where it ends. */
  #character(bytes: Uint8Array, at: number): number {
    const first = bytes[at]!
    if (first < 0xe0) {
      this.#codePoint(((first & 0x1f) << 6) | (bytes[at + 1]! & 0x3f))
      return at + 2
    }
    if (first < 0xf0) {
      const rest = ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f)
      this.#codePoint(((first & 0x0f) << 12) | rest)
      return at + 3
    }
    const rest = ((bytes[at + 2]! & 0x3f) << 6) | (bytes[at + 3]! & 0x3f)
    this.#codePoint(((first & 0x07) << 18) | ((bytes[at + 1]! & 0x3f) << 12) | rest)
    return at + 4
  }

  #codePoint(codePoint: number): void {
    if (codePoint === dottedCapitalI) {
      this.#push(0x69)
      this.#codePoint(0x307)
      return
    }
    const folded = foldCodePoint(codePoint)
    if (folded < 0x80) {
      this.#push(folded)
    } else if (folded < 0x800) {
      this.#push(0xc0 | (folded >> 6))
      this.#push(0x80 | (folded & 0x3f))
    } else {
      if (folded < 0x10000) {
        this.#push(0xe0 | (folded >> 12))
      } else {
        this.#push(0xf0 | (folded >> 18))
        this.#push(0x80 | ((folded >> 12) & 0x3f))
      }
      this.#push(0x80 | ((folded >> 6) & 0x3f))
      this.#push(0x80 | (folded & 0x3f))
    }
  }

  #pushAscii(text: string): void {
    for (let i = 0; i < text.length; i++) this.#push(text.charCodeAt(i))
  }

  #push(byte: number): void {
    this.#gram = (this.#gram << 8) | byte
    this.marks[Math.imul(this.#gram, 0x9e3779b1) >>> (32 - this.#hashBits)]! |= this.#bit
  }
}

/** Letters, digits, signs and points: of numbers, `true`, `false` and `null`. */
function isOfScalar(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x2b ||
    byte === 0x45
  )
}

function hexadecimal(bytes: Buffer, at: number): number {
  return Number.parseInt(bytes.toString('latin1', at, at + 4), 16)
}
