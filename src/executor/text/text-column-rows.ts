/** Finds the rows of a column in which a text may be, by what the column has of indexes. */
import { LRUCache } from 'lru-cache'
import { decodeUtf8 } from '../../json/utf8.ts'
import { newRows } from '../../kernel/row-sets.ts'
import { foldText } from '../../type/fold-text.ts'
import { textOf } from '../../type/text.ts'
import type { TextColumn, Texts } from '../../vector/column.ts'
import type { Codes } from '../../vector/elements.ts'
import { blocksWithGrams, type GramIndex, gramsOf } from '../../vector/gram-index.ts'
import { addRange, addRow } from '../../vector/row-bits.ts'
import type { TermIndex, TermPart } from '../../vector/term-index.ts'
import { decodeText } from '../../vector/vector.ts'
import { blocksWithNgrams, noteMisled } from './dictionary-filters.ts'
import {
  anyRow,
  type FoundRows,
  foundInAll,
  foundInAny,
  intersection,
  mayBe,
  noRow,
  rowsOfBitmap,
  union,
  withDoubt,
} from './found-rows.ts'
import type { Fragment, JsonFragment } from './text-requirement.ts'

/** What a column's texts are to the search. */
export type Content =
  /** Texts as they are. */
  | 'text'
  /** Texts that are searched as they are written in the JSON of an object. */
  | 'member'
  | 'json'

/** @param isTold whether rows have the fragment exactly if a word fits its only term */
export function rowsOfColumn(
  column: TextColumn,
  content: Content,
  fragment: Fragment | JsonFragment,
  isTold: boolean,
  rowCount: number,
): FoundRows {
  const unescaped = 'unescaped' in fragment ? fragment.unescaped : fragment
  if (column.encoding === 'dictionary') {
    return rowsOfDictionary(column, content, fragment, unescaped, isTold, rowCount)
  }
  const { terms, grams } = column
  const isPrinted = (terms ?? grams)?.isOlder && content === 'json'
  const searched = content === 'text' || isPrinted ? fragment : unescaped
  if ((terms ?? grams)?.isOlder && !fragment.isPlain) return anyRow
  if (terms) {
    const found = rowsWithTerms(terms, fragment.terms, isTold, rowCount)
    return searched === fragment ? found : unionWithEscaped(terms, searched, found, rowCount)
  }
  if (grams) {
    return searched.grams.length === 0 ? anyRow : rowsWithGrams(grams, searched.grams, rowCount)
  }
  const isShort = isShortText(column)
  const { folded } = content === 'member' ? unescaped : fragment
  if (!mayHold(column, folded)) return noRow
  if (isShort && !foldedTexts(column.texts, content).includes(folded)) return noRow
  return mayBe(rowsOfBitmap(column.validity, rowCount))
}

function rowsWithTerms(
  index: TermIndex,
  terms: readonly TermPart[],
  isTold: boolean,
  rowCount: number,
): FoundRows {
  if (terms.length === 0) return anyRow
  const found = foundInAll(
    terms.map((term) => {
      const inIndex = rowsInIndex(index, term, isTold)
      if (!index.beside || (term.relation === 'is' && !term.isBeside)) return inIndex
      return foundInAny([inIndex, rowsBeside(index, index.beside, gramsOf(term.text), rowCount)])
    }),
  )
  const { doubtfulRows } = index
  return doubtfulRows ? withDoubt(found, doubtfulRows) : found
}

function rowsInIndex(index: TermIndex, { relation, bytes }: TermPart, isTold: boolean): FoundRows {
  const rows = index.rowsWith(relation, bytes)
  return rows ? { may: rows, sure: isTold ? rows : 'none' } : noRow
}

/**
 * What was found in texts, where they are searched as JSON is printed, which writes letters in place of
 * what a word may follow, as in `\\nword`: what begins with such a letter may be there without it.
 */
function unionWithEscaped(
  index: TermIndex,
  { terms }: Fragment,
  found: FoundRows,
  rowCount: number,
): FoundRows {
  const { escapedRows } = index
  if (!escapedRows) return found
  const others = rowsWithTerms(index, terms, false, rowCount)
  return { ...found, may: union([found.may, intersection([others.may, escapedRows])]) }
}

/** Rows whose words that are left out of the index may have the term. */
export function rowsBeside(
  index: TermIndex,
  parts: GramIndex,
  grams: Int32Array,
  rowCount: number,
): FoundRows {
  const found = grams.length > 0 ? rowsWithGrams(parts, grams, rowCount) : anyRow
  if (found.may === 'none') return noRow
  const { besideRows } = index
  return besideRows ? foundInAll([found, mayBe(besideRows)]) : noRow
}

