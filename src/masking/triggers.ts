/**
 * Finds what shows that a text may have a match: an `@`, digits in a row, the beginnings of keys. Each of
 * these is looked for by its rarest byte, so that most bytes of a text are only passed. What is found is
 * then looked at by its pattern (`find-match.ts`).
 */

/** What shows a match of this bit. */
export interface Trigger {
  readonly bit: number
  /** In ASCII, without quotes and backslashes. */
  readonly texts: readonly string[]
  /** Four digits in a row. */
  readonly hasDigits?: boolean
  /** Three pairs of digits, with one other byte between each two. */
  readonly hasPairs?: boolean
}

const quote = 0x22
const backslash = 0x5c
const firstDigit = 0x30
const lastDigit = 0x39

/** So many are passed one by one before pairs are worth it. */
const nearBytes = 8

const passed = 0
const ofText = 1
const ofDigit = 2
const ofEscape = 3
const ofQuote = 4

/** From rare to frequent in prose, programs and ids; what is not here is rarer. */
const frequency = '-_/:.KJGXQZVBWYHUPFLDMNORCTSIEAkjqxzvbywgpfmucdlhrsnioate '

interface Literal {
  readonly bit: number
  readonly bytes: Uint8Array
  /** Where its rarest byte is. */
  readonly offset: number
}

export class TriggerScan {
  /** Found by the last scan, in their order: where triggers end, and their bits. */
  ends = new Int32Array(64)
  bitsAt = new Int32Array(64)
  count = 0
  /** All bits that were found. */
  bits = 0
  /** Whether the string has escapes, and whether some of them spell characters. */
  hasEscape = false
  hasSpelled = false
  readonly #json = new Uint8Array(256)
  readonly #text: Uint8Array
  /** 1 for two bytes that are passed. */
  readonly #passedPairs = new Uint8Array(2 ** 16)
  #pairs: Uint16Array = new Uint16Array(0)
  /** Whether the text begins within a pair. */
  #shift = 0
  readonly #literals: (readonly Literal[] | undefined)[] = []
  #hasDigitLiterals = false
  readonly #digitBits: number
  readonly #pairBits: number

  constructor(triggers: readonly Trigger[]) {
    for (const { bit, texts } of triggers) {
      for (const text of texts) this.#add({ bit, bytes: Buffer.from(text), offset: rarest(text) })
    }
    const bitsOf = (has: 'hasDigits' | 'hasPairs') =>
      triggers.reduce((bits, trigger) => (trigger[has] ? bits | trigger.bit : bits), 0)
    this.#digitBits = bitsOf('hasDigits')
    this.#pairBits = bitsOf('hasPairs')
    if ((this.#digitBits | this.#pairBits) !== 0) {
      this.#json.fill(ofDigit, firstDigit, lastDigit + 1)
    }
    this.#text = this.#json.slice()
    this.#json[quote] = ofQuote
    this.#json[backslash] = ofEscape
    for (let pair = 0; pair < this.#passedPairs.length; pair++) {
      const isPassed = this.#json[pair & 0xff] === passed && this.#json[pair >> 8] === passed
      this.#passedPairs[pair] = isPassed ? 1 : 0
    }
  }

  #add(literal: Literal): void {
    const byte = literal.bytes[literal.offset]!
    this.#literals[byte] = [...(this.#literals[byte] ?? []), literal]
    this.#json[byte] = ofText
    if (isDigit(byte)) this.#hasDigitLiterals = true
  }

  /** Scans the rest of a JSON string from behind its first quote; returns where its last quote is, -1 if it has none. */
  string(bytes: Uint8Array, start: number, end: number): number {
    this.#begin()
    const kinds = this.#json
    let at = start
    while (at < end) {
      // Behind the last byte there is none, which is passed by none.
      const near = at + nearBytes
      while (at < near && kinds[bytes[at]!] === passed) at++
      if (at === near) at = this.#pass(at)
      const kind = kinds[bytes[at]!]
      if (kind === ofQuote) return at < end ? at : -1
      if (kind === undefined) return -1
      // Of a pair, only the second may be none to be passed.
      if (kind === passed) continue
      if (kind === ofEscape) {
        this.hasEscape = true
        if (bytes[at + 1] === 0x75) this.hasSpelled = true
        at += 2
      } else if (kind === ofDigit) at = this.#digits(bytes, start, at, end)
      else this.#literal(bytes, start, at++, end)
    }
    return -1
  }

