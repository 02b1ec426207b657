/** Selects rows by whether a field is null in them. */
import type { Presence } from './batch.ts'

/**
 * Writes the rows that are in the bitmaps, or those that are not, to `out`; returns how many there are.
 * Where few are, that takes a look at each eighth row.
 */
export function selectPresent(
  { bitmaps, first }: Presence,
  isPresent: boolean,
  rowCount: number,
  out: Int32Array,
): number {
  const turned = isPresent ? 0 : 0xff
  const shift = first & 7
  const firstByte = first >> 3
  const end = rowCount + shift
  let count = 0
  for (let bit = 0; bit < end; bit += 8) {
    const at = firstByte + (bit >> 3)
    let byte = 0
    for (let i = 0; i < bitmaps.length; i++) byte |= bitmaps[i]![at]!
    byte ^= turned
    if (bit === 0) byte &= 0xff << shift
    if (end - bit < 8) byte &= 0xff >> (8 - (end - bit))
    for (; byte !== 0; byte &= byte - 1) out[count++] = bit - shift + 31 - Math.clz32(byte & -byte)
  }
  return count
}

/** The same for the rows of a selection, which `out` may be. */
export function selectPresentWithin(
  { bitmaps, first }: Presence,
  isPresent: boolean,
  selection: Int32Array,
  out: Int32Array,
): number {
  const wanted = isPresent ? 1 : 0
  let count = 0
  for (let i = 0; i < selection.length; i++) {
    const row = selection[i]!
    const bit = first + row
    let present = 0
    for (let j = 0; j < bitmaps.length; j++) present |= (bitmaps[j]![bit >> 3]! >> (bit & 7)) & 1
    out[count] = row
    count += +(present === wanted)
  }
  return count
}
