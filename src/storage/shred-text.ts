/**
 * Collects the texts of one column, and finds out on the way whether they repeat: a column of few
 * distinct texts becomes codes into a dictionary, any other keeps its texts one by one.
 */
import type { TextColumn } from '../vector/column.ts'
import { GrowingTexts, TextIndex } from '../vector/text-index.ts'

/** Texts that a dictionary may have at most, in all and per row. */
export const maximumDistinct = 65_536
export const distinctPerRow = 1 / 4

/** A dictionary of long texts is given up early when, after this many, most were new. */
const trialTexts = 1024
const longTextBytes = 100

/** Bytes of one column, so that offsets stay far from the end of an Int32. */
const maximumBytes = 2 ** 30

export class TextBuilder {
  readonly #rowCount: number
  readonly #maximumDistinct: number
  readonly #validity: Uint8Array
  #valueCount = 0
  /** Texts of the column, or of its dictionary while there is one. */
  #texts: GrowingTexts
  #dictionary: TextIndex | undefined = new TextIndex()
  #codes: Int32Array
  /** Without a dictionary: the first row whose offset is not written yet. */
  #nextRow = 0

  constructor(rowCount: number) {
    this.#rowCount = rowCount
    this.#maximumDistinct = Math.min(maximumDistinct, Math.max(1, rowCount * distinctPerRow))
    this.#validity = new Uint8Array((rowCount + 7) >> 3)
    this.#texts = new GrowingTexts(64)
    this.#codes = new Int32Array(rowCount).fill(-1)
  }

  /** Whether `bytes` more would still fit. */
  hasRoom(bytes: number): boolean {
    return this.#texts.byteLength + bytes <= maximumBytes
  }

  /** Sets the text of `row`, which no later call may precede. */
  append(row: number, source: Buffer, start: number, end: number): void {
    this.#validity[row >> 3]! |= 1 << (row & 7)
    this.#valueCount++
    const dictionary = this.#dictionary
    if (dictionary !== undefined) {
      const code = dictionary.codeOf(this.#texts, source, start, end)
      this.#codes[row] = code
      if (!this.#worthwhile(dictionary)) this.#giveUpDictionary(row)
      return
    }
    this.#fillTo(row)
    this.#texts.push(source, start, end)
    this.#nextRow = row + 1
  }

  /** Takes back the text of `row`, the last that was appended. */
  clear(row: number): void {
    const bit = 1 << (row & 7)
    if ((this.#validity[row >> 3]! & bit) === 0) return
    this.#validity[row >> 3]! &= ~bit
    this.#valueCount--
    if (this.#dictionary !== undefined) {
      this.#codes[row] = -1
    } else {
      this.#texts.pop()
      this.#nextRow = row
    }
  }

  /** Undefined when no row has a text. */
  finish(): TextColumn | undefined {
    if (this.#valueCount === 0) return undefined
    const validity = this.#valueCount === this.#rowCount ? undefined : this.#validity
    if (this.#dictionary !== undefined) {
      return {
        encoding: 'dictionary',
        codes: this.#codes,
        dictionary: this.#texts.finish(),
        validity,
      }
    }
    this.#fillTo(this.#rowCount)
    return { encoding: 'plain', texts: this.#texts.finish(), validity }
  }

  /** Whether what was seen so far lets a dictionary be hoped for. */
  #worthwhile(dictionary: TextIndex): boolean {
    const { count, byteLength } = this.#texts
    if (count > this.#maximumDistinct) return false
    // Texts made to collide would cost a long walk each.
    if (dictionary.probes > this.#valueCount * 16 + trialTexts) return false
    return count < trialTexts || byteLength < count * longTextBytes || count * 2 <= this.#valueCount
  }

  #fillTo(row: number): void {
    for (; this.#nextRow < row; this.#nextRow++) this.#texts.pushEmpty()
  }

  /** Writes the texts of all rows up to `lastRow` one by one. */
  #giveUpDictionary(lastRow: number): void {
    const distinct = this.#texts
    const texts = new GrowingTexts(this.#rowCount)
    for (let row = 0; row <= lastRow; row++) {
      if ((this.#validity[row >> 3]! & (1 << (row & 7))) === 0) {
        texts.pushEmpty()
      } else {
        const code = this.#codes[row]!
        texts.push(distinct.bytes, distinct.offsets[code]!, distinct.offsets[code + 1]!)
      }
    }
    this.#texts = texts
    this.#dictionary = undefined
    this.#codes = new Int32Array(0)
    this.#nextRow = lastRow + 1
  }
}
