/** Counts how often numbers occur that are whole ones over a divisor and lie within a range. */
import { codeAt, isPresent, setCode } from './memory'

/** The low half of a double from here on is the whole number that was added to it. */
const wholeStart: f64 = 4503599627370496

function increase(counts: usize, place: i32): void {
  setCode(counts, place, codeAt(counts, place) + 1)
}

/**
 * The number of a group has `size` places, from that of `base / divisor` on. Before `counts` is room for one more,
 * which takes in all others.
 *
 * @param groups 0: all rows are in the group whose first place is `first`; else `first` is 0
 * @param left takes the rows whose numbers are present and have no place; returns how many they are
 */
export function tallyNumbers(
  values: usize,
  groups: usize,
  count: i32,
  first: i32,
  size: i32,
  base: f64,
  divisor: f64,
  counts: usize,
  left: usize,
): i32 {
  const divisors = f64x2.splat(divisor)
  const bases = f64x2.splat(base)
  const none = f64x2.splat(0)
  const end = f64x2.splat(<f64>size)
  const start = f64x2.splat(wholeStart)
  let leftCount = 0
  for (let row = 0; row < count; row += 2) {
    const value = v128.load(values + ((<usize>row) << 3))
    const scaled = f64x2.nearest(f64x2.mul(value, divisors))
    const whole = f64x2.sub(scaled, bases)
    const isSame = f64x2.eq(f64x2.div(scaled, divisors), value)
    const isWithin = v128.and(f64x2.ge(whole, none), f64x2.lt(whole, end))
    const fits = i64x2.bitmask(v128.and(isSame, isWithin))
    const places = f64x2.add(whole, start)
    const a = i32x4.extract_lane(places, 0) + (groups === 0 ? first : codeAt(groups, row) * size)
    increase(counts, select<i32>(a, -1, fits & 1))
    setCode(left, leftCount, row)
    leftCount += isPresent(f64x2.extract_lane(value, 0)) & ~fits & 1
    if (row + 1 === count) break
    const b =
      i32x4.extract_lane(places, 2) + (groups === 0 ? first : codeAt(groups, row + 1) * size)
    increase(counts, select<i32>(b, -1, fits >> 1))
    setCode(left, leftCount, row + 1)
    leftCount += isPresent(f64x2.extract_lane(value, 1)) & ~(fits >> 1) & 1
  }
  return leftCount
}
