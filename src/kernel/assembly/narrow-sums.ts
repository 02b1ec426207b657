/**
 * Sums of whole numbers of one, two or four bytes, as they are stored: of all rows, which are at most 8,192, or of
 * those of a mask. The least of a width stands for null.
 */
import { addToSum } from './few-groups'
import { byteAt, noNumber } from './memory'

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

/** The places in a table of the rows of a mask, where `low` has place 1; 0 for others and for nulls. How many have one. */
function placesOf<T>(source: usize, low: i32, mask: usize, count: i32, places: usize): i32 {
  const none = noNumber<T>()
  const nones = i16x8.splat(<i16>none)
  const before = i16x8.splat(<i16>(low - 1))
  const one = i16x8.splat(1)
  let kept = i32x4.splat(0)
  const whole = count & ~7
  for (let row = 0; row < whole; row += 8) {
    const at = source + <usize>row * sizeof<T>()
    const integers = sizeof<T>() === 1 ? v128.load_ext<i8>(at) : v128.load(at)
    const isKept = i16x8.eq(v128.and(v128.load_ext<u8>(mask + <usize>row), one), one)
    const keep = v128.andnot(isKept, i16x8.eq(integers, nones))
    kept = i32x4.sub(kept, i32x4.extadd_pairwise_i16x8_s(keep))
    v128.store(places + ((<usize>row) << 1), v128.and(i16x8.sub(integers, before), keep))
  }
  let found =
    i32x4.extract_lane(kept, 0) +
    i32x4.extract_lane(kept, 1) +
    i32x4.extract_lane(kept, 2) +
    i32x4.extract_lane(kept, 3)
  for (let row = whole; row < count; row++) {
    const integer = <i32>load<T>(source + <usize>row * sizeof<T>())
    const isKept = byteAt(mask, row) & 1 & <i32>(integer !== none)
    found += isKept
    store<u16>(places + ((<usize>row) << 1), <u16>((integer - low + 1) & -isKept))
  }
  return found
}

/**
 * Adds the rows of a mask to one sum, by a table of numbers in two parts each (`decimal-table.ts`), of which none of so
 * many rows loses anything to rounding.
 *
 * @param width bytes of an integer: one or two
 * @param low the integer whose number is the table's second; the first is 0
 * @param places room for two bytes for each row, and some more
 */
export function sumByTable(
  width: i32,
  source: usize,
  low: i32,
  mask: usize,
  table: usize,
  count: i32,
  places: usize,
  sum: usize,
): void {
  const added =
    width === 1
      ? placesOf<i8>(source, low, mask, count, places)
      : placesOf<i16>(source, low, mask, count, places)
  if (added === 0) return
  let a = f64x2.splat(0)
  let b = f64x2.splat(0)
  let c = f64x2.splat(0)
  let d = f64x2.splat(0)
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    const four = load<u64>(places + ((<usize>row) << 1))
    a = f64x2.add(a, v128.load(table + ((<usize>(four & 0xffff)) << 4)))
    b = f64x2.add(b, v128.load(table + ((<usize>((four >> 16) & 0xffff)) << 4)))
    c = f64x2.add(c, v128.load(table + ((<usize>((four >> 32) & 0xffff)) << 4)))
    d = f64x2.add(d, v128.load(table + ((<usize>(four >> 48)) << 4)))
  }
  for (let row = whole; row < count; row++) {
    const place = <usize>load<u16>(places + ((<usize>row) << 1))
    a = f64x2.add(a, v128.load(table + (place << 4)))
  }
  const all = f64x2.add(f64x2.add(a, b), f64x2.add(c, d))
  addToSum(sum, f64x2.extract_lane(all, 0), f64x2.extract_lane(all, 1), <f64>added)
}
