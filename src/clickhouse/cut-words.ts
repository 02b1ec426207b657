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
  let start = -1
  let isPart = false
  const end = (at: number) => {
    if (start >= 0 && at - start <= longestWord) words.add(folded.slice(start, at))
    start = -1
  }
  for (let at = 0; at < length; ) {
    const unit = folded.charCodeAt(at)
    if (unit < 0x80) {
      if (inWord[unit] === 0) end(at)
      else {
        if (start >= 0 && isPart) end(at)
        if (start < 0) start = at
        isPart = false
      }
      at++
      continue
    }
    const codePoint = folded.codePointAt(at)!
    const found = wordClass(codePoint)
    if (!isOfWord(found)) end(at)
    else {
      if (start >= 0 && isOfPart(found) !== isPart) end(at)
      if (start < 0) start = at
      isPart = isOfPart(found)
    }
    at += codePoint > 0xffff ? 2 : 1
  }
  end(length)
}
