/** Sums and extremes of numbers as columns store them, which are not widened for that. */
import type { StoredIntegers } from '../vector/elements.ts'
import {
  beginKernel,
  isOfKernels,
  kernels,
  maximumRows,
  newState,
  numbers,
  place,
  placeOutput,
  stageBytes,
} from './arena.ts'
import type { GroupSums } from './group-sums.ts'
import { IntegerRange } from './narrow-mask.ts'
import { boundsOfIntegers } from './number-counts.ts'
import { batchBits, type Reciprocal, reciprocalOf, summableBits } from './reciprocal.ts'
import { placeIntegers, stagedRows, stageIntegers, widthOf } from './widen.ts'

const sums = {
  1: kernels.sumAllWhole8,
  2: kernels.sumAllWhole16,
  4: kernels.sumAllWhole32,
} as const

/** What whole numbers are less than, whatever they are; undefined: they are not whole. */
function boundOfWhole({ integers, base, divisor }: StoredIntegers): number | undefined {
  return divisor === 1 ? Math.abs(base) + 2 ** (integers.BYTES_PER_ELEMENT * 8 - 1) : undefined
}

/** Two doubles: a sum, and how many numbers were added. */
const sumBytes = 16

/**
 * Adds numbers to the sum of one group; false, and nothing is added, when rounding would take something.
 */
export function sumStored(stored: StoredIntegers, states: GroupSums, group: number): boolean {
  const { integers, base } = stored
  const { length } = integers
  if (length > maximumRows) return false
  const most = boundOfWhole(stored)
  if (most === undefined) return sumStoredWhere(stored, undefined, states, group) !== undefined
  if (most * length > 2 ** 53) return false
  beginKernel()
  const source = placeIntegers(integers)
  const out = stageBytes(sumBytes)
  numbers.fill(0, out >> 3, (out + sumBytes) >> 3)
  sums[widthOf(integers)](source, base, length, out)
  states.addPart(group, numbers[out >> 3]!, numbers[(out >> 3) + 1]!)
  return true
}

/** Of some rows: the sum of whole numbers, that of the rests of numbers, and how many there are. */
const sumsBytes = 24

/**
 * Adds the numbers of the rows of a mask, of those in a range, or of all, to the sum of one group, without
 * that rounding takes anything, and returns how many they are; undefined, and nothing is added, when they have too many
 * bits. Widened and picked by row it takes five times as long.
 *
 * @param stored of any number of rows; a mask has one for each of `maximumRows` at most
 */
export function sumStoredWhere(
  stored: StoredIntegers,
  where: Uint8Array | IntegerRange | undefined,
  states: GroupSums,
  group: number,
): number | undefined {
  const { integers, base } = stored
  const { length } = integers
  const width = widthOf(integers)
  const reciprocal = shortReciprocal(stored)
  const mask = where instanceof IntegerRange ? undefined : where
  if (!reciprocal || (mask && length > maximumRows)) return undefined
  const most = 2 ** (width * 8 - 1) - 1
  let [least, greatest] = [-most, most]
  if (where instanceof IntegerRange) {
    where.find(stored)
    least = where.first
    greatest = where.end - 1
    // As bytes that the kernel takes, the first after all others would be the least.
    if (least > greatest) return 0
  }
  const { high, low, highParts } = reciprocal
  const step = length > maximumRows ? stagedRows(integers) : length
  let count = 0
  for (let from = 0; from < length; from += step) {
    const to = Math.min(length, from + step)
    beginKernel()
    const isAll = to - from === length
    const source = isAll ? placeIntegers(integers) : stageIntegers(integers, from, to)
    const of = mask ? place(mask, length) : 0
    const kept = stageBytes((to - from) * 2)
    const out = stageBytes(sumsBytes)
    kernels.sumWhere(width, source, base, high, low, of, least, greatest, to - from, kept, out)
    const whole = numbers[out >> 3]!
    const rest = numbers[(out >> 3) + 1]!
    const added = numbers[(out >> 3) + 2]!
    states.addPart(group, rest, added)
    states.addPart(group, whole * highParts[0], 0)
    states.addPart(group, whole * highParts[1], 0)
    count += added
  }
  return count
}

/** Whether `sumStoredWhere` takes numbers that are stored so. */
export function isSummedWhere(stored: StoredIntegers): boolean {
  return shortReciprocal(stored) !== undefined
}

function shortReciprocal({ integers, base, divisor }: StoredIntegers): Reciprocal | undefined {
  const width = integers.BYTES_PER_ELEMENT
  const isShort = width < 4 && Math.abs(base) + 2 ** (width * 8 - 1) <= 2 ** batchBits
  return isShort ? reciprocalOf(divisor, batchBits) : undefined
}

