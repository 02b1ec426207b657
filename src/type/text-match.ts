/** Full-text search of single values. */
import { findPhrase } from './find-phrase.ts'
import { foldedForSearch } from './fold-accents.ts'
import { readSearchQuery, type SearchPhrase } from './search-query.ts'
import { textOf } from './text.ts'
import { isObject, type Value } from './value.ts'

/**
 * Whether all that the query asks for occurs in the value: each phrase within one of its texts. A query that
 * asks for nothing is found nowhere.
 */
export function matchWords(value: Value, query: Value): boolean | null {
  if (value === null || query === null) return null
  const missing = new Set(readSearchQuery(textOf(query)))
  if (missing.size === 0) return false
  eachText(value, (text) => takeFound(text, missing))
  return missing.size === 0
}

function takeFound(text: string, missing: Set<SearchPhrase>): boolean {
  const folded = foldedForSearch(text)
  for (const phrase of missing) {
    if (findPhrase(folded, phrase, 0)) missing.delete(phrase)
  }
  return missing.size > 0
}

/**
 * Visits the texts of a value until a visit returns false: a string, or what is printed of a number or time;
 * of arrays and objects those of all that is in them, and names.
 */
export function eachText(value: Value, visit: (text: string) => boolean): boolean {
  if (Array.isArray(value))
    return (value as readonly Value[]).every((item) => eachText(item, visit))
  if (!isObject(value)) return visit(textOf(value))
  return Object.entries(value).every(([name, member]) => visit(name) && eachText(member, visit))
}
