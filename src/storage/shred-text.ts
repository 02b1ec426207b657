/**
 * Collects the texts of one column, and finds out on the way whether they repeat: a column of few
 * distinct texts becomes codes into a dictionary, any other keeps its texts one by one.
 */
import type { TextColumn, Texts } from '../vector/column.ts'
import { copyBytes } from './shred-scan.ts'

/** Texts that a dictionary may have at most, in all and per row. */
export const maximumDistinct = 65_536
export const distinctPerRow = 1 / 4

/** A dictionary of long texts is given up early when, after this many, most were new. */
const trialTexts = 1024
const longTextBytes = 100

/** Bytes of one column, so that offsets stay far from the end of an Int32. */
const maximumBytes = 2 ** 30

/** Texts up to this long are compared faster by a loop than natively. */
const shortTextBytes = 32

export class TextBuilder {
  readonly #rowCount: number
  readonly #maximumDistinct: number
  readonly #validity: Uint8Array
  #valueCount = 0
  /** Texts of the column, or of its dictionary while there is one. */
  #texts: GrowingTexts
  #dictionary: DictionaryIndex | undefined = new DictionaryIndex()
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
  #worthwhile(dictionary: DictionaryIndex): boolean {
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

/** Texts end to end, growing at the end. */
class GrowingTexts {
  count = 0
  byteLength = 0
  bytes: Buffer = Buffer.allocUnsafeSlow(1024)
  offsets: Int32Array

  constructor(expectedCount: number) {
    this.offsets = new Int32Array(expectedCount + 1)
  }

  push(source: Buffer, start: number, end: number): void {
    const length = end - start
    const from = this.byteLength
    if (from + length > this.bytes.length) this.#grow(from + length)
    this.byteLength = copyBytes(source, start, end, this.bytes, from)
    this.pushEmpty()
  }

  pushEmpty(): void {
    this.count++
    if (this.count === this.offsets.length) {
      const offsets = new Int32Array(this.offsets.length * 2)
      offsets.set(this.offsets)
      this.offsets = offsets
    }
    this.offsets[this.count] = this.byteLength
  }

  pop(): void {
    this.count--
    this.byteLength = this.offsets[this.count]!
  }

  finish(): Texts {
    return {
      bytes: this.bytes.subarray(0, this.byteLength),
      offsets: this.offsets.subarray(0, this.count + 1),
    }
  }

  #grow(needed: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(bytes, 0, 0, this.byteLength)
    this.bytes = bytes
  }
}

/** Finds a text's code: open addressing over hashes of the texts. */
class DictionaryIndex {
  #slots = new Int32Array(64).fill(-1)
  #hashes = new Int32Array(64)
  /** Slots that were tried in vain. */
  probes = 0

  /** The code of the text, which is added to `texts` when it is new. */
  codeOf(texts: GrowingTexts, source: Buffer, start: number, end: number): number {
    const hash = hashBytes(source, start, end)
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (;;) {
      const code = this.#slots[slot]!
      if (code === -1) break
      if (this.#hashes[slot] === hash && equalsText(texts, code, source, start, end)) return code
      slot = (slot + 1) & mask
      this.probes++
    }
    const code = texts.count
    texts.push(source, start, end)
    this.#slots[slot] = code
    this.#hashes[slot] = hash
    if (texts.count * 2 > this.#slots.length) this.#rehash()
    return code
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(-1)
    const hashes = new Int32Array(slots.length)
    const mask = slots.length - 1
    for (let i = 0; i < this.#slots.length; i++) {
      if (this.#slots[i] === -1) continue
      let slot = this.#hashes[i]! & mask
      while (slots[slot] !== -1) slot = (slot + 1) & mask
      slots[slot] = this.#slots[i]!
      hashes[slot] = this.#hashes[i]!
    }
    this.#slots = slots
    this.#hashes = hashes
  }
}

/** Of a long text, 64 bytes at its ends and 64 spread over it: alike texts are rare, and compared. */
function hashBytes(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  let hash = length
  if (length <= 128) {
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  } else {
    const stride = length >> 6
    for (let i = 0; i < 32; i++) {
      hash = Math.imul(hash ^ bytes[start + i]!, 0x01000193)
      hash = Math.imul(hash ^ bytes[end - 1 - i]!, 0x01000193)
    }
    for (let i = 0; i < 64; i++) {
      hash = Math.imul(hash ^ bytes[start + i * stride]!, 0x01000193)
    }
  }
  return hash ^ (hash >>> 15)
}

function equalsText(
  texts: GrowingTexts,
  code: number,
  source: Buffer,
  start: number,
  end: number,
): boolean {
  const from = texts.offsets[code]!
  const length = end - start
  if (texts.offsets[code + 1]! - from !== length) return false
  const bytes = texts.bytes
  if (length > shortTextBytes) {
    return bytes.compare(source, start, end, from, from + length) === 0
  }
  for (let i = 0; i < length; i++) {
    if (bytes[from + i] !== source[start + i]) return false
  }
  return true
}
