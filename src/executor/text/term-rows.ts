/** Finds the rows of a column that have a term of full-text search, by what the column has of indexes. */
import { LRUCache } from 'lru-cache'
import { newRows } from '../../kernel/row-sets.ts'
import { findPhrase } from '../../type/find-phrase.ts'
import { foldedForSearch } from '../../type/fold-accents.ts'
import { eachText } from '../../type/text-match.ts'
import type { TextColumn, Texts } from '../../vector/column.ts'
import type { GramIndex } from '../../vector/gram-index.ts'
import { addRow } from '../../vector/row-bits.ts'
import type { TermIndex } from '../../vector/term-index.ts'
import { decodeText } from '../../vector/vector.ts'
import { blocksWithNgrams, noteMisled } from './dictionary-filters.ts'
import { type FoundRows, foundInAny, mayBe, noRow, rowsOfBitmap, withDoubt } from './found-rows.ts'
import { JsonTerm, mayBeOfNumber } from './json-search.ts'
import {
  isShortText,
  mayHold,
  rowsBeside,
  rowsOfEntries,
  rowsWithGrams,
} from './text-column-rows.ts'
import type { SoughtTerm } from './text-requirement.ts'
import { WordSearch } from './word-search.ts'

/**
 * @param content what the texts are: of JSON, the texts in it are searched
 * @param isTold whether rows have what is looked for exactly if they have all of its terms
 */
export function rowsOfTerm(
  column: TextColumn,
  content: 'text' | 'json',
  term: SoughtTerm,
  isTold: boolean,
  rowCount: number,
): FoundRows {
  if (column.encoding === 'dictionary') {
    const found = entriesWith(column.dictionary, column.grams, content, term)
    if (!found) return noRow
    return rowsOfEntries(column.codes, found, isTold, rowCount)
  }
  const { terms, grams } = column
  if (content === 'text' && !mayHold(column, term.text)) return noRow
  if (terms && !terms.isOlder) return rowsInIndex(terms, term, isTold, rowCount)
  if (grams && tellsOf(grams, term)) return rowsWithGrams(grams, term.grams, rowCount)
  if (!isShortText(column)) return mayBe(rowsOfBitmap(column.validity, rowCount))
  const found = new Uint8Array(rowCount)
  mayHave(column.texts, content, term, 0, rowCount, found)
  if (!found.includes(1)) return noRow
  const rows = newRows(rowCount)
  for (let row = found.indexOf(1); row >= 0; row = found.indexOf(1, row + 1)) addRow(rows, row)
  return { may: rows, sure: isTold && content === 'text' ? rows : 'none' }
}

function rowsInIndex(
  index: TermIndex,
  { fits, bytes, grams, isBeside }: SoughtTerm,
  isTold: boolean,
  rowCount: number,
): FoundRows {
  const rows = index.rowsAlike(fits, bytes)
  const told: FoundRows = rows ? { may: rows, sure: isTold ? rows : 'none' } : noRow
  const isMore = isBeside && index.beside !== undefined
  const found = isMore ? foundInAny([told, rowsBeside(index, index.beside, grams, rowCount)]) : told
  const { doubtfulRows } = index
  return doubtfulRows ? withDoubt(found, doubtfulRows) : found
}

function tellsOf({ isOlder, hasComposed }: GramIndex, { grams, fits }: SoughtTerm): boolean {
  return !isOlder && grams.length > 0 && !(hasComposed && fits === 'part')
}

/** A byte per entry of a dictionary: 1 where the term is; undefined: nowhere. */
function entriesWith(
  dictionary: Texts,
  grams: GramIndex | undefined,
  content: 'text' | 'json',
  term: SoughtTerm,
): Uint8Array | undefined {
  const count = dictionary.offsets.length - 1
  let found: Uint8Array | undefined
  if (grams && tellsOf(grams, term)) {
    const { blockTexts } = grams
    for (const block of blocksWithNgrams(grams, term.grams, dictionary)) {
      found ??= new Uint8Array(count)
      const from = block * blockTexts
      const to = Math.min(count, from + blockTexts)
      mayHave(dictionary, content, term, from, to, found)
      if (!found.subarray(from, to).includes(1)) noteMisled(block, blockTexts, dictionary, content)
    }
    if (!found?.includes(1)) return undefined
  } else {
    const isKept = dictionary.offsets.at(-1)! <= keptBytes
    if (isKept && !searchedText(dictionary, content).includes(term.text)) return undefined
    found = new Uint8Array(count)
    mayHave(dictionary, content, term, 0, count, found)
  }
  if (content === 'text') return found
  for (let code = found.indexOf(1); code >= 0; code = found.indexOf(1, code + 1)) {
    const isEmpty = dictionary.offsets[code] === dictionary.offsets[code + 1]
    const isAbsent =
      isEmpty ||
      eachText(decodeText(dictionary, 'json', code), (text) => {
        return findPhrase(foldedForSearch(text), [term], 0) === undefined
      })
    if (isAbsent) found[code] = 0
  }
  return found
}

/** Marks the texts `from … to` where the term may be; of texts that are no JSON, where it is. */
function mayHave(
  texts: Texts,
  content: 'text' | 'json',
  term: SoughtTerm,
  from: number,
  to: number,
  found: Uint8Array,
): void {
  const { inText, inJson } = searchesFor(term)
  const out = found.subarray(from, to)
  if (content === 'text') inText.search(texts, from, to, out)
  else if (mayBeOfNumber(term.text)) out.fill(1)
  else inJson.find(texts, 'json', from, to, out)
}

interface TermSearches {
  readonly inText: WordSearch
  readonly inJson: JsonTerm
}

const searches = new WeakMap<SoughtTerm, TermSearches>()

/** Made once for all columns of all segments. */
function searchesFor(term: SoughtTerm): TermSearches {
  let made = searches.get(term)
  if (!made) {
    made = { inText: new WordSearch([[term]]), inJson: new JsonTerm(term) }
    searches.set(term, made)
  }
  return made
}

/** Texts of small dictionaries that a thread keeps as they are searched, by what they are of. */
const keptTexts = new LRUCache<object, string>({
  maxSize: 2 ** 22,
  sizeCalculation: (text) => text.length + 64,
})
const keptBytes = 2 ** 17

/**
 * The texts of a column in which a term has to be for `rowsOfTerm` to find it, where the column is a small
 * dictionary without an index.
 */
export function cachedText(
  column: TextColumn,
  content: 'text' | 'json',
): (() => string) | undefined {
  if (column.encoding !== 'dictionary' || column.grams) return undefined
  const { dictionary } = column
  if (dictionary.offsets.at(-1)! > keptBytes) return undefined
  return () => searchedText(dictionary, content)
}

/** All texts of a dictionary, or of its JSON, as one: a term that is in none of them is not in it. */
function searchedText(dictionary: Texts, content: 'text' | 'json'): string {
  const key = dictionary.identity ?? dictionary
  const known = keptTexts.get(key)
  if (known !== undefined) return known
  const texts: string[] = []
  for (let code = 0; code < dictionary.offsets.length - 1; code++) {
    if (dictionary.offsets[code] === dictionary.offsets[code + 1]) continue
    eachText(decodeText(dictionary, content, code), (text) => {
      texts.push(text)
      return true
    })
  }
  const searched = texts.map(foldedForSearch).join('\n')
  keptTexts.set(key, searched)
  return searched
}
