/** Full-text search by whole words. */
import { textOf } from './text.ts'
import type { Value } from './value.ts'

const wordPattern = /[\p{L}\p{N}]+/gu

/** The words of a text: its runs of letters and digits, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(wordPattern) ?? []
}

/** Whether every word of `query` is a word of the value's text, whatever its case. */
export function matchWords(value: Value, query: Value): boolean | null {
  if (value === null || query === null) return null
  const wanted = wordsOf(textOf(query))
  if (wanted.length === 0) return true
  const words = new Set(wordsOf(textOf(value)))
  return wanted.every((word) => words.has(word))
}
