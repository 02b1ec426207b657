/** Full-text search by the columns of words, which are those of `cut-words.ts`. */
import { readSearchQuery, type SearchPhrase, searchedFields } from '../../type/search-query.ts'
import { textOf } from '../../type/text.ts'
import type { Path, Value } from '../../type/value.ts'
import { longestWord } from '../cut-words.ts'
import { type Bounds, conjunction, disjunction, never, unproven } from './bounds.ts'
import type { CompiledValue } from './compiled-value.ts'
import { textLiteral } from './sql-text.ts'

export interface WordBounds {
  readonly whereTrue: Bounds
  readonly doubts: readonly string[]
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
  if (phrases.length === 0) return { whereTrue: never, doubts: [] }
  const column = path && wordColumn(path)
  const words = phrases.flatMap(wordsOf)
  if (column === undefined) return { whereTrue: unproven, doubts: [] }
  const literals = words.map((word) => textLiteral(word)!)
  const test =
    literals.length === 0 ? '1' : `hasAllTokens(${column.name}, [${literals.join(', ')}])`
  const whole = column.isOwn && phrases.every(isWord) && words.length === phrases.length
  // Of what is no text, the JSON's words are listed: those of all of its names, and true, false and null, too.
  const text = operand?.typed.string
  const sure = whole && text ? conjunction([`isNotNull(${text})`, test]) : '0'
  const doubts = whole ? [`(${column.field}_kind = 'unknown')`] : []
  return { whereTrue: { sure, may: disjunction([sure, test]) }, doubts }
}

interface WordColumn {
  readonly name: string
  readonly field: string
  /** Whether it has the words of this field alone. */
  readonly isOwn: boolean
}

function wordColumn(path: Path): WordColumn | undefined {
  const [field] = path
  if (typeof field !== 'string' || !(searchedFields as readonly string[]).includes(field)) {
    return undefined
  }
  const isOwn = path.length === 1
  if (field === 'input' || field === 'output') return { name: `${field}_words`, field, isOwn }
  return { name: 'other_words', field, isOwn: false }
}

function isWord(phrase: SearchPhrase): boolean {
  return phrase.length === 1 && phrase[0]!.fits === 'word'
}

/** Words that are listed of whatever has the phrase. */
function wordsOf(phrase: SearchPhrase): string[] {
  return phrase.flatMap(({ text, fits }) => {
    const isListed = fits === 'word' && text.length <= longestWord && !isOfNumbers(text)
    return isListed && textLiteral(text) !== undefined ? [text] : []
  })
}

/** Numbers are searched as they are printed, and listed as they were written. */
function isOfNumbers(word: string): boolean {
  return /^(?:[\de]+|null)$/.test(word)
}
