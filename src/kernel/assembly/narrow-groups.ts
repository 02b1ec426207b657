/**
 * Sums and extremes by group of whole numbers of one, two or four bytes, as they are stored: each stands for
 * `(integer + base) / divisor`, and the least of a width for null. Few groups have four lanes that rows take turns in
 * (`few-groups.ts`): `lanes` has room for them.
 *
 * `width` is that of a number in bytes. At most 8,192 rows.
 */
import { codeAt, noNumber, numberAt, setNumber } from './memory'
import { addSum } from './sums'

const sumShift: usize = 5

function fill(from: usize, byteLength: usize, value: v128): void {
  for (let at: usize = 0; at < byteLength; at += 16) v128.store(from + at, value)
}

function placeOf<T>(source: usize, row: i32): usize {
  return source + <usize>row * sizeof<T>()
}

function integerAt<T>(source: usize, row: i32): i32 {
  return <i32>load<T>(placeOf<T>(source, row))
}

function fourAt<T>(source: usize, row: i32): v128 {
  const at = placeOf<T>(source, row)
  if (sizeof<T>() === 4) return v128.load(at)
  const words = sizeof<T>() === 2 ? v128.load64_zero(at) : wordsOf(v128.load32_zero(at))
  return i32x4.extend_low_i16x8_s(words)
}

function wordsOf(bytes: v128): v128 {
  return i16x8.extend_low_i8x16_s(bytes)
}

/** Above what four lanes of 2,048 numbers of 32 bits add up to, with its sign. */
const countShift: i64 = 46

/** What a lane has of a group is a sum, and above it how many numbers were added. */
function wholeByGroup<T>(
  source: usize,
  base: f64,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  sums: usize,
): void {
  fill(lanes, (<usize>groupCount) << 5, i32x4.splat(0))
  const none = noNumber<T>()
  const nones = i32x4.splat(none)
  const one = (<i64>1) << countShift
  const ones = i64x2.splat(one)
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    const integers = fourAt<T>(source, row)
    const isNone = i32x4.eq(integers, nones)
    const low = v128.andnot(
      i64x2.add(i64x2.extend_low_i32x4_s(integers), ones),
      i64x2.extend_low_i32x4_s(isNone),
    )
    const high = v128.andnot(
      i64x2.add(i64x2.extend_high_i32x4_s(integers), ones),
      i64x2.extend_high_i32x4_s(isNone),
    )
    const a = lanes + ((<usize>codeAt(groups, row)) << 5)
    const b = lanes + ((<usize>codeAt(groups, row + 1)) << 5)
    const c = lanes + ((<usize>codeAt(groups, row + 2)) << 5)
    const d = lanes + ((<usize>codeAt(groups, row + 3)) << 5)
    v128.store64_lane(a, i64x2.add(v128.load64_zero(a), low), 0)
    v128.store64_lane(b, i64x2.add(v128.load64_splat(b, 8), low), 1, 8)
    v128.store64_lane(c, i64x2.add(v128.load64_zero(c, 16), high), 0, 16)
    v128.store64_lane(d, i64x2.add(v128.load64_splat(d, 24), high), 1, 24)
  }
  for (let row = whole; row < count; row++) {
    const integer = integerAt<T>(source, row)
    const at = lanes + ((<usize>codeAt(groups, row)) << 5)
    if (integer !== none) store<i64>(at, load<i64>(at) + <i64>integer + one)
  }
  for (let group = 0; group < groupCount; group++) {
    const all = load<i64>(lanes) + load<i64>(lanes, 8) + load<i64>(lanes, 16) + load<i64>(lanes, 24)
    const added = (all + (one >> 1)) >> countShift
    const sum = all - (added << countShift) + added * <i64>base
    if (added > 0) addSum(sums + ((<usize>group) << sumShift), 0, sum, <f64>added)
    lanes += 32
  }
}

/** Of numbers whose divisor is 1, to sums of whole units of 1. @param lanes has room for 32 bytes per group */
export function sumWholeByGroup(
  width: i32,
  source: usize,
  base: f64,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  sums: usize,
): void {
  if (width === 1) wholeByGroup<i8>(source, base, groups, count, groupCount, lanes, sums)
  else if (width === 2) wholeByGroup<i16>(source, base, groups, count, groupCount, lanes, sums)
  else wholeByGroup<i32>(source, base, groups, count, groupCount, lanes, sums)
}

