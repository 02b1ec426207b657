/** Reads an index of words in place; its bytes are those that `term-writer.ts` says. */
import { assert } from '../../error.ts'
import { RowListReader } from '../../kernel/row-lists.ts'
import { makeToKeep, RowSetBuilder } from '../../kernel/row-sets.ts'
import { ByteSearch } from '../../kernel/text.ts'
import type { WordFit } from '../../type/search-query.ts'
import { type GramIndex, gramBytes } from '../../vector/gram-index.ts'
import { FewRows, type RowSet } from '../../vector/row-set.ts'
import { countBelow } from '../../vector/sorted-integers.ts'
import type { TermIndex, TermRelation } from '../../vector/term-index.ts'
import type { CheckedBytes } from './checked-pages.ts'
import { type FindNext, Stretches } from './stretches.ts'
import {
  directoryBytes,
  headOf,
  space,
  type TermShape,
  tab,
  termBytesOf,
  termsOfBlock,
} from './term-writer.ts'

/** Bytes of which nearly all aliases, with their numbers, have fewer. */
const usualAlias = 64

const gap = Buffer.from([space])
const aliasEnd = Buffer.from([tab])

/** What is searched for of a text among words, or aliases, and what is around them. */
const forms = {
  part: (text: Buffer) => text,
  ending: (text: Buffer) => Buffer.concat([text, gap]),
  beginning: (text: Buffer) => Buffer.concat([gap, text]),
  alias: (text: Buffer) => Buffer.concat([gap, text, aliasEnd]),
}

/** By the text: a query looks for the same ones in all segments. */
const searches = new WeakMap<Buffer, Map<keyof typeof forms, ByteSearch>>()

function searchFor(form: keyof typeof forms, text: Buffer): ByteSearch {
  const ofText = searches.get(text) ?? new Map<keyof typeof forms, ByteSearch>()
  searches.set(text, ofText)
  const search = ofText.get(form) ?? new ByteSearch(forms[form](text), false)
  ofText.set(form, search)
  return search
}

interface Directory {
  /** Of each block where its words are, and where the list of the first. */
  readonly places: Int32Array
  /** None in older indexes. */
  readonly heads: Uint32Array
}

export class TermReader implements TermIndex {
  readonly beside: GramIndex | undefined
  readonly isOlder: boolean
  readonly #bytes: CheckedBytes
  readonly #blockCount: number
  readonly #wordsAt: number
  readonly #aliasesAt: number
  readonly #listsAt: number
  readonly #rowCount: number
  readonly #hasHeads: boolean
  readonly #wordSearch: RepeatedSearch
  readonly #aliasSearch: RepeatedSearch
  /** By the number of the list. */
  readonly #rare = new Map<number, RowSet | undefined>()
  readonly #keeps: ((byteLength: number) => void) | undefined
  #opened: Directory | undefined

  /** @param keeps is told of bytes that it keeps besides those that are given; undefined: it keeps none */
  constructor(
    bytes: CheckedBytes,
    shape: TermShape & { readonly isOlder?: boolean },
    beside: GramIndex | undefined,
    rowCount: number,
    keeps?: (byteLength: number) => void,
  ) {
    assert(bytes.byteLength === termBytesOf(shape), 'an index of words has the size of its shape')
    this.#bytes = bytes
    this.#blockCount = Math.ceil(shape.termCount / termsOfBlock)
    this.#wordsAt = directoryBytes(shape)
    this.#aliasesAt = this.#wordsAt + shape.wordBytes
    this.#listsAt = this.#aliasesAt + (shape.aliasBytes ?? 0)
    this.#rowCount = rowCount
    this.#hasHeads = shape.hasHeads ?? false
    this.#wordSearch = new RepeatedSearch(bytes, this.#wordsAt, this.#aliasesAt, keeps)
    this.#aliasSearch = new RepeatedSearch(bytes, this.#aliasesAt, this.#listsAt, keeps)
    this.beside = beside
    this.#keeps = keeps
    this.isOlder = shape.isOlder ?? false
  }

