import { blockCounts } from '../kernel/number-counts.ts'
import { moveRank } from '../kernel/rank.ts'

/**
 * The number at rank `share × (n − 1)` in ascending order, interpolated linearly between its
 * neighbours; null of no numbers. Changes the order of `numbers`, but sorts no more than it must:
 * about 10 ns per number, where sorting takes 100.
 */
export function percentileOf(numbers: Float64Array, share: number): number | null {
  return numbers.length === 0 ? null : atRank(numbers, share * (numbers.length - 1))
}

/** The number at a rank that may lie between two. */
function atRank(numbers: Float64Array, rank: number): number {
  const lower = Math.floor(rank)
  moveRank(numbers, lower)
  const below = numbers[lower]!
  const fraction = rank - lower
  if (fraction === 0) return below
  return between(below, minimum(numbers, lower + 1), fraction)
}

function between(below: number, above: number, fraction: number): number {
  const value = below + (above - below) * fraction
  // The distance of two numbers may exceed what a double holds although what lies between does not.
  return Number.isFinite(value) ? value : below * (1 - fraction) + above * fraction
}

function minimum(numbers: Float64Array, from: number): number {
  let least = numbers[from]!
  for (let i = from + 1; i < numbers.length; i++) if (numbers[i]! < least) least = numbers[i]!
  return least
}

/** Whole numbers over a divisor, the i-th of which, from `first` on, comes `counts[i]` times. */
export interface CountedNumbers {
  readonly divisor: number
  /** A multiple of `blockCounts`, as is how many counts there are. */
  readonly first: number
  readonly counts: Int32Array
  /** The sum of each `blockCounts` of them. */
  readonly blocks: Int32Array
}

export function totalOf({ blocks }: CountedNumbers): number {
  let total = 0
  for (let block = 0; block < blocks.length; block++) total += blocks[block]!
  return total
}

/** The same of numbers that were counted, all over the same divisor. */
export function percentileOfCounts(parts: readonly CountedNumbers[], share: number): number | null {
  const [any] = parts
  const count = parts.reduce((sum, part) => sum + totalOf(part), 0)
  if (!any || count === 0) return null
  const rank = share * (count - 1)
  const lower = Math.floor(rank)
  const below = wholeAtRank(parts, lower)
  const [number, fraction] = [below.whole / any.divisor, rank - lower]
  if (fraction === 0) return number
  if (lower + 1 < below.end) return between(number, number, fraction)
  return between(number, wholeAtRank(parts, lower + 1).whole / any.divisor, fraction)
}

/** The whole number of that rank, and the rank that the next one begins at. */
function wholeAtRank(
  parts: readonly CountedNumbers[],
  rank: number,
): { readonly whole: number; readonly end: number } {
  let whole = Math.min(...parts.map(({ first }) => first))
  let end = 0
  for (;;) {
    let inBlock = 0
    for (const { first, blocks } of parts) inBlock += blocks[(whole - first) / blockCounts] ?? 0
    if (end + inBlock > rank) break
    end += inBlock
    whole += blockCounts
  }
  for (; ; whole++) {
    for (const { first, counts } of parts) end += counts[whole - first] ?? 0
    if (end > rank) return { whole, end }
  }
}

/** All of them, as often as they come. */
export function numbersOfCounts(counted: CountedNumbers): Float64Array {
  const { divisor, first, counts } = counted
  const numbers = new Float64Array(totalOf(counted))
  let end = 0
  for (let i = 0; i < counts.length; i++) {
    const start = end
    end += counts[i]!
    if (start < end) numbers.fill((first + i) / divisor, start, end)
  }
  return numbers
}

/** Fewer numbers are put into one array without looking at them first. */
const leastSampled = 1 << 15

/** Sorting a sample takes about as long as selecting from what it leaves. */
const [leastSample, mostSample, rowsPerSample] = [512, 4096, 64]

/**
 * The same of the numbers of several arrays, which stay as they are. The neighbours of the wanted rank in
 * a sample say between which numbers it lies, so that one pass (1.5 ns per number) leaves a few percent
 * to select from.
 */
export function percentileOfParts(parts: readonly Float64Array[], share: number): number | null {
  const count = parts.reduce((total, part) => total + part.length, 0)
  const within = count < leastSampled ? undefined : aroundShare(parts, count, share)
  if (within) return atRank(within.numbers, share * (count - 1) - within.below)
  const numbers = new Float64Array(count)
  let at = 0
  for (const part of parts) {
    numbers.set(part, at)
    at += part.length
  }
  return percentileOf(numbers, share)
}

/**
 * The numbers between two that the wanted rank is likely to lie between, and how many are below them;
 * undefined when it does not.
 */
function aroundShare(
  parts: readonly Float64Array[],
  count: number,
  share: number,
): { readonly numbers: Float64Array; readonly below: number } | undefined {
  const sample = sampleOf(parts, count)
  sample.sort()
  const place = share * (sample.length - 1)
  // Four times the standard deviation of the rank of one of a random sample.
  const reach = 2 + 4 * Math.sqrt(sample.length * share * (1 - share))
  const low = place < reach ? Number.NEGATIVE_INFINITY : sample[Math.floor(place - reach)]!
  const isOpen = place + reach > sample.length - 1
  const high = isOpen ? Number.POSITIVE_INFINITY : sample[Math.ceil(place + reach)]!
  // Twice what is likely: fresh memory costs more than the pass.
  let numbers = new Float64Array(Math.ceil((count * (4 * reach + 4)) / sample.length))
  let taken = takeBetween(parts, low, high, numbers)
  if (taken.size > numbers.length) {
    // Many are equal.
    numbers = new Float64Array(taken.size)
    taken = takeBetween(parts, low, high, numbers)
  }
  const { below, size } = taken
  const rank = share * (count - 1)
  const isWithin = Math.floor(rank) >= below && Math.ceil(rank) < below + size
  return isWithin ? { numbers: numbers.subarray(0, size), below } : undefined
}

/** Writes the numbers from `low` to `high`, as far as there is room; tells how many they are. */
function takeBetween(
  parts: readonly Float64Array[],
  low: number,
  high: number,
  out: Float64Array,
): { readonly below: number; readonly size: number } {
  let [below, size] = [0, 0]
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) {
      const value = part[i]!
      below += +(value < low)
      out[size] = value
      size += +(value >= low) & +(value <= high)
    }
  }
  return { below, size }
}

/** Numbers at even distances, or somewhat more than are wanted. */
function sampleOf(parts: readonly Float64Array[], count: number): Float64Array {
  const size = Math.min(mostSample, Math.max(leastSample, count / rowsPerSample))
  const step = Math.floor(count / size)
  const sample = new Float64Array(Math.ceil(count / step))
  let [taken, next] = [0, 0]
  for (const part of parts) {
    for (; next < part.length; next += step) sample[taken++] = part[next]!
    next -= part.length
  }
  return sample.subarray(0, taken)
}
