/** Reads an index of words in place; its bytes are those that `term-writer.ts` says. */
import { assert } from '../../error.ts'
import { ByteSearch } from '../../kernel/text.ts'
import type { SearchTerm } from '../../type/search-query.ts'
import type { GramIndex } from '../../vector/gram-index.ts'
import type { RowBits } from '../../vector/row-bits.ts'
import { RowListReader } from '../../vector/row-list.ts'
import type { TermIndex, TermRelation } from '../../vector/term-index.ts'
import { CheckedPages, checkedBytes, PagedBytes } from './checked-pages.ts'
import { space, type TermShape, tab, termBytesOf, termsOfBlock } from './term-writer.ts'

const gap = Buffer.from([space])
const aliasEnd = Buffer.from([tab])

export class TermReader implements TermIndex {
  readonly beside: GramIndex | undefined
  readonly isOlder: boolean
  readonly #bytes: PagedBytes
  readonly #directory: Int32Array
  readonly #blockCount: number
  readonly #words: Uint8Array
  readonly #wordsAt: number
  readonly #aliases: Uint8Array
  readonly #aliasesAt: number
  readonly #listsAt: number
  readonly #rowCount: number

  /** @param corrupt makes the error that is thrown when a page of it was damaged */
  constructor(
    bytes: Uint8Array,
    shape: TermShape & { readonly isOlder?: boolean },
    beside: GramIndex | undefined,
    rowCount: number,
    corrupt: () => Error,
    pages = new CheckedPages(termBytesOf(shape)),
  ) {
    const byteLength = termBytesOf(shape)
    assert(
      bytes.byteLength === checkedBytes(byteLength),
      'an index of words has the size of its shape',
    )
    this.#bytes = new PagedBytes(bytes, byteLength, pages, corrupt)
    this.#blockCount = Math.ceil(shape.termCount / termsOfBlock)
    this.#directory = new Int32Array(bytes.buffer, bytes.byteOffset, (this.#blockCount + 1) * 2)
    this.#wordsAt = this.#directory.byteLength
    this.#aliasesAt = this.#wordsAt + shape.wordBytes
    this.#listsAt = this.#aliasesAt + (shape.aliasBytes ?? 0)
    this.#words = this.#bytes.content.subarray(this.#wordsAt, this.#aliasesAt)
    this.#aliases = this.#bytes.content.subarray(this.#aliasesAt, this.#listsAt)
    this.#rowCount = rowCount
    this.beside = beside
    this.isOlder = shape.isOlder ?? false
  }