function pairAt<T>(source: usize, row: i32): v128 {
  const at = placeOf<T>(source, row)
  if (sizeof<T>() === 4) return v128.load64_zero(at)
  const words = sizeof<T>() === 2 ? v128.load32_zero(at) : wordsOf(v128.load16_splat(at))
  return i32x4.extend_low_i16x8_s(words)
}

/** The rests of the numbers of two integers. */
function restsOf(integers: v128, bases: v128, highs: v128, mids: v128, lows: v128): v128 {
  const whole = f64x2.add(f64x2.convert_low_i32x4_s(integers), bases)
  const most = f64x2.mul(whole, highs)
  const number = f64x2.add(most, f64x2.mul(whole, lows))
  return f64x2.sub(f64x2.sub(number, most), f64x2.mul(whole, mids))
}

function restOf(whole: f64, high: f64, mid: f64, low: f64): f64 {
  const most = whole * high
  return most + whole * low - most - whole * mid
}

/** Adds the rest and the whole number of a row to those of its group. */
function addParts(at: usize, parts: v128): void {
  const before = v128.load(at)
  v128.store(at, i64x2.shuffle(f64x2.add(before, parts), i64x2.add(before, parts), 0, 3))
}

function decimalsByGroup<T>(
  source: usize,
  base: f64,
  high: f64,
  mid: f64,
  low: f64,
  groups: usize,
  count: i32,
  laneShift: usize,
  words: usize,
): void {
  const nones = i32x4.splat(noNumber<T>())
  const bases = f64x2.splat(base)
  const highs = f64x2.splat(high)
  const mids = f64x2.splat(mid)
  const lows = f64x2.splat(low)
  const counted = <i64>base + ((<i64>1) << countShift)
  const counts = i64x2.splat(counted)
  const groupShift = wordShift + laneShift
  // Two rows after the first two, where there are four lanes; the same where there is one.
  const nextPair = (((<usize>1) << laneShift) >> 1) << wordShift
  const nextRow = nextPair >> 1
  let first = words
  let other = words + nextPair
  const even = count & ~1
  for (let row = 0; row < even; row += 2) {
    const integers = pairAt<T>(source, row)
    const isNone = i64x2.extend_low_i32x4_s(i32x4.eq(integers, nones))
    const rests = v128.andnot(restsOf(integers, bases, highs, mids, lows), isNone)
    const wholes = v128.andnot(i64x2.add(i64x2.extend_low_i32x4_s(integers), counts), isNone)
    const a = first + ((<usize>codeAt(groups, row)) << groupShift)
    const b = first + nextRow + ((<usize>codeAt(groups, row + 1)) << groupShift)
    addParts(a, i64x2.shuffle(rests, wholes, 0, 2))
    addParts(b, i64x2.shuffle(rests, wholes, 1, 3))
    const taken = first
    first = other
    other = taken
  }
  if (even === count) return
  const integer = integerAt<T>(source, even)
  if (integer === noNumber<T>()) return
  const at = words + ((<usize>codeAt(groups, even)) << groupShift)
  store<f64>(at, load<f64>(at) + restOf(<f64>integer + base, high, mid, low))
  store<i64>(at, load<i64>(at, 8) + <i64>integer + counted, 8)
}

/** Of a group, or of a lane of it: the sum of rests, and that of whole numbers below how many there are. */
const wordShift: usize = 4

/**
 * Adds numbers `(integer + base) / divisor`, each as its rest and its whole number (`../reciprocal.ts`). Counts have room
 * for 65,536 rows until `settleDecimals` is called.
 *
 * @param laneShift 2: each group has four lanes, which rows take turns in; 0: it has one
 * @param words 16 bytes for each lane of each group
 */
export function sumDecimalsByGroup(
  width: i32,
  source: usize,
  base: f64,
  high: f64,
  mid: f64,
  low: f64,
  groups: usize,
  count: i32,
  laneShift: i32,
  words: usize,
): void {
  const shift = <usize>laneShift
  if (width === 1) decimalsByGroup<i8>(source, base, high, mid, low, groups, count, shift, words)
  else if (width === 2)
    decimalsByGroup<i16>(source, base, high, mid, low, groups, count, shift, words)
  else decimalsByGroup<i32>(source, base, high, mid, low, groups, count, shift, words)
}

