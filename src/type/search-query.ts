/**
 * What full-text search looks for, as `match` and `search` take it: words, "phrases in quotes" and
 * beginnings*. Of scripts without gaps any part is found.
 */
import { foldAccents } from './fold-accents.ts'
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

/** A word of a phrase, folded. */
export interface SearchTerm {
  readonly text: string
  /** `word`: all of a word; `start`: how a word begins; `part`: anywhere, of scripts without gaps. */
  readonly fits: 'word' | 'start' | 'part'
}

/** Terms that follow each other, with nothing but signs and blanks between them. Mostly one. */
export type SearchPhrase = readonly SearchTerm[]

const kept = new Map<string, readonly SearchPhrase[]>()
const mostKept = 64

/** The phrases that must all occur; none if the text has no letter and no digit. */
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
  for (const [, quoted, curled, plain] of query.matchAll(/"([^"]*)"|“([^”]*)”|([^"“]+|["“])/gu)) {
    const stretches = plain === undefined ? [quoted ?? curled ?? ''] : stretchesOf(plain)
    for (const stretch of stretches) {
      const phrase = termsOf(stretch)
      if (phrase.length > 0) phrases.set(JSON.stringify(phrase), phrase)
    }
  }
  return [...phrases.values()]
}

/** Cuts a text where nothing of a word stands, but not before the star that a beginning ends with. */
function stretchesOf(text: string): string[] {
  const stretches: string[] = []
  let stretch = ''
  for (const character of text) {
    const isWord = isOfWord(wordClass(character.codePointAt(0)!))
    if (isWord || (character === '*' && stretch !== '')) stretch += character
    if (!isWord && stretch !== '') {
      stretches.push(stretch)
      stretch = ''
    }
  }
  if (stretch !== '') stretches.push(stretch)
  return stretches
}

function termsOf(text: string): SearchTerm[] {
  const folded = foldAccents(composed(text))
  return cutWords(folded).map(({ from, to, isPart }) => ({
    text: folded.slice(from, to),
    fits: isPart ? 'part' : folded[to] === '*' ? 'start' : 'word',
  }))
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

/** With syllables of Korean and kana in one character each, which may be written in several. */
export function composed(text: string): string {
  return /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3099\u309a]/u.test(text)
    ? text.normalize('NFC')
    : text
}
