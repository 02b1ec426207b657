/**
 * Sums of groups, each beside what belongs to it: `wordsPerSum` numbers, of which the second means nothing. The
 * next is what rounding took from the sum (two-sum), so that the order of rows and the split into tasks do
 * not show in the answer, and the last how many numbers were added.
 */
import { sumAll } from './aggregate.ts'
import { beginKernel, isOfKernels, kernels, maximumRows, place, placeOutput } from './arena.ts'

export const wordsPerSum = 4
/** Places among them. */
const [error, added] = [2, 3]

/** Rows per group from which on lanes (`assembly/few-groups.ts`) pay for being put together. */
const rowsPerLane = 64

const noNumbers = new Float64Array(0)

/** Adds numbers that are not NaN, the i-th to the sum of group `groups[i]`. */
export function sumByGroup(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  sums: Float64Array,
): void {
  if (!isOfKernels(sums) || count > maximumRows) {
    for (let i = 0; i < count; i++) {
      if (!Number.isNaN(values[i]!)) addToSum(sums, groups[i]!, values[i]!, 0, 1)
    }
    return
  }
  beginKernel()
  const [at, of] = [place(values, count), place(groups, count)]
  const groupCount = sums.length / wordsPerSum
  const even = count & ~1
  const isFew = groupCount * rowsPerLane <= even
  const lanes = isFew ? placeOutput(noNumbers, groupCount * 16) : 0
  kernels.sumByGroup(at, of, even, groupCount, lanes, sums.byteOffset)
  const last = values[count - 1]!
  if (even < count && !Number.isNaN(last)) addToSum(sums, groups[count - 1]!, last, 0, 1)
}

/** Adds a sum of `count` numbers, with what rounding has taken from it. */
export function addToSum(
  sums: Float64Array,
  group: number,
  sum: number,
  rest: number,
  count: number,
): void {
  const at = group * wordsPerSum
  const before = sums[at]!
  const after = before + sum
  const difference = after - before
  sums[at] = after
  sums[at + error]! += before - (after - difference) + (sum - difference) + rest
  sums[at + added]! += count
}

const one = { sum: new Float64Array(1), error: new Float64Array(1), count: new Float64Array(1) }

/** Adds numbers that are not NaN to the sum of one group. */
export function sumIntoGroup(
  values: Float64Array,
  count: number,
  sums: Float64Array,
  group: number,
): void {
  for (const array of [one.sum, one.error, one.count]) array[0] = 0
  sumAll(values, count, one.sum, one.error, one.count, 0)
  addToSum(sums, group, one.sum[0]!, one.error[0]!, one.count[0]!)
}

/** The sum of a group, with what rounding has taken from it. */
export function sumOf(sums: Float64Array, group: number): number {
  return sums[group * wordsPerSum]! + sums[group * wordsPerSum + error]!
}

/** How many numbers a group has. */
export function countOf(sums: Float64Array, group: number): number {
  return sums[group * wordsPerSum + added]!
}

/** The parts of the sums of these groups, each on its own. */
export function splitSums(
  sums: Float64Array,
  groups: Int32Array,
  out: {
    readonly sums: Float64Array
    readonly errors: Float64Array
    readonly counts: Float64Array
  },
): void {
  for (let i = 0; i < groups.length; i++) {
    const at = groups[i]! * wordsPerSum
    out.sums[i] = sums[at]!
    out.errors[i] = sums[at + error]!
    out.counts[i] = sums[at + added]!
  }
}
