/**
 * Whether a text has characters beyond ASCII that full-text search takes for letters of ASCII, or for
 * nothing: only then may a word of ASCII be in it that its bytes do not show. Most characters of most
 * scripts are neither, and are told in a small part of the time that folding them takes.
 */
import { foldAccent } from '../../type/fold-accents.ts'

const [no, yes, unknown] = [0, 1, 2]

/** By code point; those beyond are rare, and are taken for such as may. */
const known = new Uint8Array(0x20000).fill(unknown)

export function mayFoldToAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    const first = bytes[at]!
    if (first < 0x80) {
      at++
      continue
    }
    let codePoint = 0
    if (first < 0xe0) {
      codePoint = ((first & 0x1f) << 6) | (bytes[at + 1]! & 0x3f)
      at += 2
    } else if (first < 0xf0) {
      codePoint = ((first & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f)
      at += 3
    } else {
      const high = ((first & 0x07) << 18) | ((bytes[at + 1]! & 0x3f) << 12)
      codePoint = high | ((bytes[at + 2]! & 0x3f) << 6) | (bytes[at + 3]! & 0x3f)
      at += 4
      if (codePoint >= known.length) return true
    }
    const found = known[codePoint]!
    if (found === yes || (found === unknown && learn(codePoint) === yes)) return true
  }
  return false
}

function learn(codePoint: number): number {
  const folded = foldAccent(codePoint)
  const found = folded === '' || /\p{ASCII}/u.test(folded) ? yes : no
  known[codePoint] = found
  return found
}