  /** Read when it is needed: most queries open the column for its texts. */
  get #directory(): Directory {
    this.#opened ??= this.#openDirectory()
    return this.#opened
  }

  #openDirectory(): Directory {
    const { buffer, byteOffset, byteLength } = this.#bytes.whole(0, this.#wordsAt)
    this.#keeps?.(byteLength)
    const integers = (this.#blockCount + 1) * 2
    return {
      places: new Int32Array(buffer, byteOffset, integers),
      heads: new Uint32Array(buffer, byteOffset + integers * 4, byteLength / 4 - integers),
    }
  }

  rowsWith(relation: TermRelation, text: Buffer): RowSet | undefined {
    const found = new RowSetBuilder(this.#rowCount)
    switch (relation) {
      case 'is':
        this.#addEqual(text, found)
        break
      case 'begins with':
        this.#addBeginning(text, found)
        break
      case 'ends with':
        this.#addFound(searchFor('ending', text), found)
        break
      case 'has':
        this.#addFound(searchFor('part', text), found)
    }
    return found.finish()
  }

  rowsAlike(fits: WordFit, text: Buffer): RowSet | undefined {
    const found = new RowSetBuilder(this.#rowCount)
    switch (fits) {
      case 'word':
        this.#addEqual(text, found)
        this.#addAliases(searchFor('alias', text), found)
        break
      case 'start':
        this.#addBeginning(text, found)
        this.#addAliases(searchFor('beginning', text), found)
        break
      case 'part':
        this.#addFound(searchFor('part', text), found)
        this.#addAliases(searchFor('part', text), found)
    }
    return found.finish()
  }

  get besideRows(): RowSet | undefined {
    return this.#rareRows(0)
  }

  get doubtfulRows(): RowSet | undefined {
    return this.#rareRows(1)
  }

  get escapedRows(): RowSet | undefined {
    return this.#rareRows(2)
  }

  #addEqual(text: Buffer, found: RowSetBuilder): void {
    const block = this.#blockOf(text)
    if (block < 0) return
    const words = this.#wordsOf(block)
    for (let at = 0, term = 0; at < words.length - 1; term++) {
      const order = compare(text, words, at)
      if (order === 0) this.#addRowsOf(block, [term], found)
      if (order <= 0) return
      // Words are short: to find where one ends natively takes longer than to compare it.
      at++
      while (at < words.length && words[at] !== space) at++
    }
  }

  /** Adds the rows of words that begin with the text: they follow each other. */
  #addBeginning(text: Buffer, found: RowSetBuilder): void {
    let isBeyond = false
    for (let block = Math.max(0, this.#blockOf(text)); block < this.#blockCount; block++) {
      const words = this.#wordsOf(block)
      const terms: number[] = []
      for (let at = 0, term = 0; at < words.length - 1 && !isBeyond; term++) {
        const order = compareBeginning(text, words, at)
        if (order === 0) terms.push(term)
        isBeyond = order < 0
        at = words.indexOf(space, at + 1)
      }
      if (terms.length > 0) this.#addRowsOf(block, terms, found)
      if (isBeyond) return
    }
  }

  /** Adds the rows of words in which something occurs, or that end with it. */
  #addFound(search: ByteSearch, found: RowSetBuilder): void {
    const find = this.#wordSearch.find(search)
    const { places } = this.#directory
    // Reading a list ends the search.
    const hits: { readonly block: number; readonly terms: number[] }[] = []
    let block = 0
    let hit = find(0)
    while (hit >= 0) {
      while (places[block * 2 + 2]! <= hit) block++
      // The words of this block that have it: a search begins again where a word ends.
      const [start, end] = [places[block * 2]!, places[block * 2 + 2]!]
      const words = this.#wordsOf(block)
      const terms: number[] = []
      let term = -1
      let at = 0
      while (hit >= 0 && hit < end) {
        for (; at < hit - start; at++) if (words[at] === space) term++
        terms.push(term)
        hit = find(start + words.indexOf(space, at))
      }
      hits.push({ block, terms })
    }
    for (const each of hits) this.#addRowsOf(each.block, each.terms, found)
  }

  /** Adds the rows of words whose aliases have what is searched for, but for their numbers. */
  #addAliases(search: ByteSearch, found: RowSetBuilder): void {
    if (this.#aliasesAt === this.#listsAt) return
    const find = this.#aliasSearch.find(search)
    const terms: number[] = []
    for (let hit = find(0); hit >= 0; ) {
      const { term, end } = this.#aliasAt(hit)
      terms.push(term)
      hit = find(end)
    }
    for (const term of terms) {
      this.#addRowsOf(Math.floor(term / termsOfBlock), [term % termsOfBlock], found)
    }
  }

  /** The number of the word of the alias that has the byte `hit`, and where the alias ends. */
  #aliasAt(hit: number): { readonly term: number; readonly end: number } {
    const length = this.#listsAt - this.#aliasesAt
    for (let taken = usualAlias; ; taken *= 2) {
      const last = Math.min(length, hit + taken)
      const aliases = this.#bytes.view(this.#aliasesAt + hit, this.#aliasesAt + last)
      const from = aliases.indexOf(tab) + 1
      const to = from > 0 ? aliases.indexOf(space, from) : -1
      if (to < 0 && last < length) continue
      const digits = Buffer.from(aliases.subarray(from, to)).toString('latin1')
      return { term: Number.parseInt(digits, 16), end: hit + to }
    }
  }

  /** The block whose words may be a text, or -1 if it comes before all words. */
  #blockOf(text: Buffer): number {
    const { places } = this.#directory
    let [low, high] = this.#blocksLike(text)
    while (low < high) {
      const middle = (low + high) >> 1
      const at = this.#wordsAt + places[middle * 2]!
      // A space before the word, and one behind it.
      const word = this.#bytes.view(at, Math.min(this.#aliasesAt, at + text.length + 2))
      if (compare(text, word, 0) < 0) high = middle
      else low = middle + 1
    }
    return low - 1
  }

  /** Blocks of whose first words the heads do not tell whether they come before a text: from the one, up to the other. */
  #blocksLike(text: Buffer): [number, number] {
    if (!this.#hasHeads) return [0, this.#blockCount]
    const { heads } = this.#directory
    const head = headOf(text, 0, text.length)
    const from = countBelow(heads, head)
    return [from, from + countBelow(heads, head + 1, from)]
  }

  /** The words of a block, each behind a space, and a space. */
  #wordsOf(block: number): Uint8Array {
    const { places } = this.#directory
    return this.#bytes.view(
      this.#wordsAt + places[block * 2]!,
      this.#wordsAt + places[block * 2 + 2]! + 1,
    )
  }

  /** @param terms of the block, ascending */
  #addRowsOf(block: number, terms: readonly number[], found: RowSetBuilder): void {
    const { places } = this.#directory
    const lists = this.#lists(places[block * 2 + 1]!)
    let next = 0
    for (const term of terms) {
      for (; next < term; next++) lists.pass()
      lists.addTo(found)
      next++
    }
  }

  #rareRows(number: number): RowSet | undefined {
    if (this.#rare.has(number)) return this.#rare.get(number)
    const lists = this.#lists(0)
    for (let i = 0; i < number; i++) lists.pass()
    const found = new RowSetBuilder(this.#rowCount)
    const rows = makeToKeep(() => {
      lists.addTo(found)
      return found.finish()
    })
    this.#rare.set(number, rows)
    if (rows) this.#keeps?.((rows instanceof FewRows ? rows.rows : rows).byteLength)
    return rows
  }

  /** A reader of the lists from a place on. */
  #lists(from: number): RowListReader {
    return new RowListReader(this.#bytes, this.#listsAt + from, this.#rowCount, !this.#hasHeads)
  }
}

