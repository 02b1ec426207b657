/**
 * Updates of aggregate states. Values are those of the rows that are alive, one after the other;
 * `groups[i]` is the group of the i-th of them. NaN is null and counts for nothing.
 *
 * States of scans lie in the kernel arena (`newState`); the kernels over others are here.
 */
import {
  beginKernel,
  codes,
  isOfKernels,
  kernels,
  maximumRows,
  numbers,
  place,
  placeOutput,
} from './arena.ts'

const noNumbers = new Float64Array(0)
const noCodes = new Int32Array(0)

function fits(state: Float64Array, count: number): boolean {
  return isOfKernels(state) && count <= maximumRows
}

/** Rows per group from which on lanes (`assembly/few-groups.ts`) pay for being put together. */
const rowsPerLane = 16

/** How many rows go by lanes of so many groups: a multiple of four. */
function rowsInLanes(groupCount: number, count: number): number {
  return groupCount * rowsPerLane <= count ? count & ~3 : 0
}

/** The group that all rows are in; undefined if they are in several, or there are none. */
export function onlyGroup(groups: Int32Array, count: number): number | undefined {
  if (count === 0 || count > maximumRows) return undefined
  // Mostly the ends differ already.
  if (groups[0] !== groups[count - 1]) return undefined
  beginKernel()
  return kernels.areSame(place(groups, count), count) === 1 ? groups[0] : undefined
}

export function countRows(groups: Int32Array, count: number, counts: Float64Array): void {
  if (fits(counts, count)) {
    beginKernel()
    const of = place(groups, count)
    const inLanes = rowsInLanes(counts.length, count)
    if (inLanes > 0) {
      const lanes = placeOutput(noNumbers, counts.length * 2)
      kernels.countOfFew(of, inLanes, counts.length, lanes, counts.byteOffset)
    }
    kernels.countRows(of + inLanes * 4, count - inLanes, counts.byteOffset)
    return
  }
  for (let i = 0; i < count; i++) counts[groups[i]!]!++
}

/** The same for codes, of which -1 is none. */
export function countCodes(codes: Int32Array, count: number, counts: Float64Array): void {
  if (fits(counts, count)) {
    beginKernel()
    // Not in lanes, each of which has room for its codes alone: before the first lies the last of another.
    kernels.countRows(place(codes, count), count, counts.byteOffset)
    return
  }
  for (let i = 0; i < count; i++) if (codes[i]! >= 0) counts[codes[i]!]!++
}

export function countNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  counts: Float64Array,
): void {
  if (fits(counts, count)) {
    beginKernel()
    const [at, of] = [place(values, count), place(groups, count)]
    kernels.countNumbers(at, of, count, counts.byteOffset)
    return
  }
  for (let i = 0; i < count; i++) counts[groups[i]!]! += +!Number.isNaN(values[i]!)
}

/** Counts the rows that are true (1). */
export function countTrue(
  truths: Uint8Array,
  groups: Int32Array,
  count: number,
  counts: Float64Array,
): void {
  if (fits(counts, count)) {
    beginKernel()
    const [at, of] = [place(truths, count), place(groups, count)]
    kernels.countTrue(at, of, count, counts.byteOffset)
    return
  }
  for (let i = 0; i < count; i++) counts[groups[i]!]! += truths[i]! & 1
}

/** How many are not null. */
export function countAll(values: Float64Array, count: number): number {
  const even = Math.min(count, maximumRows) & ~1
  beginKernel()
  let present = kernels.countAll(place(values, Math.min(count, maximumRows)), even)
  for (let i = even; i < count; i++) present += +!Number.isNaN(values[i]!)
  return present
}

/** `lowest[group]` is Infinity while the group has no value. */
export function minNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  lowest: Float64Array,
): void {
  if (fits(lowest, count)) {
    updateExtremes(values, groups, count, lowest, kernels.minOfFew, kernels.minNumbers)
    return
  }
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    if (values[i]! < lowest[group]!) lowest[group] = values[i]!
  }
}

