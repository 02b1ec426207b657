/** What a character is to the words of a text (`text-match.ts`), by code point. */

/** Of no word. */
export const separator = 0
/** A letter or a number, of a script that puts something between words. */
export const wordCharacter = 1
/** One of a script that writes words without a gap: whole clauses are one word there. */
export const gaplessCharacter = 2
/** An ASCII digit. */
export const digit = 3
/** A character that this version of Unicode does not know, and a later one may. */
export const unassigned = 4

/** The classes of the 256 characters of a page, by page. */
const pages: (Uint8Array | undefined)[] = new Array(0x1100)

export function wordClass(codePoint: number): number {
  const number = codePoint >> 8
  let page = pages[number]
  if (page === undefined) {
    page = Uint8Array.from({ length: 256 }, (_, i) => classOf((number << 8) | i))
    pages[number] = page
  }
  return page[codePoint & 0xff]!
}

const gapless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u

function classOf(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (/\p{Cn}/u.test(character)) return unassigned
  if (/[0-9]/.test(character)) return digit
  if (!/[\p{L}\p{N}]/u.test(character)) return separator
  return gapless.test(character) ? gaplessCharacter : wordCharacter
}
