/**
 * Truth values as bytes: 0 false, 1 true, 2 unknown. Eight rows are worked on at once, so arrays have
 * room for rows up to the next multiple of eight; bitmaps for one byte more than that.
 */

const one = i64x2.splat(1)
const two = i64x2.splat(2)

/** 1 in lanes that hold, 0 in others, 2 where a lane is not present; both are masks. */
function lanes(holds: v128, present: v128): v128 {
  // A mask is -1 in its lanes.
  return i64x2.sub(i64x2.add(two, i64x2.add(present, present)), holds)
}

/** The low bytes of eight lanes. */
function storeBytes(out: usize, a: v128, b: v128, c: v128, d: v128): void {
  const low = i32x4.shuffle(a, b, 0, 2, 4, 6)
  const high = i32x4.shuffle(c, d, 0, 2, 4, 6)
  const words = i16x8.narrow_i32x4_u(low, high)
  v128.store64_lane(out, i8x16.narrow_i16x8_u(words, words), 0)
}

function between(values: usize, low: v128, high: v128): v128 {
  const x = v128.load(values)
  return lanes(v128.and(f64x2.ge(x, low), f64x2.le(x, high)), f64x2.eq(x, x))
}

export function compareBetween(values: usize, low: f64, high: f64, count: i32, out: usize): void {
  const l = f64x2.splat(low)
  const h = f64x2.splat(high)
  for (let row = 0; row < count; row += 8) {
    storeBytes(
      out,
      between(values, l, h),
      between(values + 16, l, h),
      between(values + 32, l, h),
      between(values + 48, l, h),
    )
    values += 64
    out += 8
  }
}

function less(left: usize, right: usize): v128 {
  const x = v128.load(left)
  const y = v128.load(right)
  return lanes(f64x2.lt(x, y), v128.and(f64x2.eq(x, x), f64x2.eq(y, y)))
}

function notGreater(left: usize, right: usize): v128 {
  const x = v128.load(left)
  const y = v128.load(right)
  return lanes(f64x2.le(x, y), v128.and(f64x2.eq(x, x), f64x2.eq(y, y)))
}

function equal(left: usize, right: usize): v128 {
  const x = v128.load(left)
  const y = v128.load(right)
  return lanes(f64x2.eq(x, y), v128.and(f64x2.eq(x, x), f64x2.eq(y, y)))
}

export function compareLess(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 8) {
    storeBytes(
      out,
      less(left, right),
      less(left + 16, right + 16),
      less(left + 32, right + 32),
      less(left + 48, right + 48),
    )
    left += 64
    right += 64
    out += 8
  }
}

export function compareNotGreater(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 8) {
    storeBytes(
      out,
      notGreater(left, right),
      notGreater(left + 16, right + 16),
      notGreater(left + 32, right + 32),
      notGreater(left + 48, right + 48),
    )
    left += 64
    right += 64
    out += 8
  }
}

export function compareEqual(left: usize, right: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 8) {
    storeBytes(
      out,
      equal(left, right),
      equal(left + 16, right + 16),
      equal(left + 32, right + 32),
      equal(left + 48, right + 48),
    )
    left += 64
    right += 64
    out += 8
  }
}

function absent(values: usize): v128 {
  const x = v128.load(values)
  return v128.and(f64x2.ne(x, x), one)
}

/** 1 where a number is null, else 0. */
export function absentNumbers(values: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 8) {
    storeBytes(out, absent(values), absent(values + 16), absent(values + 32), absent(values + 48))
    values += 64
    out += 8
  }
}

/** False wins over unknown, unknown over true. */
export function andInto(left: usize, right: usize, count: i32): void {
  const zero = i8x16.splat(0)
  for (let row = 0; row < count; row += 16) {
    const l = v128.load(left)
    const r = v128.load(right)
    const isFalse = v128.or(i8x16.eq(l, zero), i8x16.eq(r, zero))
    v128.store(left, v128.andnot(i8x16.max_u(l, r), isFalse))
    left += 16
    right += 16
  }
}

/** True wins over unknown, unknown over false. */
export function orInto(left: usize, right: usize, count: i32): void {
  const yes = i8x16.splat(1)
  for (let row = 0; row < count; row += 16) {
    const l = v128.load(left)
    const r = v128.load(right)
    const isTrue = v128.or(i8x16.eq(l, yes), i8x16.eq(r, yes))
    v128.store(left, v128.bitselect(yes, i8x16.max_u(l, r), isTrue))
    left += 16
    right += 16
  }
}

export function notOf(values: usize, count: i32, out: usize): void {
  const opposite = i8x16(1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  for (let row = 0; row < count; row += 16) {
    v128.store(out, i8x16.swizzle(opposite, v128.load(values)))
    values += 16
    out += 16
  }
}

/** Bits as bytes of 0 and 1; the first bit is bit `shift` of the first byte. */
export function expandBits(bits: usize, shift: i32, count: i32, out: usize): void {
  const places = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128)
  const yes = i8x16.splat(1)
  for (let row = 0; row < count; row += 16) {
    const word = load<u32>(bits) >> shift
    const spread = i8x16.shuffle(
      i32x4.splat(<i32>word),
      i32x4.splat(<i32>word),
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      1,
      1,
      1,
      1,
      1,
      1,
      1,
      1,
    )
    v128.store(out, v128.and(i8x16.eq(v128.and(spread, places), places), yes))
    bits += 2
    out += 16
  }
}
