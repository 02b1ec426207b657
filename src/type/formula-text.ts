/**
 * Texts that a spreadsheet would take for formulas, as it takes a cell of CSV that begins with =, +, - or @, or with a tab
 * or an end of a line before them: with an apostrophe in front they are texts to it, too.
 */

/** Those that have apostrophes in front already get one more, so that taking one away gives back each text. */
const formula = /^'*[=+\-@\t\r\n]/
const escapedFormula = /^'+[=+\-@\t\r\n]/

/** Bytes with which such a text may begin. */
export const formulaStarts: ReadonlySet<number> = new Set(
  [..."'=+-@\t\r\n"].map((character) => character.charCodeAt(0)),
)

export function escapeFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

/** What `escapeFormula` was given. */
export function unescapeFormula(text: string): string {
  return escapedFormula.test(text) ? text.slice(1) : text
}
