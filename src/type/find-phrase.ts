/** Finds phrases in folded texts, and where they are in texts as they were written. */
import { foldAccents } from './fold-accents.ts'
import { composed, type SearchPhrase, type SearchTerm } from './search-query.ts'
import { droppedMark, isOfPart, isOfWord, wordClass } from './word-class.ts'

/** A stretch of a text, in UTF-16 units. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** A text as phrases are looked for in it. */
export function foldedForSearch(text: string): string {
  return foldAccents(composed(text))
}

/** The next place from `from` on where the phrase is in a folded text. */
export function findPhrase(
  folded: string,
  phrase: SearchPhrase,
  from: number,
): TextRange | undefined {
  const [first] = phrase
  for (let at = folded.indexOf(first!.text, from); at >= 0; ) {
    const to = phraseEnd(folded, phrase, at)
    if (to >= 0) return { from: at, to }
    at = folded.indexOf(first!.text, at + 1)
  }
  return undefined
}

/** Where a phrase ends that begins at `at`, or -1. */
function phraseEnd(folded: string, phrase: SearchPhrase, start: number): number {
  let at = start
  for (const [i, term] of phrase.entries()) {
    if (i > 0) {
      at = separatorsEnd(folded, at)
      if (!folded.startsWith(term.text, at)) return -1
    }
    at = termEnd(folded, term, at)
    if (at < 0) return -1
  }
  return at
}

/** Where a word ends that has the term at its place; -1 if the term does not fit there. */
function termEnd(folded: string, { text, fits }: SearchTerm, at: number): number {
  const end = at + text.length
  if (fits === 'part') return end
  if (at > 0 && isOfWholeWord(codePointBefore(folded, at))) return -1
  if (fits === 'word')
    return end < folded.length && isOfWholeWord(codePoint(folded, end)) ? -1 : end
  let wordEnd = end
  while (wordEnd < folded.length && isOfWholeWord(codePoint(folded, wordEnd))) {
    wordEnd += codePoint(folded, wordEnd) > 0xffff ? 2 : 1
  }
  return wordEnd
}

function separatorsEnd(folded: string, from: number): number {
  let at = from
  while (at < folded.length) {
    const character = codePoint(folded, at)
    if (isOfWord(wordClass(character))) break
    at += character > 0xffff ? 2 : 1
  }
  return at
}

function isOfWholeWord(character: number): boolean {
  const found = wordClass(character)
  return isOfWord(found) && !isOfPart(found)
}

function codePoint(text: string, at: number): number {
  return text.codePointAt(at)!
}

function codePointBefore(text: string, at: number): number {
  const isPair =
    at > 1 && text.charCodeAt(at - 1) >> 10 === 0x37 && text.charCodeAt(at - 2) >> 10 === 0x36
  return text.codePointAt(isPair ? at - 2 : at - 1)!
}

/**
 * Where any of the phrases are in a text: in order, and apart from each other. For marking them, on the
 * page and by the server alike.
 *
 * @param limit no more ranges than these
 */
export function findRanges(
  text: string,
  phrases: readonly SearchPhrase[],
  limit = Number.POSITIVE_INFINITY,
): TextRange[] {
  const { folded, startOf, endOf } = foldedWithPlaces(text)
  const found: TextRange[] = []
  for (const phrase of phrases) {
    let count = 0
    for (let next = findPhrase(folded, phrase, 0); next && count < limit; count++) {
      found.push({ from: startOf(next.from), to: marksEnd(text, endOf(next.to - 1)) })
      next = findPhrase(folded, phrase, next.to)
    }
  }
  return merged(found).slice(0, limit)
}

/**
 * Where a part of a text is, in any case, as ILIKE takes it. For marking.
 *
 * @param limit no more ranges than these
 */
export function findParts(
  text: string,
  part: string,
  limit = Number.POSITIVE_INFINITY,
): TextRange[] {
  const found: TextRange[] = []
  if (part === '') return found
  const pattern = new RegExp(part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu')
  for (const { 0: hit, index } of text.matchAll(pattern)) {
    if (found.length === limit) break
    found.push({ from: index, to: index + hit.length })
  }
  return found
}

interface FoldedText {
  readonly folded: string
  /** Where in the text the character stands that a unit of `folded` came from. */
  startOf(unit: number): number
  endOf(unit: number): number
}

/** Characters, with halves of syllables and marks of kana together. */
const characters = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|.[\u3099\u309a]*/gsu

function foldedWithPlaces(text: string): FoldedText {
  // ASCII folds unit by unit.
  if (/^\p{ASCII}*$/u.test(text)) {
    return { folded: text.toLowerCase(), startOf: (unit) => unit, endOf: (unit) => unit + 1 }
  }
  const starts: number[] = []
  const ends: number[] = []
  let folded = ''
  for (const { 0: written, index } of text.matchAll(characters)) {
    const letters = foldedForSearch(written)
    folded += letters
    for (let i = 0; i < letters.length; i++) {
      starts.push(index)
      ends.push(index + written.length)
    }
  }
  return { folded, startOf: (unit) => starts[unit]!, endOf: (unit) => ends[unit]! }
}

/** Marks that folding leaves out belong to the character before them. */
function marksEnd(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const character = codePoint(text, at)
    if (wordClass(character) !== droppedMark) break
    at += character > 0xffff ? 2 : 1
  }
  return at
}

function merged(ranges: readonly TextRange[]): TextRange[] {
  const result: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}