  /** Read when it is needed: most queries open the column for its texts. */
  get #places(): Int32Array {
    this.#bytes.check(0, this.#wordsAt)
    return this.#directory
  }

  addRows(relation: TermRelation, text: Buffer, rows: RowBits): boolean {
    switch (relation) {
      case 'is':
        return this.#addEqual(text, rows)
      case 'begins with':
        return this.#addFound(Buffer.concat([gap, text]), 1, rows)
      case 'ends with':
        return this.#addFound(Buffer.concat([text, gap]), 0, rows)
      case 'has':
        return this.#addFound(text, 0, rows)
    }
  }

  addRowsAlike(fits: SearchTerm['fits'], text: Buffer, rows: RowBits): boolean {
    switch (fits) {
      case 'word': {
        const isThere = this.#addEqual(text, rows)
        return this.#addAliases(Buffer.concat([gap, text, aliasEnd]), rows) || isThere
      }
      case 'start': {
        const needle = Buffer.concat([gap, text])
        const isThere = this.#addFound(needle, 1, rows)
        return this.#addAliases(needle, rows) || isThere
      }
      case 'part': {
        const isThere = this.#addFound(text, 0, rows)
        return this.#addAliases(text, rows) || isThere
      }
    }
  }

  addRowsBeside(rows: RowBits): boolean {
    return this.#addFirst(0, rows)
  }

  addDoubtful(rows: RowBits): boolean {
    return this.#addFirst(1, rows)
  }

  addEscaped(rows: RowBits): boolean {
    return this.#addFirst(2, rows)
  }

  #addEqual(text: Buffer, rows: RowBits): boolean {
    const block = this.#blockOf(text)
    if (block < 0) return false
    const places = this.#places
    const to = places[block * 2 + 2]!
    const words = this.#words
    for (let at = places[block * 2]!, term = 0; at < to; term++) {
      if (this.#compare(text, at) === 0) {
        this.#addRowsOf(block, [term], rows)
        return true
      }
      at = words.indexOf(space, at + 1)
    }
    return false
  }

  /** Adds the rows of words in which something occurs; their first letter is `skipped` bytes after. */
  #addFound(needle: Buffer, skipped: number, rows: RowBits): boolean {
    this.#bytes.check(this.#wordsAt, this.#aliasesAt)
    const words = this.#words
    const places = this.#places
    const find = new ByteSearch(needle, false).in(words)
    let block = 0
    let hit = find(0)
    if (hit < 0) return false
    while (hit >= 0) {
      while (places[block * 2 + 2]! <= hit) block++
      // The words of this block that have it: a search begins again where a word ends.
      const end = places[block * 2 + 2]!
      const terms: number[] = []
      let term = -1
      let at = places[block * 2]!
      while (hit >= 0 && hit < end) {
        const letter = hit + skipped
        for (; at < letter; at++) if (words[at] === space) term++
        terms.push(term)
        hit = find(words.indexOf(space, letter))
      }
      this.#addRowsOf(block, terms, rows)
    }
    return true
  }

  /** Adds the rows of words of whose aliases a needle is a part, but for their numbers. */
  #addAliases(needle: Buffer, rows: RowBits): boolean {
    if (this.#aliasesAt === this.#listsAt) return false
    this.#bytes.check(this.#aliasesAt, this.#listsAt)
    const aliases = this.#aliases
    const find = new ByteSearch(needle, false).in(aliases)
    const first = find(0)
    for (let hit = first; hit >= 0; ) {
      const from = aliases.indexOf(tab, hit) + 1
      const to = aliases.indexOf(space, from)
      const term = Number.parseInt(Buffer.from(aliases.subarray(from, to)).toString('latin1'), 16)
      this.#addRowsOf(Math.floor(term / termsOfBlock), [term % termsOfBlock], rows)
      hit = find(to)
    }
    return first >= 0
  }

  /** The block whose words may be a text, or -1 if it comes before all words. */
  #blockOf(text: Buffer): number {
    const places = this.#places
    let low = 0
    let high = this.#blockCount
    while (low < high) {
      const middle = (low + high) >> 1
      const at = places[middle * 2]!
      this.#bytes.check(this.#wordsAt + at, Math.min(this.#aliasesAt, this.#wordsAt + at + 512))
      if (this.#compare(text, at) < 0) high = middle
      else low = middle + 1
    }
    if (low > 0) {
      const from = this.#wordsAt + places[(low - 1) * 2]!
      this.#bytes.check(from, this.#wordsAt + places[low * 2]! + 1)
    }
    return low - 1
  }

  /** Compares a text with the word behind the space at `at`. */
  #compare(text: Buffer, at: number): number {
    const words = this.#words
    for (let i = 0; i < text.length; i++) {
      // The space that ends a word comes before all letters.
      const difference = text[i]! - words[at + 1 + i]!
      if (difference !== 0) return difference
    }
    return words[at + 1 + text.length] === space ? 0 : -1
  }

  /** @param terms of the block, ascending */
  #addRowsOf(block: number, terms: readonly number[], rows: RowBits): void {
    const places = this.#places
    const from = places[block * 2 + 1]!
    this.#bytes.check(this.#listsAt + from, this.#listsAt + places[block * 2 + 3]!)
    const lists = this.#listsFrom(from)
    let next = 0
    for (const term of terms) {
      for (; next < term; next++) lists.pass()
      lists.addTo(rows)
      next++
    }
  }

  #addFirst(number: number, rows: RowBits): boolean {
    this.#bytes.check(this.#listsAt, this.#listsAt + this.#places[1]!)
    const lists = this.#listsFrom(0)
    for (let i = 0; i < number; i++) lists.pass()
    return lists.addTo(rows) > 0
  }

  #listsFrom(at: number): RowListReader {
    return new RowListReader(this.#bytes.content, this.#listsAt + at, this.#rowCount)
  }
}
