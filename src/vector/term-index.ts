/**
 * An index of words: for each word (`type/search-query.ts`) of the texts in lower case, the rows that have
 * it. Words with accents are found by what full-text search folds them to as well.
 *
 * Words that hardly ever occur twice are left out, since each would take more room in the index than in
 * the text: those that are long, that are half numbers, or that are clauses of a script without gaps.
 * Their rows are known, and a `GramIndex` has the parts of them, and of nothing else.
 */
import { foldAccents } from '../type/fold-accents.ts'
import type { WordFit } from '../type/search-query.ts'
import { digit, gaplessCharacter, isOfPart, isOfWord, wordClass } from '../type/word-class.ts'
import type { GramIndex } from './gram-index.ts'
import type { RowSet } from './row-set.ts'

/** What a word has to do with a text that is looked for. */
export type TermRelation = 'is' | 'begins with' | 'ends with' | 'has'

/** Sets of rows that it gives are never changed; undefined: no row. */
export interface TermIndex {
  /** Rows that have a word that is in the index, and that is, or has, the text. */
  rowsWith(relation: TermRelation, text: Buffer): RowSet | undefined
  /** Rows that have a word in the index that fits a term of full-text search, whatever its accents. */
  rowsAlike(fits: WordFit, text: Buffer): RowSet | undefined
  /** Rows that have a word that is not in the index. */
  readonly besideRows: RowSet | undefined
  /** The parts of those words, folded for full-text search; undefined when there are none. */
  readonly beside: GramIndex | undefined
  /** Rows whose words are not as they are in the index, or may not be. */
  readonly doubtfulRows: RowSet | undefined
  /** Rows whose text JSON writes with letters in place of some characters, as in `\\nword`. */
  readonly escapedRows: RowSet | undefined
  /**
   * Of an older version: words were cut in another way where they are not of ASCII, accents tell them
   * apart, and those of JSON are as it is printed.
   */
  readonly isOlder: boolean
}

const longestTerm = 32
const longestWithDigits = 8
/** Shorter words are all in the index. */
export const shortestBeside = longestWithDigits
/** Four of nearly all characters of these scripts. */
const longestGapless = 12

/** Whether a word is left out of the index; of one that is not of ASCII, so must be what it folds to. */
export function isBeside(byteLength: number, hasDigits: boolean, isGapless: boolean): boolean {
  return byteLength > (hasDigits ? longestWithDigits : isGapless ? longestGapless : longestTerm)
}

/** Whether a word that full-text search folds to the text may be left out of the index. */
export function mayBeBeside(folded: string): boolean {
  const classes = Array.from(folded, (character) => wordClass(character.codePointAt(0)!))
  return isBeside(
    Buffer.byteLength(folded),
    classes.includes(digit),
    classes.includes(gaplessCharacter),
  )
}

/** A word, or what a text that is looked for has of one. */
export interface TermPart {
  readonly relation: TermRelation
  readonly text: string
  readonly bytes: Buffer
  /** Whether a word that is exactly that may be left out of the index. */
  readonly isBeside: boolean
}

/**
 * Cuts folded text into words.
 *
 * @param isOpen whether what stands before and after the text may belong to its words
 * @param beginsOpen the same of what stands before it
 */
export function termPartsOf(folded: string, isOpen: boolean, beginsOpen = isOpen): TermPart[] {
  const parts: TermPart[] = []
  let text = ''
  let start = 0
  let at = 0
  let wasPart = false
  const end = (isLast: boolean): void => {
    if (text !== '') {
      const opensStart = beginsOpen && start === 0
      const endsOpen = isOpen && isLast
      const relation = opensStart
        ? endsOpen
          ? 'has'
          : 'ends with'
        : endsOpen
          ? 'begins with'
          : 'is'
      const isBeside = mayBeBeside(foldAccents(text))
      parts.push({ relation, text, bytes: Buffer.from(text), isBeside })
    }
    text = ''
    start = at
  }
  for (const character of folded) {
    const found = wordClass(character.codePointAt(0)!)
    const isWord = isOfWord(found)
    if (!isWord || (text !== '' && isOfPart(found) !== wasPart)) end(false)
    if (isWord) {
      text += character
      wasPart = isOfPart(found)
    } else start = at + 1
    at++
  }
  end(true)
  return parts
}
