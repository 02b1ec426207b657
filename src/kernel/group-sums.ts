/**
 * Exact sums of groups: what a sum, a mean or a variance is made of loses no bit, so that each is rounded once, at its end, and
 * depends neither on the order of rows nor on the split into batches, tasks and segments.
 *
 * - **Words** take in the rows of batches: a whole number of units, as an integer, and a rest (`assembly/sums.ts`). The units
 *   fit the numbers of a batch, and stay for as long as those of later batches fit them.
 * - **Settled sums** are two doubles whose sum is exact: what rounding takes from the first is in the second. Words are
 *   settled when they are full, when units change, and at the end.
 * - **Units** of 2^-1074, as integers of any length, take what two doubles cannot hold: very few numbers need them.
 *
 * What a number has below the finest units of its words is added by the same means, to sums of their own.
 */
import {
  beginKernel,
  codes,
  isOfKernels,
  kernels,
  maximumRows,
  newState,
  numbers,
  place,
  placeOutput,
  stageBytes,
  takeOutput,
} from './arena.ts'
import { exponentAbove, meanOf, nearest, unitBits, unitsOf } from './exact-number.ts'
import { sequence } from './sequence.ts'
import { pickUnits, UnitSums, type WireUnits } from './unit-sums.ts'

/** Of a group: the sum of rests, that of whole units (of 64 bits), how many numbers were added, and nothing. */
const wordsPerSum = 4
const added = 2

/** Rows per group from which on lanes (`assembly/sums.ts`) pay for being put together. */
const rowsPerLane = 64

/** Numbers from 2^1000 on are added by themselves: kernels add to them what would go beyond doubles. */
const greatestExponent = 1000

/** Groups from which on words are settled less often, as that takes a look at all of them. */
const manyGroups = 2 ** 14

const noNumbers = new Float64Array(0)

/** Units for numbers up to some power of two. */
interface Scale {
  readonly bound: number
  readonly mostRows: number
  readonly unit: number
  /** 1.5 × 2^52 units, and finer units. */
  readonly high: number
  readonly low: number
}

/** Bits that a sum of whole units has. */
const wholeBits = 62

/**
 * @param exponent numbers are less than 2^exponent
 * @param rowBits at most 2^rowBits of them are added
 */
function scaleOf(exponent: number, rowBits: number): Scale {
  // A number has fewer bits than `high`.
  const unit = Math.max(exponent - Math.min(wholeBits - rowBits, 50), -unitBits)
  const finer = Math.max(unit - (52 - rowBits), -unitBits)
  return {
    bound: 2 ** exponent,
    mostRows: 2 ** rowBits,
    unit: 2 ** unit,
    high: 2 ** unit * 2 ** 52 * 1.5,
    low: 2 ** finer * 2 ** 52 * 1.5,
  }
}

/** By exponent: each batch of a sum without groups asks. */
const scalesOfBatches = new Map<number, Scale>()

function scaleOfBatch(greatest: number): Scale {
  const exponent = exponentAbove(greatest)
  let scale = scalesOfBatches.get(exponent)
  if (!scale) {
    scale = scaleOf(exponent, Math.log2(maximumRows))
    scalesOfBatches.set(exponent, scale)
  }
  return scale
}

/** Calls `take` with doubles whose exact sum is that of the numbers that are not NaN; returns how many these are. */
function sumAll(values: Float64Array, count: number, take: (part: number) => void): number {
  let present = 0
  for (let from = 0; from < count; from += maximumRows) {
    const size = Math.min(count - from, maximumRows)
    // The array itself, which may have been copied to kernels before.
    const part = size === count ? values : values.subarray(from, from + size)
    present += sumBatch(part, size, take)
  }
  return present
}

/** That of the batch before, whose numbers are mostly like those of the next. */
let lastScale: Scale | undefined

function sumBatch(values: Float64Array, count: number, take: (part: number) => void): number {
  beginKernel()
  const at = place(values, count)
  const sum = stageBytes(wordsPerSum * 8)
  let scale = lastScale
  if (!scale || hasLeft(at, count, scale, sum)) {
    const greatest = kernels.greatestOf(at, count)
    if (greatest >= 2 ** greatestExponent) {
      const present = values.subarray(0, count).filter((value) => !Number.isNaN(value))
      present.forEach(take)
      return present.length
    }
    scale = scaleOfBatch(greatest)
    lastScale = hasLeft(at, count, scale, sum) ? undefined : scale
  }
  const present = numbers[(sum >> 3) + added]!
  readWords(sum >> 3, scale.unit)
  parts.forEach(take)
  if (!lastScale) sumBatch(restsOf(values, count, scale), count, take)
  return present
}

