/**
 * How well values fit a full-text search: BM25, but for how rare a word is, which only all records together
 * would tell. So it depends on nothing but the values, and is the same wherever and whenever it is asked.
 */
import { findPhrase } from '../type/find-phrase.ts'
import { foldedForSearch } from '../type/fold-accents.ts'
import { readSearchQuery, type SearchPhrase } from '../type/search-query.ts'
import { textOf } from '../type/text.ts'
import { eachText } from '../type/text-match.ts'
import type { Value } from '../type/value.ts'

/** The second occurrence adds less than the first, and the tenth hardly anything. */
const saturation = 1.2
/** How much of an occurrence's weight depends on how long the value is. */
const lengthShare = 0.75
/** Characters of a value in which an occurrence counts as it is. */
const usualLength = 1000

/** The sum over the values, and over what the query asks for; null if the query is. */
export function relevanceOf(values: readonly Value[], query: Value): number | null {
  if (query === null) return null
  const phrases = readSearchQuery(textOf(query))
  return values.reduce<number>((sum, value) => sum + relevanceIn(value, phrases), 0)
}

/** Of one value; 0 where nothing of the phrases is in it, and for null. */
export function relevanceIn(value: Value, phrases: readonly SearchPhrase[]): number {
  if (value === null) return 0
  const counts = phrases.map(() => 0)
  let length = 0
  eachText(value, (text) => {
    length += text.length
    const folded = foldedForSearch(text)
    for (const [i, phrase] of phrases.entries()) {
      let next = findPhrase(folded, phrase, 0)
      for (; next; next = findPhrase(folded, phrase, next.to)) counts[i]!++
    }
    return true
  })
  const damping = saturation * (1 - lengthShare + (lengthShare * length) / usualLength)
  return counts.reduce((total, count) => total + (count * (saturation + 1)) / (count + damping), 0)
}