  /** Says of which text `string` is told next. */
  begin({ buffer, byteOffset, length }: Uint8Array): void {
    this.#shift = byteOffset & 1
    this.#pairs = new Uint16Array(buffer, byteOffset - this.#shift, (length + this.#shift) >> 1)
  }

  /** Where behind `from` something is that is not passed, or less: two bytes at a time. */
  #pass(from: number): number {
    const shift = this.#shift
    const pairs = this.#pairs
    const arePassed = this.#passedPairs
    let pair = (from + shift) >> 1
    while (arePassed[pairs[pair]!] === 1) pair++
    // The first pair may begin before, with a byte that is passed already.
    return Math.max(from, pair * 2 - shift)
  }

  /** Scans text that is no JSON. */
  text(bytes: Uint8Array, start: number, end: number): void {
    this.#begin()
    const kinds = this.#text
    let at = start
    while (at < end) {
      const kind = kinds[bytes[at]!]!
      if (kind === passed) at++
      else if (kind === ofDigit) at = this.#digits(bytes, start, at, end)
      else this.#literal(bytes, start, at++, end)
    }
  }

  #begin(): void {
    this.count = 0
    this.bits = 0
    this.hasEscape = false
    this.hasSpelled = false
  }

  /** Passes the digits that begin here. */
  #digits(bytes: Uint8Array, start: number, from: number, end: number): number {
    let at = from + 1
    while (at < end && isDigit(bytes[at]!)) at++
    if (at - from >= 4 && !isLone(bytes, start, from, at, end)) this.#note(at, this.#digitBits)
    else if (at - from === 2 && this.#pairBits !== 0 && from - start >= 6) {
      if (arePairs(bytes, from)) this.#note(at, this.#pairBits)
    }
    // A digit may be the rarest byte of a text, too.
    for (let i = from; this.#hasDigitLiterals && i < at; i++) {
      if (this.#literals[bytes[i]!]) this.#literal(bytes, start, i, end)
    }
    return at
  }

  #literal(bytes: Uint8Array, start: number, at: number, end: number): void {
    for (const { bit, bytes: text, offset } of this.#literals[bytes[at]!]!) {
      const first = at - offset
      if (first < start || first + text.length > end) continue
      let same = 0
      while (same < text.length && bytes[first + same] === text[same]) same++
      if (same === text.length) this.#note(first + text.length, bit)
    }
  }

  #note(end: number, bits: number): void {
    if (bits === 0) return
    this.bits |= bits
    if (this.count === this.ends.length) this.#grow()
    this.ends[this.count] = end
    this.bitsAt[this.count++] = bits
  }

  #grow(): void {
    const ends = new Int32Array(this.count * 2)
    const bitsAt = new Int32Array(this.count * 2)
    ends.set(this.ends)
    bitsAt.set(this.bitsAt)
    this.ends = ends
    this.bitsAt = bitsAt
  }
}

function isDigit(byte: number): boolean {
  return byte >= firstDigit && byte <= lastDigit
}

/** So many digits by themselves may be of a number that people write. */
const mostLone = 7
const mostSeparators = 3

/** Whether few digits have neither others nor capital letters beside them, as years have: then they are of no long number. */
function isLone(bytes: Uint8Array, start: number, from: number, to: number, end: number): boolean {
  if (to - from > mostLone) return false
  let before = from - 1
  for (let i = 0; i < mostSeparators && before >= start && isSeparator(bytes[before]!); i++)
    before--
  if (before >= start && isOfLong(bytes[before]!)) return false
  let after = to
  for (let i = 0; i < mostSeparators && after < end && isSeparator(bytes[after]!); i++) after++
  return after >= end || !isOfLong(bytes[after]!)
}

function isSeparator(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x28 && byte <= 0x2f)
}

function isOfLong(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x5a)
}

/** Whether two pairs come before the one at `from`. */
function arePairs(bytes: Uint8Array, from: number): boolean {
  const isPair = (at: number) => isDigit(bytes[at]!) && isDigit(bytes[at + 1]!)
  const isBetween = (at: number) => !isDigit(bytes[at]!)
  return isBetween(from - 1) && isPair(from - 3) && isBetween(from - 4) && isPair(from - 6)
}

/** Where the rarest byte of a text is. */
function rarest(text: string): number {
  const ranks = Array.from(text, (character) => frequency.indexOf(character))
  return ranks.indexOf(Math.min(...ranks))
}
