/**
 * Sums of whole numbers of one, two or four bytes, as they are stored: of all rows, which are at most 8,192, or of
 * those of a mask. The least of a width stands for null.
 */
import { noNumber } from './memory'
import { keepWithin } from './narrow-mask'

/** Adds a sum of numbers that have become `base` less, and how many they are. */
function addWhole(out: usize, sum: i64, base: f64, added: i32): void {
  store<f64>(out, load<f64>(out) + (<f64>sum + <f64>added * base))
  store<f64>(out, load<f64>(out, 8) + <f64>added, 8)
}

/** @param out the sum of all rows, and how many have a number, are added to these two doubles */
function sumOfAll<T>(source: usize, base: f64, count: i32, out: usize): void {
  const none = noNumber<T>()
  let all: i64 = 0
  let added = 0
  for (let i = 0; i < count; i++) {
    const integer = <i32>load<T>(source + <usize>i * sizeof<T>())
    // `select` is a branch in machine code.
    const isThere = <i32>(integer !== none)
    all += <i64>(integer & -isThere)
    added += isThere
  }
  addWhole(out, all, base, added)
}

export function sumAllWhole8(source: usize, base: f64, count: i32, out: usize): void {
  sumOfAll<i8>(source, base, count, out)
}

/** Eight at once; those that are over by themselves. */
export function sumAllWhole16(source: usize, base: f64, count: i32, out: usize): void {
  const none = i16x8.splat(i16.MIN_VALUE)
  let all = i32x4.splat(0)
  let absent = i32x4.splat(0)
  const whole = count & ~7
  for (let row = 0; row < whole; row += 8) {
    const integers = v128.load(source + ((<usize>row) << 1))
    const isNone = i16x8.eq(integers, none)
    all = i32x4.add(all, i32x4.extadd_pairwise_i16x8_s(v128.andnot(integers, isNone)))
    absent = i32x4.sub(absent, i32x4.extadd_pairwise_i16x8_s(isNone))
  }
  let total: i64 = 0
  let added = whole
  for (let place = 0; place < 4; place++) {
    total += <i64>i32x4.extract_lane(all, 0)
    added -= i32x4.extract_lane(absent, 0)
    all = i32x4.shuffle(all, all, 1, 2, 3, 0)
    absent = i32x4.shuffle(absent, absent, 1, 2, 3, 0)
  }
  addWhole(out, total, base, added)
  sumOfAll<i16>(source + ((<usize>whole) << 1), base, count - whole, out)
}

export function sumAllWhole32(source: usize, base: f64, count: i32, out: usize): void {
  sumOfAll<i32>(source, base, count, out)
}

/** What the quotients of two integers are more than the first part of the divisor's reciprocal times these. */
function restsOf(integers: v128, highs: v128, lows: v128): v128 {
  const number = f64x2.convert_low_i32x4_s(integers)
  const most = f64x2.mul(number, highs)
  return f64x2.sub(f64x2.add(most, f64x2.mul(number, lows)), most)
}

/** The last two integers of four. */
function upper(four: v128): v128 {
  return i32x4.shuffle(four, four, 2, 3, 2, 3)
}

/** Sixteen rows at once, of which V8 makes a tenth less of time per row than of eight. */
function sumOfKept(kept: usize, base: i32, high: f64, low: f64, count: i32, out: usize): void {
  const bases = i32x4.splat(base)
  const highs = f64x2.splat(high)
  const lows = f64x2.splat(low)
  let integers = i32x4.splat(0)
  let rests = f64x2.splat(0)
  let others = f64x2.splat(0)
  const whole = count & ~15
  for (let row = 0; row < whole; row += 16) {
    const at = kept + ((<usize>row) << 1)
    const a = v128.load(at)
    const b = v128.load(at, 16)
    const pairs = i32x4.extadd_pairwise_i16x8_s(a)
    integers = i32x4.add(integers, i32x4.add(pairs, i32x4.extadd_pairwise_i16x8_s(b)))
    let first = i32x4.extend_low_i16x8_s(a)
    let second = i32x4.extend_high_i16x8_s(a)
    let third = i32x4.extend_low_i16x8_s(b)
    let fourth = i32x4.extend_high_i16x8_s(b)
    if (base !== 0) {
      first = i32x4.add(first, bases)
      second = i32x4.add(second, bases)
      third = i32x4.add(third, bases)
      fourth = i32x4.add(fourth, bases)
    }
    const ofFirst = f64x2.add(restsOf(first, highs, lows), restsOf(upper(first), highs, lows))
    const ofSecond = f64x2.add(restsOf(second, highs, lows), restsOf(upper(second), highs, lows))
    const ofThird = f64x2.add(restsOf(third, highs, lows), restsOf(upper(third), highs, lows))
    const ofFourth = f64x2.add(restsOf(fourth, highs, lows), restsOf(upper(fourth), highs, lows))
    rests = f64x2.add(rests, f64x2.add(ofFirst, ofSecond))
    others = f64x2.add(others, f64x2.add(ofThird, ofFourth))
  }
  let total = sumOfLanes(integers)
  rests = f64x2.add(rests, others)
  let rest = f64x2.extract_lane(rests, 0) + f64x2.extract_lane(rests, 1)
  for (let row = whole; row < count; row++) {
    const integer = <i32>load<i16>(kept + ((<usize>row) << 1))
    total += integer
    rest += restOf(<f64>(integer + base), high, low)
  }
  store<f64>(out, <f64>total + <f64>count * <f64>base)
  store<f64>(out, rest, 8)
  store<f64>(out, <f64>count, 16)
}

function restOf(integer: f64, high: f64, low: f64): f64 {
  const most = integer * high
  return most + integer * low - most
}

function sumOfLanes(four: v128): i32 {
  return (
    i32x4.extract_lane(four, 0) +
    i32x4.extract_lane(four, 1) +
    i32x4.extract_lane(four, 2) +
    i32x4.extract_lane(four, 3)
  )
}

/**
 * Sums the rows of a mask whose integer is one of `least` to `greatest`: `integer + base`, then what their numbers are
 * more than `high` times that, then how many they are. Nothing is lost to rounding: see `reciprocal.ts`.
 *
 * The rests take 0.29 ns a row, so that they are found of those alone that are kept.
 *
 * @param width bytes of an integer: one or two
 * @param mask 0: all rows
 * @param kept room for `count` integers of two bytes
 * @param out three doubles
 */
export function sumWhere(
  width: i32,
  source: usize,
  base: i32,
  high: f64,
  low: f64,
  mask: usize,
  least: i32,
  greatest: i32,
  count: i32,
  kept: usize,
  out: usize,
): void {
  const keptCount =
    width === 1
      ? keepWithin<i8>(source, mask, least, greatest, count, kept)
      : keepWithin<i16>(source, mask, least, greatest, count, kept)
  sumOfKept(kept, base, high, low, keptCount, out)
}
