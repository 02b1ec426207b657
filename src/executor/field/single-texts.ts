/**
 * The texts of lists that have one each, as `span_parents` mostly are, without reading the lists as
 * JSON: that took ten times as long.
 */
import type { Texts } from '../../vector/column.ts'

const [quote, backslash, opening, closing] = [0x22, 0x5c, 0x5b, 0x5d]

/** What stands around the text of such a list. */
const [head, tail] = [2, 2]

/**
 * The texts in the lists from the one at `first` on, one for each place of `valid`, empty where that is
 * 0; undefined unless each list is one text without escapes.
 */
export function singleTexts(
  { bytes, offsets }: Texts,
  first: number,
  valid: Uint8Array,
): Texts | undefined {
  const count = valid.length
  let length = 0
  for (let i = 0; i < count; i++) {
    if (valid[i] === 0) continue
    const [start, end] = [offsets[first + i]!, offsets[first + i + 1]!]
    if (!isSingleText(bytes, start, end)) return undefined
    length += end - start - head - tail
  }
  const found = Buffer.allocUnsafe(length)
  const ends = new Int32Array(count + 1)
  let at = 0
  for (let i = 0; i < count; i++) {
    if (valid[i] === 1) {
      const end = offsets[first + i + 1]! - tail
      for (let from = offsets[first + i]! + head; from < end; from++) found[at++] = bytes[from]!
    }
    ends[i + 1] = at
  }
  return { bytes: found, offsets: ends }
}

function isSingleText(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < head + tail) return false
  if (bytes[start] !== opening || bytes[start + 1] !== quote) return false
  if (bytes[end - 1] !== closing || bytes[end - 2] !== quote) return false
  for (let i = start + head; i < end - tail; i++) {
    if (bytes[i] === quote || bytes[i] === backslash) return false
  }
  return true
}