/** Compares a text with the word behind the space at `at`. */
function compare(text: Buffer, words: Uint8Array, at: number): number {
  return compareBeginning(text, words, at) || (words[at + 1 + text.length] === space ? 0 : -1)
}

/** Compares it with as many bytes of the word. */
function compareBeginning(text: Buffer, words: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i++) {
    // The space that ends a word comes before all letters.
    const difference = text[i]! - words[at + 1 + i]!
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * A search in some of an index's bytes, of which an index is made in memory when they are searched a second time:
 * then it reads the pages of the stretches that may have what is searched for, and these stay. All of the bytes are
 * kept only for what is too short for that. Ninety segments' words would leave no room for what else is kept of them.
 */
class RepeatedSearch {
  readonly #bytes: CheckedBytes
  readonly #from: number
  readonly #to: number
  readonly #keeps: ((byteLength: number) => void) | undefined
  #all: Uint8Array | undefined
  #stretches: Stretches | undefined
  #wasSearched = false

  /** @param keeps undefined: nothing is kept */
  constructor(
    bytes: CheckedBytes,
    from: number,
    to: number,
    keeps: ((byteLength: number) => void) | undefined,
  ) {
    this.#bytes = bytes
    this.#from = from
    this.#to = to
    this.#keeps = keeps
  }

  /** Gives places counted from the first of the bytes. */
  find(search: ByteSearch): FindNext {
    if (search.needle.length < gramBytes) {
      const all = this.#all ?? this.#whole()
      if (this.#keeps && !this.#all) {
        this.#all = all
        this.#keeps(all.length)
      }
      return search.in(all)
    }
    if (this.#wasSearched && !this.#stretches && this.#keeps) {
      const read = (from: number, to: number) =>
        this.#bytes.view(this.#from + from, this.#from + to)
      this.#stretches = new Stretches(this.#whole(), read)
      this.#keeps(this.#stretches.byteLength)
    }
    this.#wasSearched = true
    return this.#stretches?.find(search) ?? search.in(this.#whole())
  }

  #whole(): Uint8Array {
    return this.#bytes.whole(this.#from, this.#to)
  }
}
