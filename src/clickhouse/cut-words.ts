/**
 * Words of a text as full-text search folds and cuts them. What scripts without gaps have between signs is one word. A
 * word of more than `longestWord` characters is not listed.
 */
import { foldedForSearch } from '../type/fold-accents.ts'
import { isOfPart, isOfWord, wordClass } from '../type/word-class.ts'

export const longestWord = 128

const inWord = Uint8Array.from({ length: 0x80 }, (_, code) => (isOfWord(wordClass(code)) ? 1 : 0))

/** Adds the different words of the text. */
export function cutWords(text: string, words: Set<string>): void {
  const folded = foldedForSearch(text)
  const { length } = folded
  for (let at = 0; at < length; ) {
    const start = at
    at = endOfWord(folded, start)
    if (at === start) at += folded.codePointAt(at)! > 0xffff ? 2 : 1
    else if (at - start <= longestWord) words.add(folded.slice(start, at))
  }
}

/** Where the word that begins at `start` ends; `start` if none does. */
function endOfWord(folded: string, start: number): number {
  const { length } = folded
  let at = start
  // Most words are of these letters alone.
  while (at < length && isAsciiOfWord(folded.charCodeAt(at))) at++
  if (at === length || folded.charCodeAt(at) < 0x80) return at
  let isPart = at > start ? false : undefined
  while (at < length) {
    const codePoint = folded.codePointAt(at)!
    const found = wordClass(codePoint)
    if (!isOfWord(found)) return at
    isPart ??= isOfPart(found)
    if (isOfPart(found) !== isPart) return at
    at += codePoint > 0xffff ? 2 : 1
  }
  return at
}

function isAsciiOfWord(unit: number): boolean {
  return unit < 0x80 && inWord[unit] === 1
}
