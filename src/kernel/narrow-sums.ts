/** Sums and extremes of whole numbers as columns store them, which are not widened for that. */
import type { StoredIntegers } from '../vector/elements.ts'
import { wordsPerSum } from './group-sums.ts'
import { beginLoop, isOfKernels, kernels, maximumRows } from './memory.ts'
import { boundsOfIntegers } from './number-counts.ts'
import { placeIntegers, widthOf } from './widen.ts'

const sums = {
  1: kernels.sumAllWhole8,
  2: kernels.sumAllWhole16,
  4: kernels.sumAllWhole32,
} as const

/**
 * Adds whole numbers to the sum of one group (`group-sums.ts`); false, and nothing is added, when they are none, or
 * rounding would take something.
 */
export function sumStored(stored: StoredIntegers, states: Float64Array, group: number): boolean {
  const { integers, base, divisor } = stored
  const { length, BYTES_PER_ELEMENT: width } = integers
  if (divisor !== 1 || !isOfKernels(states) || length > maximumRows) return false
  if ((Math.abs(base) + 2 ** (width * 8 - 1)) * length > 2 ** 53) return false
  beginLoop()
  const sum = states.byteOffset + group * wordsPerSum * 8
  sums[widthOf(integers)](placeIntegers(integers), base, length, sum)
  return true
}

/**
 * The lowest of the numbers (-1), or the highest (1), that stored ones stand for; NaN if all are null. At most
 * `maximumRows`.
 */
export function extremeOfStored(
  direction: -1 | 1,
  { integers, base, divisor }: StoredIntegers,
): number {
  const bounds = boundsOfIntegers(integers)
  if (!bounds) return Number.NaN
  return ((direction < 0 ? bounds.least : bounds.greatest) + base) / divisor
}