/** Sums a batch, and tells whether that left something. */
function hasLeft(at: number, count: number, { bound, high, low }: Scale, sum: number): boolean {
  numbers.fill(0, sum >> 3, (sum >> 3) + wordsPerSum)
  return kernels.sumAll(at, count, bound, high, low, sum) !== 0
}

/** What the words of a sum stand for: the sum of these. */
const parts = new Float64Array(3)

/** @param at place of the words in the kernel arena, in doubles */
function readWords(at: number, unit: number): void {
  const upper = codes[2 * at + 3]! * 2 ** 32
  const lower = codes[2 * at + 2]! >>> 0
  const isShort = Math.abs(upper) < 2 ** 53
  parts[0] = (isShort ? upper + lower : upper) * unit
  parts[1] = isShort ? 0 : lower * unit
  parts[2] = numbers[at]!
}

/** What kernels have left of numbers. */
function restsOf(values: Float64Array, count: number, { bound, high, low }: Scale): Float64Array {
  const rests = new Float64Array(count)
  beginKernel()
  const at = place(values, count)
  const out = placeOutput(rests, count)
  kernels.restsOf(at, count, bound, high, low, out)
  takeOutput(rests, count, out)
  return rests
}

/**
 * Adds to a sum of two doubles, the second of which is what rounding has taken from the first. False, and nothing is
 * added, when the two cannot hold it.
 */
export function addToPair(pairs: Float64Array, at: number, value: number): boolean {
  const sum = pairs[at]!
  const after = sum + value
  const more = after - sum
  const lost = sum - (after - more) + (value - more)
  const rest = pairs[at + 1]!
  const rests = rest + lost
  const moreRest = rests - rest
  // NaN, which comes of infinities, is not 0 either.
  if (rest - (rests - moreRest) + (lost - moreRest) !== 0) return false
  pairs[at] = after
  pairs[at + 1] = rests
  return true
}

/** The exact sum of numbers that are not NaN, as the sum of two doubles; undefined when these cannot hold it. */
export function sumAsPair(
  values: Float64Array,
  count: number,
): { sum: number; rest: number } | undefined {
  const pair = new Float64Array(2)
  let isExact = true
  sumAll(values, count, (part) => {
    isExact &&= addToPair(pair, 0, part)
  })
  return isExact ? { sum: pair[0]!, rest: pair[1]! } : undefined
}

/** Sums as plain data for other threads. */
export interface WireSums {
  readonly sums: Float64Array
  /** What rounding has taken from them. */
  readonly rests: Float64Array
  readonly counts: Float64Array
  /** What is to be added to the sums of few of them. */
  readonly units: WireUnits
}

/** Those of these places alone, which are ascending, in their order. */
export function pickSums(
  { sums, rests, counts, units }: WireSums,
  places: Int32Array,
  pick: (numbers: Float64Array, places: Int32Array) => Float64Array,
): WireSums {
  return {
    sums: pick(sums, places),
    rests: pick(rests, places),
    counts: pick(counts, places),
    units: pickUnits(units, places),
  }
}

export class GroupSums {
  /** In the kernel arena, or without room there only counts. */
  #words: Float64Array = noNumbers
  /** Units of words, and how many rows these have. */
  #scale: Scale | undefined
  #rows = 0
  /** Whether the last numbers were too great for them. */
  #isShort = false
  /** By group, a sum and what rounding has taken from it. Made when words are first settled. */
  #settled: Float64Array = noNumbers
  readonly #units = new UnitSums()
  /** Of what numbers have below the finer units of words. */
  #below: GroupSums | undefined

  get groupCount(): number {
    return this.#words.length / wordsPerSum
  }

