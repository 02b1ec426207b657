/**
 * A folding of case that goes character by character: `foldText(a + b)` is `foldText(a) + foldText(b)`,
 * and a text and its lower case fold alike. So whatever LIKE, ILIKE or full-text search finds in a
 * text is, folded, a part of the folded text.
 *
 * It is the lower case but for sigma, whose lower case depends on what follows: σ at its end too.
 */

const finalSigma = 0x3c2
const sigma = 0x3c3

/** The one character whose lower case is two: `i` and a combining dot above. */
export const dottedCapitalI = 0x130

export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** What the 256 characters of a page fold to, by page; null: each to itself. */
const pages: (Int32Array | null | undefined)[] = new Array(0x1100)

/** The folding of one character, which must not be `dottedCapitalI`. */
export function foldCodePoint(codePoint: number): number {
  const number = codePoint >> 8
  let page = pages[number]
  if (page === undefined) {
    page = makePage(number)
    pages[number] = page
  }
  return page === null ? codePoint : page[codePoint & 0xff]!
}

function makePage(number: number): Int32Array | null {
  const page = new Int32Array(256)
  let changes = false
  for (let i = 0; i < 256; i++) {
    const codePoint = (number << 8) | i
    const lower = String.fromCodePoint(codePoint).toLowerCase().codePointAt(0)!
    page[i] = lower === finalSigma ? sigma : lower
    changes ||= page[i] !== codePoint
  }
  return changes ? page : null
}
