/** Collects the words of rows' texts, for an index of them (`vector/term-index.ts`). */
import { isAscii } from 'node:buffer'
import { foldAccents } from '../../type/fold-accents.ts'
import {
  digit,
  doubtful,
  droppedMark,
  gaplessCharacter,
  isOfPart,
  isOfWord,
  separator,
  wordClass,
} from '../../type/word-class.ts'
import type { Texts } from '../../vector/column.ts'
import { isBeside, mayBeBeside, shortestBeside } from '../../vector/term-index.ts'

/** The class of bytes that are not ASCII. */
const beyond = 8
const classes = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? wordClass(byte) : beyond,
)

const firstSlots = 1 << 12

/** What is known of a word, side by side, so that one look misses the cache once. */
const fields = 4
const hashField = 0
const lastRowField = 1
const rowCountField = 2
/** Where its letters begin. */
const placeField = 3

export class TermScanner {
  /** The different words, in the order in which they were met. */
  termCount = 0
  termBytes = 0
  /** Words of all rows, each once in a row, row by row. */
  occurrences = new Int32Array(1 << 16)
  occurrenceCount = 0
  /** Whether the text that was added last has a character that may be another one some day. */
  isDoubtful = false
  #bytes = new Uint8Array(1 << 16)
  #terms = new Int32Array(fields << 10)
  /** The number of a word, or -1. */
  #slots = new Int32Array(firstSlots).fill(-1)

  get terms(): Texts {
    const offsets = new Int32Array(this.termCount + 1)
    for (let i = 0; i <= this.termCount; i++) offsets[i] = this.#terms[i * fields + placeField]!
    return { bytes: Buffer.from(this.#bytes.buffer, 0, this.termBytes), offsets }
  }

  /** In how many rows a word is. */
  rowCountOf(term: number): number {
    return this.#terms[term * fields + rowCountField]!
  }

  /**
   * All words of a text, one by one.
   *
   * @param folded has a byte more than `length`, which is overwritten
   * @param beside is given the words that are not taken, as places in the text
   */
  add(
    row: number,
    folded: Uint8Array,
    length: number,
    beside: (from: number, to: number) => void,
  ): void {
    this.isDoubtful = false
    folded[length] = 0x20
    for (let at = 0; at < length; ) {
      let byte = folded[at]!
      let found = classes[byte]!
      if (found === separator) {
        at++
        continue
      }
      const start = at
      let hash = 0
      let seen = 0
      let isPart = false
      while (found !== separator) {
        const isBeyond = found === beyond
        if (isBeyond) {
          found = wordClass(codePointAt(folded, at))
          if (found === doubtful) this.isDoubtful = true
          if (!isOfWord(found)) break
        }
        if (at > start && isOfPart(found) !== isPart) {
          // A mark that folding leaves out does not end a word.
          if (found === droppedMark) this.isDoubtful = true
          break
        }
        isPart = isOfPart(found)
        if (isBeyond) {
          const end = at + characterBytes(byte)
          for (; at < end; at++) hash = Math.imul(hash ^ folded[at]!, 0x9e3779b1)
        } else {
          hash = Math.imul(hash ^ byte, 0x9e3779b1)
          at++
        }
        seen |= 1 << found
        byte = folded[at]!
        found = classes[byte]!
      }
      if (at === start) at += characterBytes(byte)
      else this.addWord(row, folded, start, at, hash ^ (hash >>> 15), seen, beside)
    }
  }

  /**
   * A word of the row's text, as `WordCutter` tells it.
   *
   * @param seen a bit for each class of its characters
   */
  addWord(
    row: number,
    folded: Uint8Array,
    start: number,
    end: number,
    hash: number,
    seen: number,
    beside: (from: number, to: number) => void,
  ): void {
    if (end - start > shortestBeside && isLeftOut(folded, start, end, seen)) {
      beside(start, end)
      return
    }
    const term = this.#termOf(folded, start, end, hash)
    const terms = this.#terms
    const at = term * fields
    // Counted from 1, since 0 is what a new word has.
    if (terms[at + lastRowField] === row + 1) return
    terms[at + lastRowField] = row + 1
    terms[at + rowCountField]!++
    if (this.occurrenceCount === this.occurrences.length) {
      this.occurrences = grown(this.occurrences)
    }
    this.occurrences[this.occurrenceCount++] = term
  }

  #termOf(folded: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots
    const terms = this.#terms
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const term = slots[slot]!
      if (term === -1) {
        slots[slot] = this.termCount
        return this.#addTerm(folded, start, end, hash)
      }
      const at = term * fields
      if (terms[at + hashField] !== hash) continue
      const place = terms[at + placeField]!
      if (terms[at + fields + placeField]! - place !== end - start) continue
      if (this.#isAt(place, folded, start, end)) return term
    }
  }

  #isAt(place: number, folded: Uint8Array, start: number, end: number): boolean {
    const bytes = this.#bytes
    for (let i = start, at = place; i < end; i++, at++) if (bytes[at] !== folded[i]) return false
    return true
  }

  #addTerm(folded: Uint8Array, start: number, end: number, hash: number): number {
    const term = this.termCount++
    if (this.termBytes + end - start > this.#bytes.length) {
      const bytes = new Uint8Array(this.#bytes.length * 2)
      bytes.set(this.#bytes)
      this.#bytes = bytes
    }
    for (let i = start; i < end; i++) this.#bytes[this.termBytes++] = folded[i]!
    if ((term + 2) * fields > this.#terms.length) this.#terms = grown(this.#terms)
    this.#terms[term * fields + hashField] = hash
    this.#terms[(term + 1) * fields + placeField] = this.termBytes
    if (this.termCount * 2 > this.#slots.length) this.#rehash()
    return term
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(-1)
    const mask = slots.length - 1
    for (let term = 0; term < this.termCount; term++) {
      let slot = this.#terms[term * fields + hashField]! & mask
      while (slots[slot] !== -1) slot = (slot + 1) & mask
      slots[slot] = term
    }
    this.#slots = slots
  }
}

/** @param seen a bit for each class of its characters */
function isLeftOut(folded: Uint8Array, start: number, end: number, seen: number): boolean {
  const isGapless = (seen & (1 << gaplessCharacter)) !== 0
  if (!isBeside(end - start, (seen & (1 << digit)) !== 0, isGapless)) return false
  const word = Buffer.from(folded.buffer, folded.byteOffset + start, end - start)
  return isAscii(word) || mayBeBeside(foldAccents(word.toString()))
}

/** Bytes of a character that begins with a byte. */
function characterBytes(first: number): number {
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}

function grown(numbers: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

/** That of a character beyond ASCII. */
function codePointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0xe0) return ((first & 0x1f) << 6) | (bytes[at + 1]! & 0x3f)
  const second = bytes[at + 1]! & 0x3f
  if (first < 0xf0) return ((first & 0x0f) << 12) | (second << 6) | (bytes[at + 2]! & 0x3f)
  return (
    ((first & 0x07) << 18) |
    (second << 12) |
    ((bytes[at + 2]! & 0x3f) << 6) |
    (bytes[at + 3]! & 0x3f)
  )
}