  get heldBytes(): number {
    const own = this.#words.byteLength + this.#settled.byteLength
    return own + (this.#below?.heldBytes ?? 0)
  }

  resize(groupCount: number): void {
    if (groupCount <= this.groupCount) return
    const words = newState(2 ** Math.ceil(Math.log2(groupCount)) * wordsPerSum, 0)
    if (!isOfKernels(words)) this.#settleWords()
    words.set(this.#words)
    this.#words = words
  }

  /** Adds numbers that are not NaN, the i-th to the sum of group `groups[i]`. */
  add(values: Float64Array, groups: Int32Array, count: number): void {
    if (!isOfKernels(this.#words)) {
      this.#addEach(values, groups, count, 0)
      return
    }
    for (let from = 0; from < count; from += maximumRows) {
      const size = Math.min(count - from, maximumRows)
      if (size === count) this.#addBatch(values, groups, count)
      else this.#addBatch(values.subarray(from, from + size), groups.subarray(from), size)
    }
  }

  /** Adds numbers that are not NaN to the sum of one group. */
  addTo(group: number, values: Float64Array, count: number): void {
    const present = sumAll(values, count, (part) => this.addPart(group, part, 0))
    this.addPart(group, 0, present)
  }

  /** Adds a number that kernels cannot. */
  addOne(group: number, value: number | bigint): void {
    if (typeof value === 'number') {
      this.addPart(group, value, 1)
      return
    }
    this.addPart(group, 0, 1)
    this.#units.add(group, unitsOf(value))
  }

  /** Adds a part of the exact sum of `count` numbers. */
  addPart(group: number, part: number, count: number): void {
    this.#words[group * wordsPerSum + added]! += count
    if (part === 0) return
    this.#settled = roomFor(this.groupCount, this.#settled)
    this.#settle(group, part)
  }

  /**
   * Where a kernel may add whole numbers up to `most`, as units of words; undefined when these have no room for so great
   * ones, or are not in the kernel arena.
   */
  placeWhole(most: number, count: number): number | undefined {
    const exponent = wholeBits - this.#rowBits
    if (!isOfKernels(this.#words) || most >= 2 ** exponent) return undefined
    this.#makeRoom(count)
    if (this.#scale?.unit !== 1) {
      this.#settleWords()
      this.#scale = scaleOf(exponent, this.#rowBits)
    }
    this.#rows += count
    return this.#words.byteOffset
  }

  /** Brings all that was added to where it is read. */
  settle(): void {
    this.#settled = roomFor(this.groupCount, this.#settled)
    this.#settleWords()
    const below = this.#below
    if (!below) return
    this.#below = undefined
    const { sums, rests, units } = below.toWire(sequence(0, below.groupCount))
    for (let group = 0; group < sums.length; group++) {
      this.addPart(group, sums[group]!, 0)
      this.addPart(group, rests[group]!, 0)
    }
    this.#units.merge(units, sequence(0, below.groupCount))
  }

  countOf(group: number): number {
    return this.#words[group * wordsPerSum + added]!
  }

  /** The double nearest to the sum, which must be settled; not finite when doubles, or one of the numbers, are not. */
  sumOf(group: number): number {
    if (!this.#isPair(group)) return nearest(this.unitsOf(group), 1n, unitBits)
    return this.#settled[2 * group]! + this.#settled[2 * group + 1]!
  }

  /** The same of the mean. */
  meanOf(group: number): number {
    const count = this.countOf(group)
    if (!this.#isPair(group)) return nearest(this.unitsOf(group), BigInt(count), unitBits)
    return meanOf(this.#settled[2 * group]!, this.#settled[2 * group + 1]!, count)
  }

  /** Two doubles whose sum is the sum, NaN where it is unknown; undefined when two cannot hold it. */
  pairOf(group: number): [sum: number, rest: number] | undefined {
    if (!this.#isPair(group)) return undefined
    return [this.#settled[2 * group]!, this.#settled[2 * group + 1]!]
  }

  #isPair(group: number): boolean {
    return this.#units.of(group) === 0n || Number.isNaN(this.#settled[2 * group]!)
  }

  /** The sum, exactly, unless it is unknown. */
  unitsOf(group: number): bigint {
    return (
      unitsOf(this.#settled[2 * group]!) +
      unitsOf(this.#settled[2 * group + 1]!) +
      this.#units.of(group)
    )
  }

  /** The sums of these groups. */
  toWire(
    groups: Int32Array,
    newNumbers: (count: number) => Float64Array = (count) => new Float64Array(count),
  ): WireSums {
    const sums = newNumbers(groups.length)
    const rests = newNumbers(groups.length)
    const counts = newNumbers(groups.length)
    this.settle()
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!
      sums[i] = this.#settled[2 * group]!
      rests[i] = this.#settled[2 * group + 1]!
      counts[i] = this.#words[group * wordsPerSum + added]!
    }
    return { sums, rests, counts, units: this.#units.toWire(groups) }
  }

  /**
   * Place `i` of the wire form is group `groups[i]` here.
   *
   * @param check is called before each
   */
  merge({ sums, rests, counts, units }: WireSums, groups: Int32Array, check = () => {}): void {
    this.#settled = roomFor(this.groupCount, this.#settled)
    for (let i = 0; i < groups.length; i++) {
      check()
      const group = groups[i]!
      this.#words[group * wordsPerSum + added]! += counts[i]!
      this.#settle(group, sums[i]!)
      this.#settle(group, rests[i]!)
    }
    this.#units.merge(units, groups)
  }

  #settle(group: number, part: number): void {
    if (part === 0) return
    const settled = this.#settled
    // Mostly there is nothing yet.
    if (settled[2 * group] === 0 && settled[2 * group + 1] === 0 && Number.isFinite(part)) {
      settled[2 * group] = part
      return
    }
    if (addToPair(settled, 2 * group, part)) return
    if (Number.isFinite(part)) this.#units.add(group, unitsOf(part))
    else this.#settled[2 * group] = Number.NaN
  }

  #addBatch(values: Float64Array, groups: Int32Array, count: number): void {
    beginKernel()
    const at = place(values, count)
    const scale = this.#scaleFor(at, count)
    if (!scale) {
      this.#addEach(values, groups, count, 0)
      return
    }
    const { bound, high, low } = scale
    const of = place(groups, count)
    const { groupCount } = this
    const isFew = groupCount * rowsPerLane <= count
    const lanes = isFew ? placeOutput(noNumbers, groupCount * 16) : 0
    const to = this.#words.byteOffset
    if (kernels.sumByGroup(at, of, count, groupCount, lanes, bound, high, low, to) === 0) return
    this.#addEach(values, groups, count, bound)
    this.#below ??= new GroupSums()
    this.#below.resize(groupCount)
    this.#below.add(restsOf(values, count, scale), groups, count)
  }

  /** Adds numbers one by one that are as far from 0 as `bound`. */
  #addEach(values: Float64Array, groups: Int32Array, count: number, bound: number): void {
    for (let i = 0; i < count; i++) {
      if (!(Math.abs(values[i]!) >= bound)) continue
      this.addPart(groups[i]!, values[i]!, 1)
      this.#isShort = true
    }
  }

  get #rowBits(): number {
    return this.groupCount > manyGroups ? 20 : 16
  }

  /** Undefined: numbers are too great for any. */
  #scaleFor(at: number, count: number): Scale | undefined {
    this.#makeRoom(count)
    if (!this.#scale || this.#isShort) {
      const greatest = kernels.greatestOf(at, count)
      if (greatest >= 2 ** greatestExponent) return undefined
      this.#isShort = false
      if (!this.#scale || greatest >= this.#scale.bound) {
        this.#settleWords()
        // With room for numbers that are somewhat greater, which later batches may have.
        this.#scale = scaleOf(exponentAbove(greatest) + 1, this.#rowBits)
      }
    }
    this.#rows += count
    return this.#scale
  }

  /** Settles words that may have no room for so many rows more. */
  #makeRoom(count: number): void {
    if (!this.#scale || this.#rows + count <= this.#scale.mostRows) return
    this.#settleWords()
    if (this.#scale.mostRows !== 2 ** this.#rowBits) this.#scale = undefined
  }

  #settleWords(): void {
    if (this.#rows === 0) return
    this.#rows = 0
    this.#settled = roomFor(this.groupCount, this.#settled)
    const { unit } = this.#scale!
    if (isOfKernels(this.#settled)) {
      const { byteOffset } = this.#settled
      // Mostly the pairs hold all of them.
      if (!kernels.settleSums(this.#words.byteOffset, this.groupCount, unit, byteOffset)) return
    }
    const start = this.#words.byteOffset >> 3
    for (let group = 0; group < this.groupCount; group++) {
      const at = start + group * wordsPerSum
      readWords(at, unit)
      for (let part = 0; part < parts.length; part++) this.#settle(group, parts[part]!)
      numbers[at] = 0
      numbers[at + 1] = 0
    }
  }
}

/** The same pairs, with room for those of so many groups. */
function roomFor(groupCount: number, pairs: Float64Array): Float64Array {
  if (pairs.length >= 2 * groupCount) return pairs
  const larger = newState(2 * groupCount, 0)
  larger.set(pairs)
  return larger
}
