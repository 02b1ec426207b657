/** What a character is to the words of a text (`search-query.ts`), by code point. */
import { foldAccent, isPartwise } from './fold-accents.ts'

/** Of no word. */
export const separator = 0
/** A letter, a number or a mark, of a script that puts something between words. */
export const wordCharacter = 1
/** One of a script that writes words without a gap: whole clauses are one word there. */
export const gaplessCharacter = 2
/** An ASCII digit. */
export const digit = 3
/**
 * A character that this version of Unicode does not know, and a later one may; or one that makes another
 * of the character before it. Of no word, and whoever wants to be sure looks at the text.
 */
export const doubtful = 4
/** One of Korean, which is searched by any part though it has gaps. */
export const syllable = 5
/** A mark that folding leaves out. */
export const droppedMark = 6

/** The classes of the 256 characters of a page, by page. */
const pages: (Uint8Array | undefined)[] = new Array(0x1100)

export function wordClass(codePoint: number): number {
  const number = codePoint >> 8
  let page = pages[number]
  if (page === undefined) {
    page = Uint8Array.from({ length: 256 }, (_, i) => classOf((number << 8) | i))
    pages[number] = page
  }
  return page[codePoint & 0xff]!
}

/** Whether a character of the class is a part of words. */
export function isOfWord(found: number): boolean {
  return found !== separator && found !== doubtful
}

/** Whether words of the class are found by any part of them; others only as wholes. */
export function isOfPart(found: number): boolean {
  return found === gaplessCharacter || found === syllable
}

/** Halves of Korean syllables, and the marks that voice a kana. */
const composing = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3099\u309a]/u

function classOf(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (/\p{Cn}/u.test(character) || composing.test(character)) return doubtful
  if (/[0-9]/.test(character)) return digit
  const folded = foldAccent(codePoint)
  if (folded === '') return droppedMark
  if (!/[\p{L}\p{N}\p{M}]/u.test(character)) return separator
  if (!isPartwise(String.fromCodePoint(folded.codePointAt(0)!))) return wordCharacter
  return /\p{Script=Hangul}/u.test(character) ? syllable : gaplessCharacter
}
