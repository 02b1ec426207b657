/**
 * Makes the index of the words of a column's texts (`vector/term-index.ts`). Its bytes, with the
 * checksums of their pages:
 *
 *     index     = directory  heads  words  aliases  lists  [zeros to a multiple of 4]
 *     directory = [place:Int32 list:Int32] per block of 16 words, and one more for the end
 *     heads     = [four bytes of its first word:Uint32] per block
 *     words     = a space before each, in the order of their bytes, and one at the end
 *     aliases   = of each word that full-text search folds to another: [space  that one  tab  the word's
 *                 number in hexadecimal digits], and a space at the end
 *     lists     = `row-list.ts`: rows with words that are left out, rows in doubt, rows with escapes;
 *                 and the rows of each word in their order
 *
 * The directory has where among the words the space before the first word of a block is, and where
 * among the lists the list of that word. A word is looked for among the heads, which lie together, and
 * only then among words.
 */

import { isAscii } from 'node:buffer'
import { cutBytes, cutTexts, integersOfWord, WordCutter } from '../../kernel/words.ts'
import { foldAccents } from '../../type/fold-accents.ts'
import type { Texts } from '../../vector/column.ts'
import { listMargin, RowListWriter } from '../../vector/row-list.ts'
import { withChecksums } from './checked-pages.ts'
import { FoldedText } from './folded-text.ts'
import { blockTextsOf, type WrittenGrams, writeGrams } from './gram-writer.ts'
import { TermScanner } from './term-scanner.ts'

export interface TermShape {
  readonly termCount: number
  readonly wordBytes: number
  /** Absent in older indexes, which have none. */
  readonly aliasBytes?: number
  readonly listBytes: number
  /** Absent in older indexes, which have no heads, and of which all lists are in Rice's code. */
  readonly hasHeads?: true
}

export interface WrittenTerms extends TermShape {
  readonly bytes: Uint8Array
  /** The parts of words that were left out; undefined when there are none. */
  readonly beside: WrittenGrams | undefined
}

export const termsOfBlock = 16
export const space = 0x20
export const tab = 0x09

/** An index that would take more of its texts' size than that is not made. */
const largestShare = 0.3
/** What few texts may have anyway, when most words are new; of identifiers, they are so for ever. */
const freeBytes = 2 ** 19
const freeBytesOfShort = 2 ** 16
/** Of texts of which words that are left out are a larger part, all parts are indexed as well. */
const largestShareBeside = 0.5
/** More different words are not taken. */
const mostTerms = 2 ** 20
/** Bytes of a row in a list, more or less, and of a word besides its letters. */
const bytesPerRow = 1.2
const bytesPerTerm = 3

/**
 * Undefined when the index would be too large for what it is of: identifiers.
 *
 * @param content `json` when each text is JSON
 * @param areShort whether they may be identifiers
 */
export function writeTerms(
  texts: Texts,
  content: 'text' | 'json',
  areShort: boolean,
): WrittenTerms | undefined {
  const { offsets } = texts
  const rowCount = offsets.length - 1
  const words = new RowWords(rowCount)
  const { scanner, beside } = words
  for (let row = 0; row < rowCount; ) {
    row = words.add(texts, content, row)
    if (sizeOf(scanner) > offsets[row]! * largestShare + freeBytes) return undefined
  }
  const textBytes = offsets[rowCount]!
  const free = areShort ? freeBytesOfShort : freeBytes
  if (sizeOf(scanner) > textBytes * largestShare + free) return undefined
  if (beside.byteLength > textBytes * largestShareBeside) return undefined
  if (scanner.termCount > mostTerms) return undefined
  const order = orderOf(scanner.terms)
  const { rows, ends } = rowsByTerm(scanner, words.ends)
  const lists = new RowListWriter()
  for (const rare of [beside.rows, words.doubtful, words.escaped]) {
    lists.push(rare.rows, 0, rare.count, rowCount)
  }
  const { termCount } = scanner
  const blocks = Math.ceil(termCount / termsOfBlock)
  const directory = new Int32Array((blocks + 1) * 2)
  const heads = new Uint32Array(blocks)
  const written = new Uint8Array(scanner.termBytes + termCount + 1).fill(space)
  const { bytes: letters, offsets: places } = scanner.terms
  let wordAt = 0
  for (let i = 0; i < termCount; i++) {
    const term = order[i]!
    if (i % termsOfBlock === 0) {
      const block = i / termsOfBlock
      directory[block * 2] = wordAt
      directory[block * 2 + 1] = lists.byteLength
      heads[block] = headOf(letters, places[term]!, places[term + 1]!)
    }
    wordAt++
    for (let at = places[term]!; at < places[term + 1]!; at++) written[wordAt++] = letters[at]!
    lists.push(rows, term === 0 ? 0 : ends[term - 1]!, ends[term]!, rowCount)
  }
  directory[blocks * 2] = wordAt
  directory[blocks * 2 + 1] = lists.byteLength
  const aliases = aliasesOf(scanner.terms, order)
  const shape = {
    termCount,
    wordBytes: written.length,
    aliasBytes: aliases.length,
    listBytes: lists.byteLength,
    hasHeads: true,
  } as const
  const index = new Uint8Array(termBytesOf(shape))
  let at = 0
  for (const part of [bytesOf(directory), bytesOf(heads), written, aliases, lists.finish()]) {
    index.set(part, at)
    at += part.length
  }
  return {
    ...shape,
    bytes: withChecksums(index),
    beside: beside.rows.count === 0 ? undefined : beside.grams(blockTextsOf(texts)),
  }
}

