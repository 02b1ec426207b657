/**
 * Sums of whole numbers of one, two or four bytes, as they are stored: of all rows, which are at most 8,192. The
 * least of a width stands for null.
 */
import { addToSum } from './few-groups'
import { noNumber } from './memory'

/** Adds all rows to one sum. */
function sumOfAll<T>(source: usize, base: f64, count: i32, sum: usize): void {
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
  if (added > 0) addToSum(sum, <f64>all + <f64>added * base, 0, <f64>added)
}

export function sumAllWhole8(source: usize, base: f64, count: i32, sum: usize): void {
  sumOfAll<i8>(source, base, count, sum)
}

/** Eight at once; those that are over by themselves. */
export function sumAllWhole16(source: usize, base: f64, count: i32, sum: usize): void {
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
  if (added > 0) addToSum(sum, <f64>total + <f64>added * base, 0, <f64>added)
  sumOfAll<i16>(source + ((<usize>whole) << 1), base, count - whole, sum)
}

export function sumAllWhole32(source: usize, base: f64, count: i32, sum: usize): void {
  sumOfAll<i32>(source, base, count, sum)
}
