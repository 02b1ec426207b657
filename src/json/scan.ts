/**
 * Walks JSON text without building values: checks it, compacts it, and gives the spans of members
 * and elements. It works on UTF-8 bytes whose encoding was checked before, keeps its own stack, and
 * refuses what nests deeper than `maximumDepth`.
 */
import { AssayError, assert } from '../error.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { MemberNames } from './member-names.ts'

/** Objects and arrays that may enclose a value, itself included. */
export const maximumDepth = 1000

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** 1 for bytes that stand for themselves inside a string. */
const plain = new Uint8Array(256).fill(1, 0x20)
plain[quote] = 0
plain[backslash] = 0

/** What a JSON value is, as its first byte tells. */
export type JsonKind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** Tells the kind of the valid JSON value that begins with `byte`. */
export function jsonKind(byte: number): JsonKind {
  switch (byte) {
    case quote:
      return 'string'
    case openBrace:
      return 'object'
    case openBracket:
      return 'array'
    case 0x6e:
      return 'null'
    case 0x74:
    case 0x66:
      return 'boolean'
    default:
      return 'number'
  }
}

/**
 * A position in JSON text that only moves forward.
 *
 * Pull the parts of a container one by one; each must be consumed before the next is asked for:
 *
 *     scanner.openObject()
 *     while (scanner.nextMember()) {
 *       // the key is scanner.bytes[scanner.keyStart .. scanner.keyEnd], quotes included
 *       scanner.value()
 *     }
 */
export class JsonScanner {
  readonly bytes: Uint8Array
  readonly end: number
  readonly #deepest: number
  position: number
  /** Span of the member name that `nextMember` found, quotes included. */
  keyStart = 0
  keyEnd = 0
  /** Whether the innermost container that is open has had no part yet. */
  #fresh = false
  #depth = 0
  /** For `value`: 1 where the container at that depth is an object. */
  #isObject: Uint8Array | undefined
  /** Made when a long string is met. */
  #words: Int32Array | undefined

