/**
 * An index of words: for each word (`type/text-match.ts`) of the folded texts, the rows that have it.
 *
 * Words that hardly ever occur twice are left out, since each would take more room in the index than in
 * the text: those that are long, that are half numbers, or that are clauses of a script without gaps.
 * Their rows are known, and a `GramIndex` has the parts of them, and of nothing else.
 */
import { digit, gaplessCharacter, separator, unassigned, wordClass } from '../type/word-class.ts'
import type { GramIndex } from './gram-index.ts'
import type { RowBits } from './row-bits.ts'

/** What a word has to do with a text that is looked for. */
export type TermRelation = 'is' | 'begins with' | 'ends with' | 'has'

export interface TermIndex {
  /** Adds the rows that have a word that is in the index, and that is, or has, the text; false: there are none. */
  addRows(relation: TermRelation, text: Buffer, rows: RowBits): boolean
  /** Adds rows that have a word that is not in the index; like the others, it says if there are any. */
  addRowsBeside(rows: RowBits): boolean
  /** The parts of those words; undefined when there are none. */
  readonly beside: GramIndex | undefined
  /** Adds rows whose words are not as they are in the index, or may not be. */
  addDoubtful(rows: RowBits): boolean
  /** Adds rows whose text JSON writes with letters in place of some characters, as in `\\nword`. */
  addEscaped(rows: RowBits): boolean
}

const longestTerm = 32
const longestWithDigits = 8
/** Shorter words are all in the index. */
export const shortestBeside = longestWithDigits
/** Four of nearly all characters of these scripts. */
const longestGapless = 12

/** Whether a word is left out of the index. */
export function isBeside(byteLength: number, hasDigits: boolean, isGapless: boolean): boolean {
  return byteLength > (hasDigits ? longestWithDigits : isGapless ? longestGapless : longestTerm)
}

/** A word, or what a text that is looked for has of one. */
export interface TermPart {
  readonly relation: TermRelation
  readonly text: string
  readonly bytes: Buffer
  /** Whether a word that is exactly that is left out of the index. */
  readonly isBeside: boolean
}

/**
 * Cuts folded text into words.
 *
 * @param isOpen whether what stands before and after the text may belong to its words
 */
export function termPartsOf(folded: string, isOpen: boolean): TermPart[] {
  const parts: TermPart[] = []
  let text = ''
  let start = 0
  let at = 0
  let hasDigits = false
  let isGapless = false
  const end = (isLast: boolean): void => {
    if (text !== '') {
      const bytes = Buffer.from(text)
      const beginsOpen = isOpen && start === 0
      const relation = beginsOpen
        ? isOpen && isLast
          ? 'has'
          : 'ends with'
        : isOpen && isLast
          ? 'begins with'
          : 'is'
      parts.push({
        relation,
        text,
        bytes,
        isBeside: isBeside(bytes.length, hasDigits, isGapless),
      })
    }
    text = ''
    hasDigits = false
    isGapless = false
  }
  for (const character of folded) {
    const found = wordClass(character.codePointAt(0)!)
    if (found === separator || found === unassigned) {
      end(false)
      start = at + 1
    } else {
      text += character
      hasDigits ||= found === digit
      isGapless ||= found === gaplessCharacter
    }
    at++
  }
  end(true)
  return parts
}