export function rowsWithGrams(index: GramIndex, grams: Int32Array, rowCount: number): FoundRows {
  const blocks = blocksWithGrams(index, grams)
  if (!blocks) return noRow
  const { blockTexts } = index
  const rows = newRows(rowCount)
  for (const block of blocks) {
    addRange(rows, block * blockTexts, Math.min(rowCount, (block + 1) * blockTexts))
  }
  return mayBe(rows)
}

function rowsOfDictionary(
  { codes, dictionary, grams }: Extract<TextColumn, { encoding: 'dictionary' }>,
  content: Content,
  fragment: Fragment,
  unescaped: Fragment,
  isTold: boolean,
  rowCount: number,
): FoundRows {
  const isPrinted = grams?.isOlder && content === 'json'
  const searched = content === 'text' || isPrinted ? fragment : unescaped
  const isIndexed = grams && searched.grams.length > 0 && (fragment.isPlain || !grams.isOlder)
  const { folded } = content === 'member' ? unescaped : fragment
  const found = new Uint8Array(dictionary.offsets.length - 1)
  const look = (from: number, to: number): void => {
    for (let code = from; code < to; code++) {
      found[code] = +foldText(printed(dictionary, content, code)).includes(fragment.folded)
    }
  }
  if (isIndexed) {
    const { blockTexts } = grams
    for (const block of blocksWithNgrams(grams, searched.grams, dictionary)) {
      const from = block * blockTexts
      const to = Math.min(found.length, from + blockTexts)
      look(from, to)
      if (grams.isOlder || found.subarray(from, to).includes(1)) continue
      noteMisled(block, blockTexts, dictionary, content === 'json' ? 'json' : 'text')
    }
  } else if (foldedTexts(dictionary, content).includes(folded)) look(0, found.length)
  return rowsOfEntries(codes, found, isTold, rowCount)
}

/** @param found a byte per entry of the dictionary: 1 for those that are looked for */
export function rowsOfEntries(
  codes: Codes,
  found: Uint8Array,
  isTold: boolean,
  rowCount: number,
): FoundRows {
  if (!found.includes(1)) return noRow
  const rows = newRows(rowCount)
  const wide = codes.between(0, rowCount)
  for (let row = 0; row < rowCount; row++) {
    const code = wide[row]!
    if (code >= 0 && found[code] === 1) addRow(rows, row)
  }
  return { may: rows, sure: isTold ? rows : 'none' }
}

/** Texts up to this long are looked through without an index. */
const keptBytes = 2 ** 19

/** Whether a text of the column may have that in it, as far as the column tells without an index. */
export function mayHold(column: TextColumn, part: string): boolean {
  return column.encoding !== 'compressed' || column.texts.mayHold?.(part) !== false
}

export function isShortText(
  column: TextColumn,
): column is Extract<TextColumn, { encoding: 'plain' }> {
  return column.encoding === 'plain' && column.texts.offsets.at(-1)! <= keptBytes
}

/** Folded texts that a thread keeps, by what they are of; the figure is in UTF-16 units. */
const keptTexts = new LRUCache<object, string>({
  maxSize: 2 ** 23,
  sizeCalculation: (text) => text.length + 64,
})

/** All the texts as one, folded: what is in none of them is not in it. */
function foldedTexts(texts: Texts, content: Content): string {
  // Members are looked for without what may be the end of an escape.
  const form = content === 'json' ? 'json' : 'text'
  const key = texts.identity ?? texts
  let folded = keptTexts.get(key)
  if (folded !== undefined) return folded
  const { bytes, offsets } = texts
  const all =
    form === 'text'
      ? decodeUtf8(bytes, offsets[0]!, offsets.at(-1)!)
      : Array.from({ length: offsets.length - 1 }, (_, at) => printed(texts, form, at)).join()
  folded = foldText(all)
  if (bytes.length <= keptBytes) keptTexts.set(key, folded)
  return folded
}

/** The text that predicates search; JSON may be written in another way than it is printed. */
function printed(texts: Texts, content: Content, at: number): string {
  if (texts.offsets[at] === texts.offsets[at + 1]) return ''
  if (content === 'json') return textOf(decodeText(texts, 'json', at))
  const text = textOf(decodeText(texts, 'text', at))
  return content === 'member' ? JSON.stringify(text) : text
}
