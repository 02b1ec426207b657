/**
 * What is found in JSON as it is printed wherever it is in JSON as it was written: texts between quotes are the same in both,
 * and so are `true` and `false`. Names of objects are sorted, and numbers are printed in their shortest form.
 */

/** Where a part of printed JSON stands: within such a token, in a number perhaps, or across what has another order. */
export type JsonPlace = 'token' | 'number' | 'any'

/** @param part without quotes and backslashes */
export function placeInJson(part: string): JsonPlace {
  if (/["\\]/.test(part)) return 'any'
  if (isOfTexts(part)) return 'token'
  // Numbers beyond all doubles are printed as null.
  if (isOfWord(part)) return 'null'.includes(part) ? 'number' : 'token'
  return /^[-+.\deE]+$/.test(part) ? 'number' : 'any'
}

/** Without quotes, what has one character of a text is within that text. */
function isOfTexts(part: string): boolean {
  if (/[^-+.\d{}[\]:,a-zE]/.test(part)) return true
  const runs = part.match(/[a-zE]+/g) ?? []
  if (runs.some((run) => run !== 'e' && run !== 'E' && !isOfWord(run))) return true
  return /^[-+.\deE]+$/.test(part) && !/^(?:-?\d*\.?\d*(?:[eE][-+]?\d*)?|[-+]?\d*)$/.test(part)
}

function isOfWord(part: string): boolean {
  return part !== 'e' && ['true', 'false', 'null'].some((word) => word.includes(part))
}

/** Parts of a text that are found as they are, if it is: those between what is escaped. */
export function unescapedParts(text: string): string[] {
  return text.split(/["\\\u2028\u2029]+/).filter((part) => part !== '')
}

/** Whether what nodes escape in another way may seem to have the beginning of it. */
export function mayBeginInEscape(part: string): boolean {
  return /^[\da-fu]/i.test(part)
}
