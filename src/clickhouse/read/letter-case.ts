/** What is known of the case of letters, so that nodes tell texts that differ in it as they are told here. */

/**
 * Ranges of code points: letters of Europe and Vietnam, and characters that have no case. Not among them: a dotted capital I,
 * whose lower case is two characters, and a capital sigma, whose lower case depends on what follows.
 */
export const plainCase: readonly (readonly [first: number, last: number])[] = [
  [0, 0x12f],
  [0x131, 0x3a2],
  [0x3a4, 0x52f],
  // Hebrew, Arabic, the scripts of India, Thai, Tibetan, and others up to that of Burma, none of which has case.
  [0x590, 0x109f],
  // Parts of Korean syllables, and Ethiopian.
  [0x1100, 0x139f],
  // Vietnamese.
  [0x1e00, 0x1eff],
  // Punctuation, currency, arrows, figures.
  [0x2000, 0x20ff],
  [0x2190, 0x23ff],
  [0x2500, 0x2bff],
  // Chinese, Japanese, Korean.
  [0x3000, 0x9fff],
  [0xac00, 0xd7a3],
  // Emoji, and how they are drawn.
  [0xfe00, 0xfe0f],
  [0x1f300, 0x1faff],
]

const caseless = /^(?!.*\u0307)\P{Cased}*$/su

/**
 * Whether a text is found in the lower case of another one just where it is found in that one: its characters have no case, and
 * are not within the lower case of others, as the dot is within that of a dotted capital I.
 */
export function isCaseless(text: string): boolean {
  return caseless.test(text)
}

/** A pattern, as a literal, of texts that have no others. */
export const plainCaseTexts = `'^[${plainCase.map(([first, last]) => `${escaped(first)}-${escaped(last)}`).join('')}]*$'`

function escaped(codePoint: number): string {
  return `\\\\x{${codePoint.toString(16)}}`
}
