/** Parts of texts: a character of two UTF-16 units is not parted, so half of it is found only where it is alone. */

/** Where a part is in a text, from a place on; -1 if it is not there. */
export function indexOfPart(text: string, part: string, from = 0): number {
  let at = text.indexOf(part, from)
  while (at >= 0 && (isWithin(text, at) || isWithin(text, at + part.length))) {
    at = text.indexOf(part, at + 1)
  }
  return at
}

export function hasPart(text: string, part: string): boolean {
  return indexOfPart(text, part) >= 0
}

/** Whether a place of a text lies between the two units of a character. */
export function isWithin(text: string, at: number): boolean {
  return at > 0 && text.charCodeAt(at) >> 10 === 0x37 && text.charCodeAt(at - 1) >> 10 === 0x36
}