  /** @param deepest how deep the text may nest: what is stored is bounded by `maximumDepth` */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length, deepest = maximumDepth) {
    this.bytes = bytes
    this.position = start
    this.end = end
    this.#deepest = deepest
  }

  /** Skips whitespace and returns the byte that follows, -1 at the end. */
  peek(): number {
    const { bytes, end } = this
    let at = this.position
    while (at < end) {
      const byte = bytes[at]!
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
        this.position = at
        return byte
      }
      at++
    }
    this.position = at
    return -1
  }

  /** Enters the object that is next; false, without moving, when something else is. */
  openObject(): boolean {
    return this.#open(openBrace)
  }

  /** Enters the array that is next; false, without moving, when something else is. */
  openArray(): boolean {
    return this.#open(openBracket)
  }

  /** Moves to the value of the next member, or past the object when there is none. */
  nextMember(): boolean {
    if (!this.#next(closeBrace)) return false
    this.#key()
    return true
  }

  /** Moves to the next element, or past the array when there is none. */
  nextElement(): boolean {
    return this.#next(closeBracket)
  }

  /** Throws unless only whitespace is left. */
  finish(): void {
    if (this.peek() !== -1) this.#fail('the end')
  }

  /**
   * Checks the value that is next, moves past it, and appends it to `out`, if given, without
   * insignificant whitespace. Adds the names of its members to `names`. Returns where the value
   * starts.
   */
  value(out?: ByteWriter, names?: MemberNames): number {
    const byte = this.peek()
    const start = this.position
    if (byte === openBrace || byte === openBracket) {
      this.#container(byte, out, names)
    } else {
      if (byte === quote) this.#string()
      else this.#scalar(byte)
      out?.copy(this.bytes, start, this.position)
    }
    this.#fresh = false
    return start
  }

  /** Does what `value` does, for an object or array. */
  #container(first: number, out: ByteWriter | undefined, names: MemberNames | undefined): void {
    const { bytes, end } = this
    // Made only now because most scanners of short texts never need it.
    const isObject = this.#isObject ?? new Uint8Array(this.#deepest + 1)
    this.#isObject = isObject
    const base = this.#depth
    let depth = base
    let byte = first
    let copied = this.position
    for (;;) {
      // A value is next, and `byte` is its first.
      if (byte === quote) {
        this.#string()
      } else if (byte === openBrace || byte === openBracket) {
        if (depth === this.#deepest) this.#failDeep()
        depth++
        isObject[depth] = byte === openBrace ? 1 : 0
        const opened = ++this.position
        const next = this.peek()
        if (out && this.position !== opened) {
          out.copy(bytes, copied, opened)
          copied = this.position
        }
        if (next === (byte === openBrace ? closeBrace : closeBracket)) {
          this.position++
          depth--
        } else if (byte === openBrace) {
          copied = this.#memberName(out, copied)
          if (names) this.#note(names, depth - base, isObject[base + 1]!)
          byte = this.peek()
          continue
        } else {
          byte = next
          continue
        }
      } else {
        this.#scalar(byte)
      }
      // A value has ended: close what it was the last of, or move on to what follows it.
      for (;;) {
        if (depth === base) {
          out?.copy(bytes, copied, this.position)
          return
        }
        const ended = this.position
        const next = ended < end && bytes[ended]! > 0x20 ? bytes[ended]! : this.peek()
        if (out && this.position !== ended) {
          out.copy(bytes, copied, ended)
          copied = this.position
        }
        const inObject = isObject[depth] === 1
        if (next === comma) {
          const after = ++this.position
          byte = this.peek()
          if (out && this.position !== after) {
            out.copy(bytes, copied, after)
            copied = this.position
          }
          if (inObject) {
            copied = this.#memberName(out, copied)
            if (names) this.#note(names, depth - base, isObject[base + 1]!)
            byte = this.peek()
          }
          break
        }
        if (next !== (inObject ? closeBrace : closeBracket)) {
          this.#fail(inObject ? '"," or "}"' : '"," or "]"')
        }
        this.position++
        depth--
      }
    }
  }

  /** Passes `"name" :`. What is not copied yet starts at the result. */
  #memberName(out: ByteWriter | undefined, copied: number): number {
    this.#key()
    const compact = this.position === this.keyEnd + 1
    this.peek()
    if (!out || (compact && this.position === this.keyEnd + 1)) return copied
    out.copy(this.bytes, copied, this.keyEnd)
    out.byte(colon)
    return this.position
  }

  #note(names: MemberNames, level: number, isInObject: number): void {
    if (level <= 2 && isInObject === 1) {
      names.add(this.bytes, level === 1 ? 1 : 2, this.keyStart, this.keyEnd)
    }
  }

  #open(byte: number): boolean {
    if (this.peek() !== byte) return false
    if (this.#depth === this.#deepest) this.#failDeep()
    this.#depth++
    this.position++
    this.#fresh = true
    return true
  }

  #next(close: number): boolean {
    assert(this.#depth > 0, 'no container is open')
    const byte = this.peek()
    if (byte === close) {
      this.position++
      this.#depth--
      this.#fresh = false
      return false
    }
    if (this.#fresh) {
      this.#fresh = false
      return true
    }
    if (byte !== comma) this.#fail(close === closeBrace ? '"," or "}"' : '"," or "]"')
    this.position++
    return true
  }

  #key(): void {
    if (this.peek() !== quote) this.#fail('a member name in double quotes')
    this.keyStart = this.position
    this.#string()
    this.keyEnd = this.position
    if (this.peek() !== colon) this.#fail('":"')
    this.position++
  }

  #string(): void {
    const { bytes, end } = this
    let at = this.position + 1
    for (;;) {
      // Most strings end soon; in a longer one, words of four bytes are worth their set-up.
      const near = Math.min(at + 16, end)
      while (at < near && plain[bytes[at]!] === 1) at++
      if (at === near && at < end) at = this.#skipPlain(at)
      const byte = at < end ? bytes[at]! : -1
      if (byte === quote) {
        this.position = at + 1
        return
      }
      this.position = at
      if (byte !== backslash) {
        this.#fail(byte === -1 ? 'the closing quote of a string' : 'an escaped control character')
      }
      at = this.#escape(at + 1)
    }
  }

  /** Where the first byte at or after `from` is that does not stand for itself in a string. */
  #skipPlain(from: number): number {
    const { bytes, end } = this
    this.#words ??= wordsOf(bytes)
    const words = this.#words
    const shift = bytes.byteOffset % 4
    let at = from
    while (at < end && ((at + shift) & 3) !== 0 && plain[bytes[at]!] === 1) at++
    if (((at + shift) & 3) === 0) {
      let word = (at + shift) >>> 2
      const wordEnd = (end + shift) >>> 2
      while (word < wordEnd && isPlainWord(words[word]!)) word++
      at = word * 4 - shift
    }
    while (at < end && plain[bytes[at]!] === 1) at++
    return at
  }

  /** Checks the escape whose letter is at `at` and returns where it ends. */
  #escape(at: number): number {
    switch (this.bytes[at]) {
      case quote:
      case backslash:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        if (at < this.end) return at + 1
        break
      case 0x75:
        if (at + 4 < this.end) {
          let digits = 1
          while (digits <= 4 && isHexadecimal(this.bytes[at + digits]!)) digits++
          if (digits === 5) return at + 5
        }
    }
    return this.#fail('a valid escape in a string')
  }

  #scalar(byte: number): void {
    if (byte === 0x74) this.#word('true')
    else if (byte === 0x66) this.#word('false')
    else if (byte === 0x6e) this.#word('null')
    else this.#number()
  }

  #word(word: string): void {
    for (let i = 1; i < word.length; i++) {
      if (this.position + i >= this.end || this.bytes[this.position + i] !== word.charCodeAt(i)) {
        this.#fail('a JSON value')
      }
    }
    this.position += word.length
  }

  #number(): void {
    const { bytes, end } = this
    const start = this.position
    let at = start
    if (bytes[at] === 0x2d) at++
    if (at < end && bytes[at] === 0x30) at++
    else at = this.#digits(at, start)
    if (at < end && bytes[at] === 0x2e) at = this.#digits(at + 1, start)
    if (at < end && (bytes[at]! | 0x20) === 0x65) {
      at++
      if (at < end && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++
      at = this.#digits(at, start)
    }
    this.position = at
  }

  /** Skips one or more digits. */
  #digits(from: number, start: number): number {
    const { bytes, end } = this
    let at = from
    while (at < end && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++
    if (at === from) this.#fail(at === start ? 'a JSON value' : 'a digit', at)
    return at
  }

  #fail(expected: string, at = this.position): never {
    const found = at < this.end ? describeByte(this.bytes[at]!) : 'the end'
    throw new AssayError(
      'REQUEST_NOT_JSON',
      `not JSON: expected ${expected} at byte ${at}, found ${found}`,
    )
  }

  #failDeep(): never {
    throw new AssayError(
      'REQUEST_TOO_DEEP',
      `JSON nests deeper than ${this.#deepest} levels at byte ${this.position}`,
      { hint: 'store deep structures as text' },
    )
  }
}

/** The words of memory that `bytes` fill, the first of them perhaps only in part. */
function wordsOf(bytes: Uint8Array): Int32Array {
  const { buffer, byteOffset, byteLength } = bytes
  const shift = byteOffset % 4
  return new Int32Array(buffer, byteOffset - shift, Math.floor((byteLength + shift) / 4))
}

/**
 * Whether all four bytes of a word stand for themselves in a string. A byte of `x` is zero where
 * `(x - 0x01…) & ~x` has its high bit; where a lower byte is zero too, a higher one may be mistaken
 * for it, which is safe here.
 */
function isPlainWord(word: number): boolean {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  const special =
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes) |
    ((word - 0x20202020) & ~word)
  return (special & 0x80808080) === 0
}

function isHexadecimal(byte: number): boolean {
  const lower = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66)
}

function describeByte(byte: number): string {
  return byte > 0x20 && byte < 0x7f
    ? `"${String.fromCharCode(byte)}"`
    : `byte 0x${byte.toString(16).padStart(2, '0')}`
}