function bytesOf({ buffer }: Int32Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer)
}

/** Bytes of an index, without their checksums. */
export function termBytesOf(shape: TermShape): number {
  const { wordBytes, aliasBytes = 0, listBytes } = shape
  return (directoryBytes(shape) + wordBytes + aliasBytes + listBytes + listMargin + 3) & ~3
}

/** Those before its words. */
export function directoryBytes({ termCount, hasHeads }: TermShape): number {
  const blocks = Math.ceil(termCount / termsOfBlock)
  return (blocks + 1) * 8 + (hasHeads ? blocks * 4 : 0)
}

function aliasesOf({ bytes, offsets }: Texts, order: Int32Array): Buffer {
  const aliases: string[] = []
  for (const [number, term] of order.entries()) {
    const word = bytes.subarray(offsets[term]!, offsets[term + 1]!)
    if (isAscii(word)) continue
    const text = word.toString()
    const folded = foldAccents(text)
    if (folded !== text && folded !== '') aliases.push(` ${folded}\t${number.toString(16)}`)
  }
  return Buffer.from(`${aliases.join('')} `)
}

/** More or less what the index takes. */
function sizeOf({ termBytes, termCount, occurrenceCount }: TermScanner): number {
  return termBytes + termCount * bytesPerTerm + occurrenceCount * bytesPerRow
}

/** The words' numbers in the order of their bytes. */
function orderOf({ bytes, offsets }: Texts): Int32Array {
  const count = offsets.length - 1
  // Four bytes and the number are an integer that a double holds, and those sort natively.
  const keys = new Float64Array(count)
  for (let term = 0; term < count; term++) {
    keys[term] = headOf(bytes, offsets[term]!, offsets[term + 1]!) * mostTerms + term
  }
  keys.sort()
  const order = Int32Array.from(keys, (key) => key % mostTerms)
  for (let from = 0; from < count; ) {
    const head = Math.floor(keys[from]! / mostTerms)
    let to = from + 1
    while (to < count && Math.floor(keys[to]! / mostTerms) === head) to++
    if (to - from > 1) {
      order.subarray(from, to).sort((a, b) => {
        return bytes.compare(bytes, offsets[b]!, offsets[b + 1]!, offsets[a]!, offsets[a + 1]!)
      })
    }
    from = to
  }
  return order
}

/** The first four bytes as a number, zeros behind a shorter word. */
export function headOf(bytes: Uint8Array, start: number, end: number): number {
  let head = 0
  for (let at = start; at < start + 4; at++) head = head * 256 + (at < end ? bytes[at]! : 0)
  return head
}

/** The rows of each word, word by word; and where those of each end. */
function rowsByTerm(
  scanner: TermScanner,
  rowEnds: Int32Array,
): { rows: Int32Array; ends: Int32Array } {
  const { occurrences, termCount } = scanner
  const ends = new Int32Array(termCount)
  for (let term = 0, at = 0; term < termCount; term++) {
    ends[term] = at
    at += scanner.rowCountOf(term)
  }
  const rows = new Int32Array(rowEnds.at(-1)!)
  for (let row = 0, at = 0; row < rowEnds.length; row++) {
    for (const end = rowEnds[row]!; at < end; at++) rows[ends[occurrences[at]!]!++] = row
  }
  return { rows, ends }
}

/** The words of rows, taken some thousand texts at a time. */
class RowWords {
  readonly scanner = new TermScanner()
  readonly beside: BesideWords
  readonly doubtful = new TermRowList()
  readonly escaped = new TermRowList()
  /** Of each row, how many words the scanner had after it. */
  readonly ends: Int32Array
  readonly #cutter = new WordCutter()
  readonly #folded = new FoldedText('case')
  readonly #doubted = new Uint8Array(cutTexts)

  constructor(rowCount: number) {
    this.beside = new BesideWords(rowCount)
    this.ends = new Int32Array(rowCount)
  }

