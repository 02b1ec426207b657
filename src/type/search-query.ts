/**
 * What full-text search looks for, as `match` and `search` take it: words, signs, "phrases in quotes" and
 * beginnings*. Of scripts without gaps any part is found.
 */
import { foldedForSearch } from './fold-accents.ts'
import { isBlank, signsIn } from './sign.ts'
import { isOfPart, isOfWord, wordClass } from './word-class.ts'

/** What `search` looks into. */
export const searchedFields = [
  'input',
  'output',
  'expected',
  'error',
  'metadata',
  'span_attributes',
  'tags',
] as const

/** `word`: all of a word; `start`: how a word begins; `part`: anywhere, of scripts without gaps. */
export type WordFit = 'word' | 'start' | 'part'

/** A word of a phrase, folded, or signs. */
export interface SearchTerm {
  readonly text: string
  /** `sign`: anywhere, but as no part of another sign that is seen as one, as a flag is. */
  readonly fits: WordFit | 'sign'
  /** Whether nothing may be between it and the term before: one of them is a sign. */
  readonly isAttached: boolean
}

/** Terms that follow each other, with nothing but signs and blanks between them. Mostly one. */
export type SearchPhrase = readonly SearchTerm[]

const kept = new Map<string, readonly SearchPhrase[]>()
const mostKept = 64

/** The phrases that must all occur; none if the text names no word and no sign. */
export function readSearchQuery(query: string): readonly SearchPhrase[] {
  let phrases = kept.get(query)
  if (!phrases) {
    phrases = readAnew(query)
    if (kept.size >= mostKept) kept.clear()
    kept.set(query, phrases)
  }
  return phrases
}

function readAnew(query: string): readonly SearchPhrase[] {
  const phrases = new Map<string, SearchPhrase>()
  for (const part of query.matchAll(/"([^"]*)"|“([^”]*)”|([^"“]+|["“])/gu)) {
    const [, quoted, curled, plain] = part
    const folded = foldedForSearch(plain ?? quoted ?? curled ?? '')
    const places = placesIn(folded, plain === undefined || part.index === 0)
    for (const stretch of plain === undefined ? [places] : stretchesOf(places)) {
      const phrase = stretch.map((place, i) =>
        termAt(folded, place, stretch[i - 1], stretch[i + 1]),
      )
      if (phrase.length > 0) phrases.set(JSON.stringify(phrase), phrase)
    }
  }
  return [...phrases.values()]
}

/** Words, and signs that are looked for, in the order of a folded text. */
interface TermPlace {
  readonly from: number
  readonly to: number
  readonly is: 'word' | 'part' | 'sign'
}

/** @param isFirst whether nothing but a blank may stand before the text */
function placesIn(folded: string, isFirst: boolean): TermPlace[] {
  const places: TermPlace[] = []
  let at = 0
  const takeSigns = (to: number): void => {
    for (const run of runsIn(folded, at, to)) {
      const sides = {
        isFirst: run.from === 0 ? isFirst : run.from > at,
        followsWord: at > 0 && run.from === at,
        precedesWord: to < folded.length && run.to === to,
      }
      for (const { from, to: end } of signsIn(folded.slice(run.from, run.to), sides)) {
        places.push({ from: run.from + from, to: run.from + end, is: 'sign' })
      }
    }
  }
  // A joiner that folding leaves is between emoji.
  for (const { from, to, isPart } of cutWords(folded.replaceAll('\u200d', ' '))) {
    takeSigns(from)
    places.push({ from, to, is: isPart ? 'part' : 'word' })
    at = to
  }
  takeSigns(folded.length)
  return places
}

/** What blanks part in a stretch of a text that has no words. */
function runsIn(text: string, start: number, end: number): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = []
  let from = -1
  for (let at = start; at < end; ) {
    const character = String.fromCodePoint(text.codePointAt(at)!)
    if (isBlank(character)) {
      if (from >= 0) runs.push({ from, to: at })
      from = -1
    } else if (from < 0) from = at
    at += character.length
  }
  if (from >= 0) runs.push({ from, to: end })
  return runs
}

/** What is not quoted is a phrase as far as its terms touch each other. */
function stretchesOf(places: readonly TermPlace[]): TermPlace[][] {
  const stretches: TermPlace[][] = []
  for (const place of places) {
    const last = stretches.at(-1)
    if (last?.at(-1)?.to === place.from) last.push(place)
    else stretches.push([place])
  }
  return stretches
}

function termAt(
  folded: string,
  { from, to, is }: TermPlace,
  before: TermPlace | undefined,
  after: TermPlace | undefined,
): SearchTerm {
  const isStart = is === 'word' && folded[to] === '*' && after?.from !== to
  return {
    text: folded.slice(from, to),
    fits: isStart ? 'start' : is,
    isAttached: before?.to === from && (is === 'sign' || before.is === 'sign'),
  }
}

/** A word of a text: a run of letters, digits and marks that are searched alike. */
export interface WordPlace {
  readonly from: number
  readonly to: number
  readonly isPart: boolean
}

export function cutWords(text: string): WordPlace[] {
  const words: WordPlace[] = []
  let from = -1
  let wasPart = false
  let at = 0
  for (const character of text) {
    const found = wordClass(character.codePointAt(0)!)
    const isPart = isOfPart(found)
    const isWord = isOfWord(found)
    if (from >= 0 && (!isWord || isPart !== wasPart)) {
      words.push({ from, to: at, isPart: wasPart })
      from = -1
    }
    if (isWord && from < 0) {
      from = at
      wasPart = isPart
    }
    at += character.length
  }
  if (from >= 0) words.push({ from, to: at, isPart: wasPart })
  return words
}
