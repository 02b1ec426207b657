/**
 * Numbers as how often each occurs, by group. What is measured mostly has few decimals and lies in one range,
 * so that a table has a place for each number that may occur: percentiles then need no number twice.
 */
import { isOfKernels, newTable } from '../../kernel/memory.ts'
import { type TallyRange, tallyNumbers } from '../../kernel/tally.ts'

/** Places of one table: 4 MiB. */
const maximumPlaces = 1 << 20

/** A table has at most so many places per number that was seen before it is made. */
const placesPerNumber = 8

/** Numbers of more decimals are hardly ever few. */
const greatestDivisor = 1e6

/** Of a sample, what is left out at either end: few numbers often take up most of a range. */
const shareOfEnds = 1 / 256

/** Room on either side of the range that is left, by its width. */
const margin = 0.125

/** Up to here each whole number is a double of its own. */
const greatestWhole = 2 ** 52

/** Plain data: `counts[group * size + i]` is how often the number of place `i` occurs in the group. */
export interface TalliedNumbers {
  readonly range: TallyRange
  readonly counts: Int32Array
}

/**
 * Where most numbers like those of a sample can be counted, which is put in order; undefined when they have too
 * many decimals.
 */
export function rangeOf(sample: Float64Array): TallyRange | undefined {
  let divisor = 1
  for (const value of sample) {
    while (Math.round(value * divisor) / divisor !== value) {
      divisor *= 10
      if (divisor > greatestDivisor) return undefined
    }
  }
  sample.sort()
  const ends = Math.floor(sample.length * shareOfEnds)
  const [least, greatest] = [sample[ends]!, sample[sample.length - 1 - ends]!]
  const width = Math.round((greatest - least) * divisor)
  const reach = Math.ceil(width * margin)
  const base = Math.round(least * divisor) - reach
  const size = width + 2 * reach + 1
  return Math.abs(base) + size <= greatestWhole ? { base, divisor, size } : undefined
}

/** How many numbers of so many groups have to be seen before a table pays; undefined: it would be too large. */
export function numbersForTable({ size }: TallyRange, groupCount: number): number | undefined {
  const places = capacityFor(groupCount) * size
  return places <= maximumPlaces ? Math.ceil(places / placesPerNumber) : undefined
}

function capacityFor(groupCount: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, groupCount)))
}

/** What a task has counted. */
export class NumberTally {
  readonly range: TallyRange
  #counts: Int32Array
  #capacity: number

  private constructor(range: TallyRange, counts: Int32Array, capacity: number) {
    this.range = range
    this.#counts = counts
    this.#capacity = capacity
  }

  /** Undefined where no scan keeps its states in the memory of kernels, or there is no room left. */
  static of(range: TallyRange, groupCount: number): NumberTally | undefined {
    const capacity = capacityFor(groupCount)
    const counts = newTable(range.size * capacity, 0)
    return isOfKernels(counts) ? new NumberTally(range, counts, capacity) : undefined
  }

  get heldBytes(): number {
    return this.#counts.byteLength
  }

  /** Makes room for this many groups; false when that would take too much. */
  resize(groupCount: number): boolean {
    if (groupCount <= this.#capacity) return true
    const capacity = capacityFor(groupCount)
    if (capacity * this.range.size > maximumPlaces) return false
    const counts = newTable(capacity * this.range.size, 0)
    if (!isOfKernels(counts)) return false
    counts.set(this.#counts)
    this.#counts = counts
    this.#capacity = capacity
    return true
  }

  /**
   * Counts the numbers of a batch.
   *
   * @param groups by row, or the one that all rows are in
   * @param left takes the rows whose numbers it has no place for
   * @returns how many those are
   */
  add(values: Float64Array, groups: Int32Array | number, count: number, left: Int32Array): number {
    return tallyNumbers(values, groups, count, this.range, this.#counts, left)
  }

  /** For another thread. */
  toWire(groupCount: number): TalliedNumbers {
    const length = Math.min(groupCount, this.#capacity) * this.range.size
    const counts = new Int32Array(new SharedArrayBuffer(length * 4))
    counts.set(this.#counts.subarray(0, length))
    return { range: this.range, counts }
  }
}

/** Those of one group; undefined when there are none. */
export function tallyOfGroup(
  { range, counts }: TalliedNumbers,
  group: number,
): TalliedNumbers | undefined {
  const own = counts.subarray(group * range.size, (group + 1) * range.size)
  return own.length === 0 ? undefined : { range, counts: own }
}

/** Those of these groups alone, in their order. */
export function pickTally({ range, counts }: TalliedNumbers, groups: Int32Array): TalliedNumbers {
  const { size } = range
  const picked = new Int32Array(groups.length * size)
  for (const [i, group] of groups.entries()) {
    picked.set(counts.subarray(group * size, (group + 1) * size), i * size)
  }
  return { range, counts: picked }
}
