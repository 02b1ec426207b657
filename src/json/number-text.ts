/** Whether a double says as much as the text of a number. */

/** Programs write doubles with no more digits than these. */
const mostDigits = 17

/**
 * Whether nothing is lost when a number with a point or an exponent is kept as the double that is nearest to it. It is
 * where the text has no more digits than a double is ever written with: what wrote it had a double.
 */
export function isDouble(text: string, value: number): boolean {
  if (!Number.isFinite(value)) return false
  // The usual way to be sure without counting.
  const first = text.startsWith('-') ? 1 : 0
  const signs = first + (text.startsWith('0.', first) ? 2 : 0)
  if (text.length - signs <= mostDigits) return true
  const { digits, point } = partsOf(text)
  if (digits.length <= mostDigits) return true
  const shortest = partsOf(String(value))
  return digits === shortest.digits && point === shortest.point
}

/** The digits that count, and where the point is among them. */
function partsOf(text: string): { readonly digits: string; readonly point: number } {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const all = whole + fraction
  const first = Math.max(0, all.search(/[1-9]/))
  return {
    digits: all.slice(first).replace(/0+$/, ''),
    point: whole.length - first + Number(exponent),
  }
}
