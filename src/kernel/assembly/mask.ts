/**
 * Masks: a byte per row, 1 where a row is kept, else 0. Sixteen rows are worked on at once, so arrays
 * have room for rows up to the next multiple of sixteen.
 */
import { byteAt, codeAt } from './memory'

const one = i8x16.splat(1)

/** Sixteen lanes of -1 and 0, two in each, as bytes of 1 and 0. */
function storeMask(
  out: usize,
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
  g: v128,
  h: v128,
): void {
  const low = i16x8.narrow_i32x4_s(i32x4.shuffle(a, b, 0, 2, 4, 6), i32x4.shuffle(c, d, 0, 2, 4, 6))
  const high = i16x8.narrow_i32x4_s(
    i32x4.shuffle(e, f, 0, 2, 4, 6),
    i32x4.shuffle(g, h, 0, 2, 4, 6),
  )
  v128.store(out, v128.and(i8x16.narrow_i16x8_s(low, high), one))
}

function between(values: usize, low: v128, high: v128): v128 {
  const x = v128.load(values)
  return v128.and(f64x2.ge(x, low), f64x2.le(x, high))
}

export function maskBetween(values: usize, low: f64, high: f64, count: i32, out: usize): void {
  const l = f64x2.splat(low)
  const h = f64x2.splat(high)
  for (let row = 0; row < count; row += 16) {
    storeMask(
      out,
      between(values, l, h),
      between(values + 16, l, h),
      between(values + 32, l, h),
      between(values + 48, l, h),
      between(values + 64, l, h),
      between(values + 80, l, h),
      between(values + 96, l, h),
      between(values + 112, l, h),
    )
    values += 128
    out += 16
  }
}

function other(values: usize, than: v128): v128 {
  const x = v128.load(values)
  return v128.or(f64x2.lt(x, than), f64x2.gt(x, than))
}

export function maskOther(values: usize, than: f64, count: i32, out: usize): void {
  const t = f64x2.splat(than)
  for (let row = 0; row < count; row += 16) {
    storeMask(
      out,
      other(values, t),
      other(values + 16, t),
      other(values + 32, t),
      other(values + 48, t),
      other(values + 64, t),
      other(values + 80, t),
      other(values + 96, t),
      other(values + 112, t),
    )
    values += 128
    out += 16
  }
}

/** The rows of one code. */
export function maskCode(code: i32, codes: usize, count: i32, out: usize): void {
  const wanted = i32x4.splat(code)
  for (let row = 0; row < count; row += 16) {
    const low = i16x8.narrow_i32x4_s(
      i32x4.eq(v128.load(codes), wanted),
      i32x4.eq(v128.load(codes, 16), wanted),
    )
    const high = i16x8.narrow_i32x4_s(
      i32x4.eq(v128.load(codes, 32), wanted),
      i32x4.eq(v128.load(codes, 48), wanted),
    )
    v128.store(out, v128.and(i8x16.narrow_i16x8_s(low, high), one))
    codes += 64
    out += 16
  }
}

/** The rows whose code is true (1) in the table, whose first byte is that of null, whose code is -1. */
export function maskByCode(table: usize, codes: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row++) {
    store<u8>(out + <usize>row, byteAt(table, codeAt(codes, row) + 1) & 1)
  }
}

export function keepBoth(left: usize, right: usize, count: i32): void {
  for (let row = 0; row < count; row += 16) {
    v128.store(left, v128.and(v128.load(left), v128.load(right)))
    left += 16
    right += 16
  }
}

export function keepEither(left: usize, right: usize, count: i32): void {
  for (let row = 0; row < count; row += 16) {
    v128.store(left, v128.or(v128.load(left), v128.load(right)))
    left += 16
    right += 16
  }
}

export function keepOthers(mask: usize, count: i32): void {
  for (let row = 0; row < count; row += 16) {
    v128.store(mask, v128.xor(v128.load(mask), one))
    mask += 16
  }
}

export function countKept(mask: usize, count: i32): i32 {
  let sums = i32x4.splat(0)
  const whole = count & ~15
  for (let row = 0; row < whole; row += 16) {
    const pairs = i16x8.extadd_pairwise_i8x16_u(v128.load(mask + <usize>row))
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(pairs))
  }
  let kept =
    i32x4.extract_lane(sums, 0) +
    i32x4.extract_lane(sums, 1) +
    i32x4.extract_lane(sums, 2) +
    i32x4.extract_lane(sums, 3)
  for (let row = whole; row < count; row++) kept += byteAt(mask, row)
  return kept
}
