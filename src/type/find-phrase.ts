/** Finds phrases in folded texts, and where they are in texts as they were written. */
import { foldedForSearch } from './fold-accents.ts'
import type { SearchPhrase, SearchTerm } from './search-query.ts'
import { isBetweenWords, isWholeSign } from './sign.ts'
import { droppedMark, isOfPart, isOfWord, wordClass } from './word-class.ts'

/** A stretch of a text, in UTF-16 units. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** The next place from `from` on where the phrase is in a folded text. */
export function findPhrase(
  folded: string,
  phrase: SearchPhrase,
  from: number,
): TextRange | undefined {
  const text = phrase[0]!.text
  const ends = attachedEnds(phrase)
  const isOfSigns = phrase.slice(0, ends[0]).every(({ fits }) => fits === 'sign')
  for (let at = folded.indexOf(text, from); at >= 0; ) {
    const to = phraseEnd(folded, phrase, ends, at)
    if (to >= 0) return { from: at, to }
    // Where the rest does not follow a sign, it follows no other one before the next word.
    const next = isOfSigns && to === restMissing ? separatorsEnd(folded, at) : at + 1
    at = folded.indexOf(text, Math.max(next, at + 1))
  }
  return undefined
}

/** Up to which term each group of terms goes that have nothing between them. */
function attachedEnds(phrase: SearchPhrase): readonly number[] {
  return phrase.flatMap((_, i) => (phrase[i + 1]?.isAttached ? [] : [i + 1]))
}

/** The first terms of a phrase are there, and not the others. */
const restMissing = -2

/** Where a phrase ends that begins at `start`; negative if it is not there. */
function phraseEnd(
  folded: string,
  phrase: SearchPhrase,
  ends: readonly number[],
  start: number,
): number {
  let end = groupEnd(folded, phrase, 0, ends[0]!, start)
  for (let i = 1; i < ends.length && end >= 0; i++) {
    const first = ends[i - 1]!
    const gapEnd = separatorsEnd(folded, end)
    end =
      phrase[first]!.fits === 'sign'
        ? endInGap(folded, phrase, first, ends[i]!, end, gapEnd)
        : groupEnd(folded, phrase, first, ends[i]!, gapEnd)
    if (end < 0) return restMissing
  }
  return end
}

/** Where terms end that begin with a sign, somewhere in a gap between words; the first such place counts. */
function endInGap(
  folded: string,
  phrase: SearchPhrase,
  first: number,
  last: number,
  from: number,
  to: number,
): number {
  const gap = folded.slice(from, to)
  const { text } = phrase[first]!
  for (let at = gap.indexOf(text); at >= 0; at = gap.indexOf(text, at + 1)) {
    const end = groupEnd(folded, phrase, first, last, from + at)
    if (end >= 0) return end
  }
  return -1
}

/** Where the terms `first … last` end, one directly after the other; -1 if they are not at `start`. */
function groupEnd(
  folded: string,
  phrase: SearchPhrase,
  first: number,
  last: number,
  start: number,
): number {
  let at = start
  for (let i = first; i < last && at >= 0; i++) {
    const term = phrase[i]!
    at = folded.startsWith(term.text, at) ? termEnd(folded, term, at) : -1
  }
  return at
}

/** Where a word ends that has the term at its place; -1 if the term does not fit there. */
function termEnd(folded: string, { text, fits }: SearchTerm, at: number): number {
  const end = at + text.length
  if (fits === 'part') return end
  if (fits === 'sign') return isWholeSign(folded, at, end) ? end : -1
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
    if (!isBetweenWords(character)) break
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

/** Characters, with halves of syllables, marks of kana, strokes of signs and joined emoji together. */
const characters =
  /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|.(?:[\u3099\u309a]|\u0338|\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})*/gsu

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
