/** Selects rows by whether a field is null in them. */

import { maximumRows, newBytes, newCodes } from '../../kernel/arena.ts'
import { expandBits } from '../../kernel/bitmap.ts'
import { keepEither, keepOthers } from '../../kernel/mask.ts'
import { selectTrue, selectTrueWithin } from '../../kernel/select.ts'
import { countSet } from '../../vector/read-column.ts'
import type { Presence } from '../expression/batch.ts'

/**
 * Writes the rows that are in the bitmaps, or those that are not, to `out`; returns how many there are.
 * Where few are, that takes a look at each eighth row; where many are, kernels look at all.
 */
export function selectPresent(
  presence: Presence,
  isPresent: boolean,
  rowCount: number,
  out: Int32Array,
): number {
  if (rowCount > maximumRows || !areMany(presence, isPresent, rowCount)) {
    return selectBits(presence, isPresent, rowCount, out)
  }
  return selectTrue(truthsOf(presence, isPresent, rowCount), rowCount, out)
}

/** One byte per row, 1 where it is to be selected. */
export function truthsOf(presence: Presence, isPresent: boolean, rowCount: number): Uint8Array {
  const truths = newBytes(rowCount)
  maskPresent(presence, isPresent, rowCount, truths)
  return truths
}

/** Writes 1 for rows that are in the bitmaps, or that are not, else 0. */
export function maskPresent(
  { bitmaps, first }: Presence,
  isPresent: boolean,
  rowCount: number,
  out: Uint8Array,
): void {
  const [leading, ...others] = bitmaps
  if (leading) expandBits(leading, first, rowCount, out)
  else out.fill(0)
  if (others.length > 0) {
    const bits = newBytes(rowCount)
    for (const bitmap of others) {
      expandBits(bitmap, first, rowCount, bits)
      keepEither(out, bits, rowCount)
    }
  }
  if (!isPresent) keepOthers(out, rowCount)
}

/** How many rows are in the bitmaps, or are not. */
export function countPresent(presence: Presence, isPresent: boolean, rowCount: number): number {
  const bitmaps = wordsOf(presence, rowCount)
  if (!bitmaps) return selectBits(presence, isPresent, rowCount, newCodes(rowCount))
  let present = 0
  for (let row = 0; row < rowCount; row += 32) {
    let word = 0
    for (let i = 0; i < bitmaps.length; i++) word |= bitmaps[i]![row >> 5]!
    if (rowCount - row < 32) word &= (1 << (rowCount - row)) - 1
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    present += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return isPresent ? present : rowCount - present
}

/** Bytes of each bitmap that tell how many rows are likely to be selected. */
const sampledBytes = 64

/** Of so many rows one that is selected makes them many. */
const manyOf = 12

function areMany({ bitmaps, first }: Presence, isPresent: boolean, rowCount: number): boolean {
  if (rowCount < sampledBytes * 8) return false
  const from = first >> 3
  let present = 0
  for (const bitmap of bitmaps) present += countSet(bitmap.subarray(from, from + sampledBytes))
  const selected = isPresent ? present : sampledBytes * 8 - present
  return selected * manyOf > sampledBytes * 8
}

function selectBits(
  presence: Presence,
  isPresent: boolean,
  rowCount: number,
  out: Int32Array,
): number {
  const words = wordsOf(presence, rowCount)
  if (words) return selectWords(words, isPresent, rowCount, out)
  const { bitmaps, first } = presence
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

/** The bitmaps in steps of 32 rows; undefined where they do not lie so. */
function wordsOf({ bitmaps, first }: Presence, rowCount: number): Int32Array[] | undefined {
  if ((first & 31) !== 0) return undefined
  const count = (rowCount + 31) >> 5
  const words: Int32Array[] = []
  for (const { buffer, byteOffset, length } of bitmaps) {
    const start = byteOffset + (first >> 3)
    if ((start & 3) !== 0 || (first >> 3) + count * 4 > length) return undefined
    words.push(new Int32Array(buffer, start, count))
  }
  return words
}

function selectWords(
  bitmaps: readonly Int32Array[],
  isPresent: boolean,
  rowCount: number,
  out: Int32Array,
): number {
  const turned = isPresent ? 0 : -1
  let count = 0
  for (let row = 0; row < rowCount; row += 32) {
    let word = 0
    for (let i = 0; i < bitmaps.length; i++) word |= bitmaps[i]![row >> 5]!
    word ^= turned
    if (rowCount - row < 32) word &= (1 << (rowCount - row)) - 1
    for (; word !== 0; word &= word - 1) out[count++] = row + 31 - Math.clz32(word & -word)
  }
  return count
}

/** Of so many rows one that is looked at is enough for the bits of all to be made bytes. */
const expandedOf = 8

/** The same for the rows of a selection, which `out` may be. */
export function selectPresentWithin(
  presence: Presence,
  isPresent: boolean,
  selection: Int32Array,
  out: Int32Array,
): number {
  const end = (selection.at(-1) ?? -1) + 1
  if (end <= maximumRows && selection.length * expandedOf > end) {
    return selectTrueWithin(truthsOf(presence, isPresent, end), selection, out)
  }
  const { bitmaps, first } = presence
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
