/**
 * Texts as indexes see them: in lower case (`type/fold-text.ts`), or folded for full-text search
 * (`type/fold-accents.ts`); of JSON, the texts that are in it. About a nanosecond per byte of ASCII, so it
 * is one loop into one buffer.
 */
import { foldAccent } from '../../type/fold-accents.ts'
import { dottedCapitalI, foldCodePoint } from '../../type/fold-text.ts'
import { parseJson } from '../../type/parse-json.ts'
import { textOf } from '../../type/text.ts'
import { doubtful, wordClass } from '../../type/word-class.ts'

const quote = 0x22
const backslash = 0x5c
const space = 0x20

/** ASCII in lower case. */
const lower = Uint8Array.from({ length: 128 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
)

/** What the letters of escapes stand for. */
const controlOfLetter: Readonly<Record<number, number>> = {
  98: 8,
  102: 12,
  110: 10,
  114: 13,
  116: 9,
}

/** Numbers that are printed as they are written, whatever digits they have. */
const plainNumber = /^-?(?:\d+|(?!0\.00000)\d+\.\d*[1-9])$/
/** A double has this many digits for certain; with a point and a sign. */
const plainNumberLength = 17

/**
 * Lower case and folding have at most so many times as many bytes (İ has three for two), and printing a
 * number 12 more.
 */
const growth = 3

/** Names of an object that are compared with each other. */
const mostNames = 64

export class FoldedText {
  /** The text that was folded last. */
  bytes = new Uint8Array(1 << 16)
  length = 0
  /** Whether JSON would write characters of the text as escapes that have letters. */
  hasEscapes = false
  /** Whether the text is printed in a way that cannot be told from its bytes. */
  isDoubtful = false
  /** Whether any text so far had characters that make one of several. */
  hasComposed = false
  readonly #folds: 'case' | 'accents'
  /** Hashes of the names of the objects around a place, and where those of each begin. */
  readonly #names: number[] = []
  readonly #objects: number[] = []

  /** @param folds `accents`: case as well */
  constructor(folds: 'case' | 'accents') {
    this.#folds = folds
  }

  setText(source: Uint8Array, start: number, end: number): void {
    this.#clear(end - start)
    this.#addText(source, start, end)
  }

  /**
   * The strings of JSON, names too; its numbers and other words as they would be printed; and a space after
   * each of them.
   */
  setJson(source: Buffer, start: number, end: number): void {
    this.#clear(end - start)
    const names = this.#names
    const objects = this.#objects
    names.length = 0
    objects.length = 0
    let token = 0
    let at = start
    while (at < end) {
      const byte = source[at]!
      if (byte === quote) {
        token = this.length
        at = this.#string(source, at + 1)
        this.#push(space)
      } else if (isOfScalar(byte)) {
        at = this.#scalar(source, at, end)
        this.#push(space)
      } else {
        if (byte === 0x3a) this.#name(token)
        else if (byte === 0x7b) objects.push(names.length)
        else if (byte === 0x7d) names.length = objects.pop()!
        at++
      }
    }
  }

  /** The string from `token` on was a name of the innermost object. */
  #name(token: number): void {
    let hash = this.length - token
    for (let i = token; i < this.length; i++) hash = Math.imul(hash ^ this.bytes[i]!, 0x9e3779b1)
    const first = this.#objects.at(-1)!
    const at = this.#names.indexOf(hash, first)
    // Of a name that an object has twice, one is printed.
    if (at >= 0 || this.#names.length - first === mostNames) this.isDoubtful = true
    else this.#names.push(hash)
  }

  #clear(sourceLength: number): void {
    this.length = 0
    this.hasEscapes = false
    this.isDoubtful = false
    // A number that is printed longer has a point or an exponent, and few others find room in JSON.
    const needed = (sourceLength + 16) * growth
    if (needed > this.bytes.length) this.bytes = new Uint8Array(needed * 2)
  }

  #addText(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this
    let length = this.length
    let at = start
    let escapes = 0
    while (at < end) {
      const byte = source[at]!
      if (byte < 0x80) {
        escapes |= +(byte < space)
        bytes[length++] = lower[byte]!
        at++
      } else {
        this.length = length
        at = this.#character(source, at)
        length = this.length
      }
    }
    this.length = length
    if (escapes !== 0) this.hasEscapes = true
  }

  /** Returns where the string's closing quote was left behind. */
  #string(source: Buffer, start: number): number {
    const { bytes } = this
    let length = this.length
    let at = start
    for (;;) {
      const byte = source[at]!
      if (byte === quote) {
        this.length = length
        return at + 1
      }
      if (byte < 0x80 && byte !== backslash) {
        bytes[length++] = lower[byte]!
        at++
      } else {
        this.length = length
        at = byte === backslash ? this.#escape(source, at) : this.#character(source, at)
        length = this.length
      }
    }
  }

  /** Adds what the escape at `at` stands for, and returns where it ends. */
  #escape(source: Buffer, at: number): number {
    const letter = source[at + 1]!
    if (letter !== 0x75) {
      const control = controlOfLetter[letter]
      if (control !== undefined) this.hasEscapes = true
      this.#push(control ?? letter)
      return at + 2
    }
    const unit = hexadecimal(source, at + 2)
    if (unit < 0xd800 || unit >= 0xe000) {
      if (unit < space) this.hasEscapes = true
      this.#codePoint(unit)
      return at + 6
    }
    if (unit < 0xdc00 && source[at + 6] === backslash && source[at + 7] === 0x75) {
      const second = hexadecimal(source, at + 8)
      if (second >= 0xdc00 && second < 0xe000) {
        this.#codePoint(0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00))
        return at + 12
      }
    }
    // Half a character is printed as its escape.
    this.isDoubtful = true
    this.#pushAscii(`\\u${unit.toString(16)}`)
    return at + 6
  }

  /** Adds a number or `true` and its like. */
  #scalar(source: Buffer, start: number, limit: number): number {
    let end = start
    let isWhole = true
    while (end < limit && isOfScalar(source[end]!)) {
      const byte = source[end++]!
      if (byte === 0x2e || byte === 0x45 || byte === 0x65) isWhole = false
    }
    const first = source[start]!
    if (!isWhole && first <= 0x39) {
      const text = source.toString('latin1', start, end)
      if (text.length > plainNumberLength || !plainNumber.test(text)) {
        this.#reserve((limit - end + 32) * growth)
        this.#pushAscii(textOf(parseJson(text)))
        return end
      }
    }
    this.#addText(source, start, end)
    return end
  }

  #reserve(byteLength: number): void {
    if (this.length + byteLength <= this.bytes.length) return
    const bytes = new Uint8Array((this.length + byteLength) * 2)
    bytes.set(this.bytes)
    this.bytes = bytes
  }

  /** Adds the character at `at`, which is not ASCII, and returns where it ends. */
  #character(source: Uint8Array, at: number): number {
    const first = source[at]!
    if (first < 0xe0) {
      this.#codePoint(((first & 0x1f) << 6) | (source[at + 1]! & 0x3f))
      return at + 2
    }
    if (first < 0xf0) {
      const rest = ((source[at + 1]! & 0x3f) << 6) | (source[at + 2]! & 0x3f)
      this.#codePoint(((first & 0x0f) << 12) | rest)
      return at + 3
    }
    const rest = ((source[at + 2]! & 0x3f) << 6) | (source[at + 3]! & 0x3f)
    this.#codePoint(((first & 0x07) << 18) | ((source[at + 1]! & 0x3f) << 12) | rest)
    return at + 4
  }

  #codePoint(codePoint: number): void {
    if (this.#folds === 'accents') {
      if (wordClass(codePoint) === doubtful) this.hasComposed = true
      for (const letter of foldAccent(codePoint)) this.#utf8(letter.codePointAt(0)!)
    } else if (codePoint === dottedCapitalI) {
      this.#push(0x69)
      this.#utf8(0x307)
    } else {
      this.#utf8(foldCodePoint(codePoint))
    }
  }

  #utf8(codePoint: number): void {
    if (codePoint < 0x80) {
      this.#push(codePoint)
    } else if (codePoint < 0x800) {
      this.#push(0xc0 | (codePoint >> 6))
      this.#push(0x80 | (codePoint & 0x3f))
    } else {
      if (codePoint < 0x10000) {
        this.#push(0xe0 | (codePoint >> 12))
      } else {
        this.#push(0xf0 | (codePoint >> 18))
        this.#push(0x80 | ((codePoint >> 12) & 0x3f))
      }
      this.#push(0x80 | ((codePoint >> 6) & 0x3f))
      this.#push(0x80 | (codePoint & 0x3f))
    }
  }

  #pushAscii(text: string): void {
    for (let i = 0; i < text.length; i++) this.#push(text.charCodeAt(i))
  }

  #push(byte: number): void {
    this.bytes[this.length++] = byte
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