/** Bits of a whole number below those that are multiplied by themselves, so that products are exact. */
const lowerBits: i64 = 23

/**
 * Writes what `sumDecimalsByGroup` has found, and begins anew: by group, the sum of rests, that of whole numbers in two parts, and how many there
 * are.
 *
 * @param out four doubles for each group
 */
export function settleDecimals(words: usize, laneShift: i32, groupCount: i32, out: usize): void {
  const zero = i64x2.splat(0)
  for (let group = 0; group < groupCount; group++) {
    let all = zero
    let rest: f64 = 0
    for (let lane = 0; lane < 1 << laneShift; lane++) {
      rest += load<f64>(words)
      all = i64x2.add(all, v128.load(words))
      v128.store(words, zero)
      words += 1 << wordShift
    }
    const word = i64x2.extract_lane(all, 1)
    const added = (word + ((<i64>1) << (countShift - 1))) >> countShift
    const whole = word - (added << countShift)
    const upper = (whole >> lowerBits) << lowerBits
    store<f64>(out, rest)
    store<f64>(out, <f64>upper, 8)
    store<f64>(out, <f64>(whole - upper), 16)
    store<f64>(out, <f64>added, 24)
    out += 32
  }
}

/** The greatest; with the bits of all turned over, which turns their order round, the least. */
function extremesOf<T>(
  flip: i32,
  source: usize,
  base: f64,
  divisor: f64,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  states: usize,
): void {
  const nothing = i32.MIN_VALUE
  const nothings = i32x4.splat(nothing)
  fill(lanes, (<usize>groupCount) << 4, nothings)
  const none = noNumber<T>()
  const nones = i32x4.splat(none)
  const flips = i32x4.splat(flip)
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    const integers = fourAt<T>(source, row)
    const isNone = i32x4.eq(integers, nones)
    const x = v128.bitselect(nothings, v128.xor(integers, flips), isNone)
    const a = lanes + ((<usize>codeAt(groups, row)) << 4)
    const b = lanes + ((<usize>codeAt(groups, row + 1)) << 4)
    const c = lanes + ((<usize>codeAt(groups, row + 2)) << 4)
    const d = lanes + ((<usize>codeAt(groups, row + 3)) << 4)
    const y = i32x4.shuffle(x, x, 1, 1, 1, 1)
    const z = i32x4.shuffle(x, x, 2, 2, 2, 2)
    const w = i32x4.shuffle(x, x, 3, 3, 3, 3)
    v128.store32_lane(a, i32x4.max_s(v128.load32_zero(a), x), 0)
    v128.store32_lane(b, i32x4.max_s(v128.load32_zero(b, 4), y), 0, 4)
    v128.store32_lane(c, i32x4.max_s(v128.load32_zero(c, 8), z), 0, 8)
    v128.store32_lane(d, i32x4.max_s(v128.load32_zero(d, 12), w), 0, 12)
  }
  for (let row = whole; row < count; row++) {
    const integer = integerAt<T>(source, row)
    const at = lanes + ((<usize>codeAt(groups, row)) << 4)
    if (integer !== none) store<i32>(at, max(load<i32>(at), integer ^ flip))
  }
  for (let group = 0; group < groupCount; group++) {
    const first = max(load<i32>(lanes), load<i32>(lanes, 4))
    const found = max(first, max(load<i32>(lanes, 8), load<i32>(lanes, 12)))
    lanes += 16
    if (found === nothing) continue
    const number = (<f64>(found ^ flip) + base) / divisor
    const before = numberAt(states, group)
    setNumber(states, group, flip === 0 ? max(before, number) : min(before, number))
  }
}

/**
 * Keeps the greatest by group, where `flip` is 0, or the least, where it is -1: of numbers among which is not the
 * greatest of 32 bits.
 *
 * @param lanes has room for 16 bytes per group
 */
export function extremesByGroup(
  width: i32,
  flip: i32,
  source: usize,
  base: f64,
  divisor: f64,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  states: usize,
): void {
  if (width === 1)
    extremesOf<i8>(flip, source, base, divisor, groups, count, groupCount, lanes, states)
  else if (width === 2)
    extremesOf<i16>(flip, source, base, divisor, groups, count, groupCount, lanes, states)
  else extremesOf<i32>(flip, source, base, divisor, groups, count, groupCount, lanes, states)
}