  /** Takes texts from `first` on, and returns the first that is left. */
  add(texts: Texts, content: 'text' | 'json', first: number): number {
    const cutter = this.#cutter
    const count =
      content === 'text' ? this.#placeTexts(texts, first) : this.#placeJson(texts, first)
    if (count === 0) {
      this.#addSlowly(texts, content, first)
      return first + 1
    }
    cutter.cut(count)
    const { folded, words } = cutter
    let at = 0
    const leaveOut = (from: number, to: number) => this.beside.push(folded, from, to)
    for (let i = 0; i < count; i++) {
      const row = first + i
      if (cutter.isLeft(i)) {
        this.#addSlowly(texts, content, row)
        continue
      }
      for (const end = cutter.wordsEnd(i); at < end; at += integersOfWord) {
        const [from, to, hash, seen] = [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!]
        this.scanner.addWord(row, folded, from, to, hash, seen, leaveOut)
      }
      const isDoubted = content === 'json' && this.#doubted[i] === 1
      this.#endRow(row, cutter.isDoubtful(i) || isDoubted, cutter.hasEscapes(i))
    }
    return first + count
  }

  /** Returns how many texts were placed: none when the first is too long. */
  #placeTexts({ bytes, offsets }: Texts, first: number): number {
    const { source, ends } = this.#cutter
    const start = offsets[first]!
    let count = 0
    while (count < cutTexts && first + count + 1 < offsets.length) {
      const end = offsets[first + count + 1]! - start
      if (end > cutBytes) break
      ends[count++] = end
    }
    source.set(bytes.subarray(start, offsets[first + count]!))
    return count
  }

  #placeJson({ bytes, offsets }: Texts, first: number): number {
    const { source, ends } = this.#cutter
    const folded = this.#folded
    let length = 0
    let count = 0
    while (count < cutTexts && first + count + 1 < offsets.length) {
      const [from, to] = [offsets[first + count]!, offsets[first + count + 1]!]
      if (to > from) {
        folded.setJson(bytes, from, to)
        if (length + folded.length > cutBytes) break
        source.set(folded.bytes.subarray(0, folded.length), length)
        length += folded.length
      }
      this.#doubted[count] = +(to > from && folded.isDoubtful)
      ends[count++] = length
    }
    return count
  }

  #addSlowly({ bytes, offsets }: Texts, content: 'text' | 'json', row: number): void {
    const folded = this.#folded
    if (content === 'text') folded.setText(bytes, offsets[row]!, offsets[row + 1]!)
    else folded.setJson(bytes, offsets[row]!, offsets[row + 1]!)
    const { bytes: source, length } = folded
    this.scanner.add(row, source, length, (from, to) => this.beside.push(source, from, to))
    this.#endRow(row, this.scanner.isDoubtful || folded.isDoubtful, folded.hasEscapes)
  }

  #endRow(row: number, isDoubtful: boolean, hasEscapes: boolean): void {
    if (isDoubtful) this.doubtful.push(row)
    if (hasEscapes) this.escaped.push(row)
    this.beside.endRow(row)
    this.ends[row] = this.scanner.occurrenceCount
  }
}

class TermRowList {
  count = 0
  rows = new Int32Array(64)

  push(row: number): void {
    if (this.count === this.rows.length) {
      const rows = new Int32Array(this.count * 2)
      rows.set(this.rows)
      this.rows = rows
    }
    this.rows[this.count++] = row
  }
}

/** Words that are left out, folded for full-text search, with a space after each, row by row. */
class BesideWords {
  readonly rows = new TermRowList()
  #bytes = Buffer.allocUnsafeSlow(1 << 12)
  byteLength = 0
  readonly #offsets: Int32Array

  constructor(rowCount: number) {
    this.#offsets = new Int32Array(rowCount + 1)
  }

  push(source: Uint8Array, from: number, to: number): void {
    const word = Buffer.from(source.buffer, source.byteOffset + from, to - from)
    const folded = isAscii(word) ? word : Buffer.from(foldAccents(word.toString()))
    const end = this.byteLength + folded.length + 1
    if (end > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(end, this.#bytes.length * 2))
      bytes.set(this.#bytes)
      this.#bytes = bytes
    }
    this.#bytes.set(folded, this.byteLength)
    this.#bytes[end - 1] = space
    this.byteLength = end
  }

  endRow(row: number): void {
    this.#offsets[row + 1] = this.byteLength
    if (this.byteLength > this.#offsets[row]!) this.rows.push(row)
  }

  grams(blockTexts: number): WrittenGrams {
    const texts = { bytes: this.#bytes, offsets: this.#offsets }
    return writeGrams(texts, 'folded', blockTexts)
  }
}
