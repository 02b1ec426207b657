/** Sums and extremes of numbers as columns store them, which are not widened for that. */
import type { StoredIntegers } from '../vector/elements.ts'
import { addToSum, wordsPerSum } from './group-sums.ts'
import {
  beginLoop,
  isOfKernels,
  kernels,
  maximumRows,
  place,
  placeOutput,
  takeOutput,
} from './memory.ts'
import { boundsOfIntegers } from './number-counts.ts'
import { summableBits, summableReciprocal } from './reciprocal.ts'
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

/** Of the rows of a mask: the sum of whole numbers, that of the rests of numbers, and their number. */
const sumsOfMask = new Float64Array(3)

/**
 * Adds the numbers of the rows of a mask to the sum of one group (`group-sums.ts`), without that rounding takes anything;
 * false, and nothing is added, when they have too many bits. Widened and picked by row it takes five times as long.
 */
export function sumStoredWhere(
  { integers, base, divisor }: StoredIntegers,
  mask: Uint8Array,
  states: Float64Array,
  group: number,
): boolean {
  const { length: count } = integers
  const width = widthOf(integers)
  const isSummable = Math.abs(base) + 2 ** (width * 8 - 1) <= 2 ** summableBits
  const reciprocal = isSummable ? summableReciprocal(divisor) : undefined
  if (!reciprocal || count > maximumRows) return false
  const { high, low, halves } = reciprocal
  beginLoop()
  const [source, of] = [placeIntegers(integers), place(mask, count)]
  const out = placeOutput(sumsOfMask, sumsOfMask.length)
  kernels.sumWhere(width, source, base, high, low, of, count, out)
  takeOutput(sumsOfMask, sumsOfMask.length, out)
  const [whole, rest, added] = sumsOfMask as unknown as readonly [number, number, number]
  addToSum(states, group, rest, 0, added)
  addToSum(states, group, whole * halves[0], 0, 0)
  addToSum(states, group, whole * halves[1], 0, 0)
  return true
}

/** Rows per group from which on lanes (`assembly/narrow-groups.ts`) pay for being put together: of whole numbers, and of others. */
const [rowsPerLane, rowsPerScaledLane] = [16, 64]

const noNumbers = new Float64Array(0)

/**
 * Adds numbers to the sums of groups (`group-sums.ts`), the i-th to that of group `groups[i]`; false, and nothing is
 * added, when these are not where loops find them.
 */
export function sumStoredByGroup(
  stored: StoredIntegers,
  groups: Int32Array,
  states: Float64Array,
): boolean {
  const { integers, base, divisor } = stored
  const { length: count } = integers
  if (!isOfKernels(states) || count > maximumRows) return false
  const width = widthOf(integers)
  const groupCount = states.length / wordsPerSum
  const isExact = divisor === 1 && (Math.abs(base) + 2 ** (width * 8 - 1)) * count <= 2 ** 53
  beginLoop()
  const [source, of, sums] = [placeIntegers(integers), place(groups, count), states.byteOffset]
  if (isExact && groupCount * rowsPerLane <= count) {
    const lanes = placeOutput(noNumbers, groupCount * 4)
    kernels.sumWholeByGroup(width, source, base, of, count, groupCount, lanes, sums)
    return true
  }
  const isFew = groupCount * rowsPerScaledLane <= count
  const lanes = isFew ? placeOutput(noNumbers, groupCount * 16) : 0
  kernels.sumScaledByGroup(width, source, base, divisor, of, count, groupCount, lanes, sums)
  return true
}

/**
 * Keeps the lowest (-1) or the highest (1) of each group, as `minNumbers` and `maxNumbers` do; false, and nothing is
 * kept, when groups are too many for it, or numbers too great.
 */
export function keepExtremesOfStored(
  direction: -1 | 1,
  { integers, base, divisor }: StoredIntegers,
  groups: Int32Array,
  states: Float64Array,
): boolean {
  const { length: count } = integers
  const groupCount = states.length
  const width = widthOf(integers)
  if (!isOfKernels(states) || count > maximumRows || groupCount * rowsPerLane > count) return false
  if (width === 4 && direction < 0) return false
  beginLoop()
  const [source, of] = [placeIntegers(integers), place(groups, count)]
  const lanes = placeOutput(noNumbers, groupCount * 2)
  const flip = direction < 0 ? -1 : 0
  const at = states.byteOffset
  kernels.extremesByGroup(width, flip, source, base, divisor, of, count, groupCount, lanes, at)
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
