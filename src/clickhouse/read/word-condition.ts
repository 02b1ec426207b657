/**
 * Full-text search by the columns of words, which are those of `cut-words.ts`, and by patterns that find phrases in what a text
 * has of ASCII.
 */
import { readSearchQuery, type SearchPhrase, searchedFields } from '../../type/search-query.ts'
import { textOf } from '../../type/text.ts'
import type { Path, Value } from '../../type/value.ts'
import { longestWord } from '../cut-words.ts'
import {
  allOf,
  anyOf,
  type Bounds,
  conjunction,
  decided,
  disjunction,
  negation,
  never,
  unproven,
} from './bounds.ts'
import type { CompiledValue } from './compiled-value.ts'
import { type JsonText, jsonOf } from './json-text.ts'
import { isNumeric, jsonPhrase, type PhraseText, textPhrase } from './phrase-pattern.ts'
import { textLiteral } from './sql-text.ts'

export interface WordBounds {
  readonly whereTrue: Bounds
  /** What indexes tell of whatever has the words. */
  readonly isNear: string
  /** Whether what is open is so of single rows. */
  readonly isTold: boolean
}

/**
 * @param operand what is searched; undefined where only the body tells
 * @param path that of the field, if it is one
 */
export function wordBounds(
  operand: CompiledValue | undefined,
  path: Path | undefined,
  query: Value,
): WordBounds {
  const phrases = readSearchQuery(textOf(query))
  if (phrases.length === 0) return { whereTrue: never, isNear: '0', isTold: true }
  const column = path && wordColumn(path)
  const isThere = operand ? negation(operand.isNull) : '1'
  const listed = column ? listsWords(column, phrases.flatMap(wordsOf)) : '1'
  const narrowed = decided(conjunction([isThere, listed]))
  const isNear = listed
  const found = operand && phrases.map((phrase) => phraseBounds(phrase, { operand, path, column }))
  if (!found) return { whereTrue: allOf([narrowed, unproven]), isNear, isTold: false }
  return {
    isNear,
    whereTrue: allOf([narrowed, ...found.map(({ bounds }) => bounds)]),
    isTold: found.every(({ isTold }) => isTold),
  }
}

interface Searched {
  readonly operand: CompiledValue
  readonly path: Path | undefined
  readonly column: WordColumn | undefined
}

interface PhraseBounds {
  readonly bounds: Bounds
  readonly isTold: boolean
}

/** Where a value that is there has the phrase. */
function phraseBounds(phrase: SearchPhrase, { operand, path, column }: Searched): PhraseBounds {
  const text = operand.typed.string
  const isText = text === undefined ? '0' : `isNotNull(${text})`
  // An own column has all words of the value, names among them.
  const word = column?.isOwn && isWord(phrase) ? listsWords(column, [phrase[0]!.text]) : undefined
  const ofText = word ?? (text && textPhrase(phrase, text))
  // What is stored may be an array or an object; what is known as a time or so is not searched as it is written.
  const json = path && operand.hidden.length > 0 ? jsonOf(path) : undefined
  const ofJson = json && jsonFound(phrase, json, isNumeric(phrase) ? undefined : word)
  const hasOther = operand.hidden.length > 0 || Object.keys(operand.typed).some(isOther)
  const others = hasOther ? decided(negation(isText)) : never
  return {
    bounds: anyOf([allOf([decided(isText), boundsOf(ofText)]), allOf([others, boundsOf(ofJson)])]),
    isTold: text !== undefined || json ? isKnownIf(text, ofText) && isKnownIf(json, ofJson) : false,
  }
}

function isOther(kind: string): boolean {
  return kind !== 'string'
}

type Found = string | PhraseText | undefined

/** Whether something finds the phrase in what there is. */
function isKnownIf(searched: unknown, found: Found): boolean {
  if (searched === undefined) return true
  return typeof found === 'string' || found?.isFound !== undefined
}

/** @param found a test that decides; or what finds the phrase in some texts, and which it leaves open */
function boundsOf(found: Found): Bounds {
  if (found === undefined) return unproven
  if (typeof found === 'string') return decided(found)
  const isFound = found.isFound ?? '0'
  return { sure: isFound, may: disjunction([isFound, found.isOpen]) }
}

/** @param word tells whether the JSON has the phrase, which is a word */
function jsonFound(
  phrase: SearchPhrase,
  { sql, isMissing, repeatsNames }: JsonText,
  word: string | undefined,
): PhraseText {
  const found = word === undefined ? jsonPhrase(phrase, sql) : { isFound: word, isOpen: '0' }
  const { isFound, isOpen } = found
  if (isFound === undefined) return { isFound, isOpen: disjunction([isMissing, isOpen]) }
  return {
    isFound: conjunction([isFound, negation(repeatsNames)]),
    isOpen: disjunction([repeatsNames === '0' ? '0' : isFound, isMissing, isOpen]),
  }
}

interface WordColumn {
  readonly name: string
  /** Whether it has the words of this field alone. */
  readonly isOwn: boolean
}

function wordColumn(path: Path): WordColumn | undefined {
  const [field] = path
  if (typeof field !== 'string' || !(searchedFields as readonly string[]).includes(field)) {
    return undefined
  }
  const isOwn = path.length === 1
  if (field === 'input' || field === 'output') return { name: `${field}_words`, isOwn }
  return { name: 'other_words', isOwn: false }
}

function listsWords({ name }: WordColumn, words: readonly string[]): string {
  const literals = words.map((word) => textLiteral(word)!)
  return literals.length === 0 ? '1' : `hasAllTokens(${name}, [${literals.join(', ')}])`
}

/** Whether the phrase is a word that is listed wherever it is. */
function isWord(phrase: SearchPhrase): boolean {
  return phrase.length === 1 && phrase[0]!.fits === 'word' && isListed(phrase[0]!.text)
}

/** Words that are listed of whatever has the phrase. Numbers are searched as they are printed, and listed as they were written. */
function wordsOf(phrase: SearchPhrase): string[] {
  return phrase.flatMap((term) => {
    return term.fits === 'word' && isListed(term.text) && !isNumeric([term]) ? [term.text] : []
  })
}

function isListed(word: string): boolean {
  return word.length <= longestWord && textLiteral(word) !== undefined
}
