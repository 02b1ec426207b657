/** Arrow bitmaps: bit `i & 7` of byte `i >> 3` belongs to row `i`. */
import { isSet } from '../vector/read-column.ts'

/** Writes bits `from … from + count` as bytes. */
export function expandBits(bits: Uint8Array, from: number, count: number, out: Uint8Array): void {
  for (let i = 0; i < count; i++) {
    const at = from + i
    out[i] = (bits[at >> 3]! >> (at & 7)) & 1
  }
}

/** Whether any of the bits `from … from + count` is set. */
export function anyBit(bits: Uint8Array, from: number, count: number): boolean {
  const end = from + count
  let at = from
  for (; at < end && (at & 7) !== 0; at++) if (isSet(bits, at)) return true
  for (; at + 8 <= end; at += 8) if (bits[at >> 3] !== 0) return true
  for (; at < end; at++) if (isSet(bits, at)) return true
  return false
}
