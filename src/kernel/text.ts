/** Searches in UTF-8 texts that lie end to end. */
import type { Texts } from '../vector/column.ts'

/** `out[i] = 1` where text `first + i` is exactly `needle`, else 0. */
export function textEquals(
  { bytes, offsets }: Texts,
  first: number,
  count: number,
  needle: Uint8Array,
  out: Uint8Array,
): void {
  const length = needle.length
  for (let i = 0; i < count; i++) {
    const start = offsets[first + i]!
    if (offsets[first + i + 1]! - start !== length) {
      out[i] = 0
      continue
    }
    let at = 0
    while (at < length && bytes[start + at] === needle[at]) at++
    out[i] = at === length ? 1 : 0
  }
}

/**
 * `out[i] = 1` where text `first + i` contains `needle`, else 0. One native search runs over all the
 * texts at once, and resumes at the next text after each hit.
 */
export function textContains(
  { bytes, offsets }: Texts,
  first: number,
  count: number,
  needle: Buffer,
  out: Uint8Array,
): void {
  out.fill(0, 0, count)
  if (needle.length === 0) {
    out.fill(1, 0, count)
    return
  }
  const end = offsets[first + count]!
  const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, end)
  let row = 0
  let from = offsets[first]!
  while (row < count) {
    const hit = haystack.indexOf(needle, from)
    if (hit < 0) return
    while (offsets[first + row + 1]! <= hit) row++
    if (hit + needle.length <= offsets[first + row + 1]!) {
      out[row] = 1
      from = offsets[first + row + 1]!
      row++
    } else {
      // The hit runs over the text's end: it is none, and another may begin within it.
      from = hit + 1
    }
  }
}

/** Copies bytes with ASCII capitals in lower case; returns whether all bytes were ASCII. */
export function lowerAscii(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): boolean {
  let seen = 0
  for (let i = start, at = 0; i < end; i++, at++) {
    const byte = bytes[i]!
    seen |= byte
    out[at] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
  }
  return seen < 0x80
}
