/** Compares UTF-8 texts that lie end to end. */
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
