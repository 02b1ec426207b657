/**
 * Narrow whole numbers as those that loops compute with. Up to sixteen rows are written at once, and as
 * many are read: arrays have room for them.
 */
import { setNumber } from './memory'

export function widenCodes8(source: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 16) {
    const bytes = v128.load(source)
    const low = i16x8.extend_low_i8x16_s(bytes)
    const high = i16x8.extend_high_i8x16_s(bytes)
    v128.store(out, i32x4.extend_low_i16x8_s(low))
    v128.store(out, i32x4.extend_high_i16x8_s(low), 16)
    v128.store(out, i32x4.extend_low_i16x8_s(high), 32)
    v128.store(out, i32x4.extend_high_i16x8_s(high), 48)
    source += 16
    out += 64
  }
}

export function widenCodes16(source: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 8) {
    const words = v128.load(source)
    v128.store(out, i32x4.extend_low_i16x8_s(words))
    v128.store(out, i32x4.extend_high_i16x8_s(words), 16)
    source += 16
    out += 32
  }
}

/** Four doubles, NaN for `none`. */
function storeNumbers(out: usize, integers: v128, none: v128): void {
  const isNone = i32x4.eq(integers, none)
  const nan = f64x2.splat(NaN)
  const above = i32x4.shuffle(integers, integers, 2, 3, 2, 3)
  const low = f64x2.convert_low_i32x4_s(integers)
  const high = f64x2.convert_low_i32x4_s(above)
  v128.store(out, v128.bitselect(nan, low, i64x2.extend_low_i32x4_s(isNone)))
  v128.store(out, v128.bitselect(nan, high, i64x2.extend_high_i32x4_s(isNone)), 16)
}

/** The least number that each width has stands for null in all of these. */
export function widenNumbers8(source: usize, count: i32, out: usize): void {
  const none = i32x4.splat(<i32>i8.MIN_VALUE)
  for (let row = 0; row < count; row += 16) {
    const bytes = v128.load(source)
    const low = i16x8.extend_low_i8x16_s(bytes)
    const high = i16x8.extend_high_i8x16_s(bytes)
    storeNumbers(out, i32x4.extend_low_i16x8_s(low), none)
    storeNumbers(out + 32, i32x4.extend_high_i16x8_s(low), none)
    storeNumbers(out + 64, i32x4.extend_low_i16x8_s(high), none)
    storeNumbers(out + 96, i32x4.extend_high_i16x8_s(high), none)
    source += 16
    out += 128
  }
}

export function widenNumbers16(source: usize, count: i32, out: usize): void {
  const none = i32x4.splat(<i32>i16.MIN_VALUE)
  for (let row = 0; row < count; row += 8) {
    const words = v128.load(source)
    storeNumbers(out, i32x4.extend_low_i16x8_s(words), none)
    storeNumbers(out + 32, i32x4.extend_high_i16x8_s(words), none)
    source += 16
    out += 64
  }
}

export function widenNumbers32(source: usize, count: i32, out: usize): void {
  const none = i32x4.splat(i32.MIN_VALUE)
  for (let row = 0; row < count; row += 4) {
    storeNumbers(out, v128.load(source), none)
    source += 16
    out += 32
  }
}

/** `(values[i] + base) / divisor`, in place. */
export function scaleNumbers(values: usize, count: i32, base: f64, divisor: f64): void {
  const bases = f64x2.splat(base)
  const divisors = f64x2.splat(divisor)
  const pairs = count & ~1
  for (let row = 0; row < pairs; row += 2) {
    const at = values + ((<usize>row) << 3)
    v128.store(at, f64x2.div(f64x2.add(v128.load(at), bases), divisors))
  }
  if (pairs < count) {
    const at = values + ((<usize>pairs) << 3)
    setNumber(values, pairs, (load<f64>(at) + base) / divisor)
  }
}

/** The same by both parts of the divisor's reciprocal (`reciprocal.ts`). */
export function scaleByReciprocal(values: usize, count: i32, base: f64, high: f64, low: f64): void {
  const bases = f64x2.splat(base)
  const highs = f64x2.splat(high)
  const lows = f64x2.splat(low)
  for (let row = 0; row < count; row += 2) {
    const at = values + ((<usize>row) << 3)
    const whole = f64x2.add(v128.load(at), bases)
    v128.store(at, f64x2.add(f64x2.mul(whole, highs), f64x2.mul(whole, lows)))
  }
}
