/** Masks (`mask.ts`), and counts, of whole numbers as columns store them, which are not widened for that. */
import type { StoredIntegers } from '../vector/elements.ts'
import { beginKernel, kernels, newBytes, placeOutput, placeTable, takeOutput } from './arena.ts'
import type { NumberRange } from './compare.ts'
import { keepEither, smallTable } from './mask.ts'
import { type NarrowNumbers, placeIntegers, stagedRows, stageIntegers, widthOf } from './widen.ts'

const within = {
  1: kernels.maskWithin8,
  2: kernels.maskWithin16,
  4: kernels.maskWithin32,
} as const

const counted = {
  1: kernels.countWithin8,
  2: kernels.countWithin16,
  4: kernels.countWithin32,
} as const

/** In all of these but where it is told otherwise, there are at most `maximumRows`: one for each element. */

/** The integers that stand for the numbers of a range. They are found once for all batches that are stored alike. */
export class IntegerRange {
  readonly #range: NumberRange
  #width = 0
  #base = 0
  #divisor = 0
  /** The first of them. */
  first = 0
  /** That after the last. */
  end = 0
  /** The greatest that rows have, with either sign. */
  most = 0

  constructor(range: NumberRange) {
    this.#range = range
  }

  /** Makes it that of a column. */
  find({ integers, base, divisor }: StoredIntegers): void {
    const width = integers.BYTES_PER_ELEMENT
    if (width === this.#width && base === this.#base && divisor === this.#divisor) return
    const { low, high } = this.#range
    const most = 2 ** (width * 8 - 1) - 1
    const numberOf = (integer: number): number => (integer + base) / divisor
    this.first = firstFrom(-most, most, (integer) => numberOf(integer) >= low)
    this.end = firstFrom(-most, most, (integer) => !(numberOf(integer) <= high))
    this.most = most
    this.#width = width
    this.#base = base
    this.#divisor = divisor
  }
}

/** Those whose number is in the range, which null never is. */
export function maskStored(stored: StoredIntegers, range: IntegerRange, out: Uint8Array): void {
  range.find(stored)
  const { first, end } = range
  if (first < end) maskIntegers(stored.integers, first, end - 1, out)
  else out.fill(0, 0, stored.integers.length)
}

/** How many those are, of any number of rows. */
export function countStored(stored: StoredIntegers, range: IntegerRange): number {
  range.find(stored)
  const { integers } = stored
  const { first, end } = range
  if (first >= end) return 0
  const countOf = counted[widthOf(integers)]
  const { length } = integers
  const step = stagedRows(integers)
  let count = 0
  for (let from = 0; from < length; from += step) {
    const to = Math.min(length, from + step)
    beginKernel()
    count += countOf(stageIntegers(integers, from, to), first, end - 1, to - from)
  }
  return count
}

/** Those whose number is not in the range, which is that of one number; null is in neither. */
export function maskStoredOther(
  stored: StoredIntegers,
  range: IntegerRange,
  out: Uint8Array,
): void {
  const { integers } = stored
  range.find(stored)
  const { first, end, most } = range
  if (first >= end) {
    maskIntegers(integers, -most, most, out)
    return
  }
  const count = integers.length
  if (first > -most) maskIntegers(integers, -most, first - 1, out)
  else out.fill(0, 0, count)
  if (end > most) return
  const above = newBytes(count)
  maskIntegers(integers, end, most, above)
  keepEither(out, above, count)
}

/** The least from `least` to `most` for which something holds, as it does for all above; else `most + 1`. */
function firstFrom(least: number, most: number, holds: (integer: number) => boolean): number {
  let low = least
  let high = most + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Those from `low` to `high`, both included; of codes, -1 is null. */
export function maskIntegers(
  integers: NarrowNumbers,
  low: number,
  high: number,
  out: Uint8Array,
): void {
  const count = integers.length
  beginKernel()
  const source = placeIntegers(integers)
  const at = placeOutput(out, count)
  within[widthOf(integers)](source, low, high, count, at)
  takeOutput(out, count, at)
}

/** The rows whose code is true (1) in the table, whose last entry is that of null. */
export function maskByStored(table: Uint8Array, codes: NarrowNumbers, out: Uint8Array): void {
  const count = codes.length
  const size = table.length
  if (size > smallTable || codes instanceof Int32Array) {
    for (let row = 0; row < count; row++) {
      const code = codes[row]!
      out[row] = table[code + (size & (code >> 31))]! & 1
    }
    return
  }
  beginKernel()
  const tableAt = placeTable(table)
  const source = placeIntegers(codes)
  const at = placeOutput(out, count)
  if (codes instanceof Int16Array) kernels.maskByCode16(tableAt, source, count, at)
  else kernels.maskByCode8(tableAt, Math.ceil(size / 16), source, count, at)
  takeOutput(out, count, at)
}