/** That of numbers of which sums lose nothing. */
function summable({ integers, base, divisor }: StoredIntegers): Reciprocal | undefined {
  if (Math.abs(base) >= 2 ** (summableBits - 1)) return undefined
  let most = 2 ** (integers.BYTES_PER_ELEMENT * 8 - 1)
  if (integers.BYTES_PER_ELEMENT === 4) {
    const bounds = boundsOfIntegers(integers)
    if (bounds) most = Math.max(Math.abs(bounds.least), Math.abs(bounds.greatest))
  }
  return most < 2 ** (summableBits - 1) ? reciprocalOf(divisor, summableBits) : undefined
}

/** Rows per group from which on lanes (`assembly/narrow-groups.ts`) pay for being put together. */
const rowsPerLane = 16

const noNumbers = new Float64Array(0)

/**
 * Adds whole numbers to the sums of groups, the i-th to that of group `groups[i]`; false, and nothing is added, when they are
 * none or too great, or groups are too many for it.
 */
export function sumWholeByGroup(
  stored: StoredIntegers,
  groups: Int32Array,
  states: GroupSums,
): boolean {
  const { integers, base } = stored
  const { length: count } = integers
  const { groupCount } = states
  if (count > maximumRows || groupCount * rowsPerLane > count) return false
  const most = boundOfWhole(stored)
  const words = most === undefined ? undefined : states.placeWhole(most, count)
  if (words === undefined) return false
  beginKernel()
  const [source, of] = [placeIntegers(integers), place(groups, count)]
  const lanes = placeOutput(noNumbers, groupCount * 4)
  const width = widthOf(integers)
  kernels.sumWholeByGroup(width, source, base, of, count, groupCount, lanes, words)
  return true
}

/** Rows after which sums are flushed, as counts have no room for more; of more groups that would take too long. */
const [mostPending, mostGroups] = [65_536, 4096]

/** What `settleDecimals` writes of a group. */
const settledBytes = 32

/** Groups that have four lanes, as those of few are often the same in rows that follow each other. */
const fewGroups = 128

/**
 * Sums of decimals by group, apart from those of `GroupSums` until they are flushed: so that a row takes one addition of two
 * words.
 */
export class DecimalSums {
  /** In the kernel arena: 16 bytes for each lane of a group. */
  #words: Float64Array = new Float64Array(0)
  #groupCount = 0
  #laneShift = 0
  #of: Reciprocal | undefined
  #rows = 0

  /**
   * Adds numbers, the i-th to the sum of group `groups[i]`; false, and nothing is added, when they have too many bits,
   * groups are too many, or no memory is left.
   *
   * @param states the sums that they are flushed into, with as many groups
   */
  add(stored: StoredIntegers, groups: Int32Array, states: GroupSums): boolean {
    const { integers, base } = stored
    const { length: count } = integers
    if (count > maximumRows || states.groupCount > mostGroups) return false
    const reciprocal = summable(stored)
    if (!reciprocal) return false
    if (reciprocal !== this.#of || this.#rows + count > mostPending) this.flush(states)
    if (!this.#makeRoom(states)) return false
    this.#of = reciprocal
    this.#rows += count
    const { high, mid, low } = reciprocal
    beginKernel()
    const [source, of] = [placeIntegers(integers), place(groups, count)]
    const [width, words] = [widthOf(integers), this.#words.byteOffset]
    const shift = this.#laneShift
    kernels.sumDecimalsByGroup(width, source, base, high, mid, low, of, count, shift, words)
    return true
  }

  /** Brings what was added to the sums. */
  flush(states: GroupSums): void {
    if (this.#rows === 0) return
    this.#rows = 0
    const [first, second] = this.#of!.parts
    const groupCount = this.#groupCount
    beginKernel()
    const out = stageBytes(groupCount * settledBytes)
    kernels.settleDecimals(this.#words.byteOffset, this.#laneShift, groupCount, out)
    for (let group = 0; group < groupCount; group++) {
      const at = (out + group * settledBytes) >> 3
      const [rest, upper, lower] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!]
      states.addPart(group, rest, numbers[at + 3]!)
      states.addPart(group, upper * first, 0)
      states.addPart(group, lower * first, 0)
      states.addPart(group, upper * second, 0)
      states.addPart(group, lower * second, 0)
    }
  }

  #makeRoom(states: GroupSums): boolean {
    const { groupCount } = states
    if (groupCount === this.#groupCount) return true
    this.flush(states)
    const laneShift = groupCount <= fewGroups ? 2 : 0
    const words = newState(groupCount * 2 ** (laneShift + 1), 0)
    if (!isOfKernels(words)) return false
    this.#words = words
    this.#groupCount = groupCount
    this.#laneShift = laneShift
    return true
  }
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
  beginKernel()
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
