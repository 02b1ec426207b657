/** Arrow bitmaps: bit `i & 7` of byte `i >> 3` belongs to row `i`. */
import { isSet } from '../vector/read-column.ts'
import {
  beginKernel,
  inChunks,
  kernels,
  maximumRows,
  place,
  placeOutput,
  takeOutput,
} from './arena.ts'

/** Writes bits `from … from + count` as bytes. */
export function expandBits(bits: Uint8Array, from: number, count: number, out: Uint8Array): void {
  if (count > maximumRows) {
    inChunks(count, (start, end) => {
      expandBits(bits, from + start, end - start, out.subarray(start, end))
    })
    return
  }
  beginKernel()
  const used = bits.subarray(from >> 3, (from + count + 7) >> 3)
  const at = placeOutput(out, count)
  kernels.expandBits(place(used, used.length), from & 7, count, at)
  takeOutput(out, count, at)
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
