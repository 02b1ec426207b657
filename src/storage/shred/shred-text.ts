/**
 * Collects the texts of one column, and finds out on the way whether they repeat: a column of few
 * distinct texts becomes codes into a dictionary, any other keeps its texts one by one.
 */
import type { TextColumn } from '../../vector/column.ts'
import { elementsOf } from '../../vector/elements.ts'
import { type ByteSource, equalWords, TextPool } from './text-pool.ts'

/** Distinct texts per row that a dictionary may have. Ids of traces, for one, come a few times each. */
const distinctPerRow = 1 / 2

/** Bytes of a dictionary entry on average up to which it may have as many as that. */
const shortTextBytes = 64

/** Of longer texts, a dictionary may have as many at most, and in all and per row. */
const maximumLongTexts = 65_536
const longTextsPerRow = 1 / 4

/** After so many texts without a single repetition none is hoped for. */
const trialTexts = 4096

/** A dictionary of long texts is given up early when, after this many, most were new. */
const longTrialTexts = 1024
const longTextBytes = 100

/** Bytes of one column, so that offsets stay far from the end of an Int32. */
export const maximumTextBytes = 2 ** 30

/** Up to so many texts of a dictionary it is not given up. */
const smallDictionary = 16

export class TextBuilder {
  readonly #rowCount: number
  /** Values that were appended and not taken back. */
  #valueCount = 0
  /** Texts of the column, or of its dictionary while there is one. */
  #texts = new TextPool(64)
  #hasDictionary = true
  #codes: Int32Array
  /** Without a dictionary: the first row whose offset is not written yet. */
  #nextRow = 0
  /** The code that was given last, if its text stands between quotes as it is; else -1. */
  #lastCode = -1

  constructor(rowCount: number) {
    this.#rowCount = rowCount
    this.#codes = new Int32Array(rowCount).fill(-1)
  }

  /**
   * Sets the text of `row`, which no later call may precede. Returns false when there is no room.
   *
   * @param verbatim whether JSON writes the text as it is: for `repeat`
   */
  append(row: number, source: ByteSource, start: number, end: number, verbatim: boolean): boolean {
    if (this.#texts.byteLength + (end - start) > maximumTextBytes) return false
    this.#valueCount++
    const texts = this.#texts
    if (this.#hasDictionary) {
      const known = texts.count
      const code = texts.codeOf(source, start, end)
      this.#codes[row] = code
      this.#lastCode = verbatim ? code : -1
      // Texts made to collide would cost a long walk each.
      const collides = texts.probes > this.#valueCount * 16 + longTrialTexts
      if (collides || (code === known && !this.#worthwhile())) this.#giveUpDictionary(row)
      return true
    }
    this.#fillTo(row)
    texts.push(source, start, end)
    this.#nextRow = row + 1
    return true
  }

  /**
   * If the string whose first byte after the quote is at `start` is the text that was set last,
   * sets it for `row` too and returns its length; else -1.
   */
  repeat(row: number, source: ByteSource, start: number): number {
    const code = this.#lastCode
    if (code < 0) return -1
    const texts = this.#texts
    const from = texts.offsets[code]!
    const length = texts.offsets[code + 1]! - from
    if (source.bytes[start + length] !== 0x22) return -1
    if (!equalWords(texts, from, source, start, length)) return -1
    this.#valueCount++
    this.#codes[row] = code
    return length
  }

  /** Takes back the text of `row`, the last that was appended. */
  clear(row: number): void {
    this.#valueCount--
    if (this.#hasDictionary) {
      this.#codes[row] = -1
    } else {
      this.#texts.pop()
      this.#nextRow = row
    }
  }

  finish(validity: Uint8Array | undefined): TextColumn {
    if (this.#hasDictionary && dictionaryPays(this.#texts, this.#rowCount)) {
      return {
        encoding: 'dictionary',
        codes: elementsOf(this.#codes),
        dictionary: this.#texts.finish(),
        validity,
      }
    }
    if (this.#hasDictionary) this.#giveUpDictionary(this.#rowCount - 1)
    this.#fillTo(this.#rowCount)
    return { encoding: 'plain', texts: this.#texts.finish(), validity }
  }

  /** Whether what was seen so far lets a dictionary be hoped for; asked when a text was new. */
  #worthwhile(): boolean {
    const { count, byteLength } = this.#texts
    if (count <= smallDictionary) return true
    if (!dictionaryPays(this.#texts, this.#rowCount)) return false
    if (count === this.#valueCount && count >= trialTexts) return false
    if (count < longTrialTexts || byteLength < count * longTextBytes) return true
    return count * 2 <= this.#valueCount
  }

  #fillTo(row: number): void {
    for (; this.#nextRow < row; this.#nextRow++) this.#texts.pushEmpty()
  }

  /** Writes the texts of all rows up to `lastRow` one by one. */
  #giveUpDictionary(lastRow: number): void {
    const distinct = this.#texts
    const texts = new TextPool(this.#rowCount, distinct.byteLength * 2 + 1024)
    for (let row = 0; row <= lastRow; row++) {
      const code = this.#codes[row]!
      if (code < 0) texts.pushEmpty()
      else texts.push(distinct, distinct.offsets[code]!, distinct.offsets[code + 1]!)
    }
    this.#texts = texts
    this.#hasDictionary = false
    this.#codes = new Int32Array(0)
    this.#lastCode = -1
    this.#nextRow = lastRow + 1
  }
}

/** Whether the distinct texts of a column of `rows` rows are few enough. */
export function dictionaryPays({ count, byteLength }: TextPool, rows: number): boolean {
  if (count <= 1) return true
  return byteLength <= count * shortTextBytes
    ? count <= rows * distinctPerRow
    : count <= Math.min(maximumLongTexts, rows * longTextsPerRow)
}