/** `highest[group]` is -Infinity while the group has no value. */
export function maxNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  highest: Float64Array,
): void {
  if (fits(highest, count)) {
    updateExtremes(values, groups, count, highest, kernels.maxOfFew, kernels.maxNumbers)
    return
  }
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    if (values[i]! > highest[group]!) highest[group] = values[i]!
  }
}

/** By a kernel that has lanes for few groups, and one for the rows that are left. */
function updateExtremes(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  extremes: Float64Array,
  ofFew: typeof kernels.minOfFew,
  ofAny: typeof kernels.minNumbers,
): void {
  beginKernel()
  const [at, of] = [place(values, count), place(groups, count)]
  const inLanes = rowsInLanes(extremes.length, count)
  if (inLanes > 0) {
    const lanes = placeOutput(noNumbers, extremes.length * 4)
    ofFew(at, of, inLanes, extremes.length, lanes, extremes.byteOffset)
  }
  ofAny(at + inLanes * 8, of + inLanes * 4, count - inLanes, extremes.byteOffset)
}

/** The lowest that is not null, or NaN. */
export function minAll(values: Float64Array, count: number): number {
  const whole = Math.min(count, maximumRows) & ~3
  beginKernel()
  let lowest = kernels.minAll(place(values, Math.min(count, maximumRows)), whole)
  for (let i = whole; i < count; i++) if (values[i]! < lowest) lowest = values[i]!
  return lowest === Number.POSITIVE_INFINITY ? Number.NaN : lowest
}

/** The highest that is not null, or NaN. */
export function maxAll(values: Float64Array, count: number): number {
  const whole = Math.min(count, maximumRows) & ~3
  beginKernel()
  let highest = kernels.maxAll(place(values, Math.min(count, maximumRows)), whole)
  for (let i = whole; i < count; i++) if (values[i]! > highest) highest = values[i]!
  return highest === Number.NEGATIVE_INFINITY ? Number.NaN : highest
}

/** Where the numbers that are not null are collected, with their groups. */
export interface CollectedNumbers {
  readonly values: Float64Array
  readonly groups: Int32Array
}

/** Writes the numbers that are not null from `from` on; returns how many. At most `maximumRows`. */
export function keepPresent(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  out: CollectedNumbers,
  from: number,
): number {
  beginKernel()
  const [at, of] = [place(values, count), place(groups, count)]
  const [toValues, toGroups] = [placeOutput(noNumbers, count), placeOutput(noCodes, count)]
  const kept = kernels.keepPresent(at, of, count, toValues, toGroups)
  out.values.set(numbers.subarray(toValues >> 3, (toValues >> 3) + kept), from)
  out.groups.set(codes.subarray(toGroups >> 2, (toGroups >> 2) + kept), from)
  return kept
}

/** The same without groups. */
export function keepNumbers(
  values: Float64Array,
  count: number,
  out: Float64Array,
  from: number,
): number {
  beginKernel()
  const at = place(values, count)
  const to = placeOutput(noNumbers, count)
  const kept = kernels.keepNumbers(at, count, to)
  out.set(numbers.subarray(to >> 3, (to >> 3) + kept), from)
  return kept
}

/**
 * Writes the numbers that are not null group by group, from `from` on; returns how many. At most
 * `maximumRows`, of at most as many groups.
 *
 * @param ends by group, takes the place behind its last number, counted from `from`
 */
export function gatherByGroup(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  out: Float64Array,
  from: number,
  ends: Int32Array,
): number {
  const groupCount = ends.length
  beginKernel()
  const [at, of] = [place(values, count), place(groups, count)]
  const to = placeOutput(noNumbers, count)
  const toEnds = placeOutput(noCodes, groupCount + 16) + 64
  const kept = kernels.gatherByGroup(at, of, count, groupCount, toEnds, to)
  out.set(numbers.subarray(to >> 3, (to >> 3) + kept), from)
  ends.set(codes.subarray(toEnds >> 2, (toEnds >> 2) + groupCount))
  return kept
}
