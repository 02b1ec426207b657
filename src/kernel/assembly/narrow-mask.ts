/**
 * Masks of whole numbers of one, two or four bytes as they are stored, how many of them are in a range, and which. Sixteen
 * rows are read and written at once, so arrays have room for them. A range does not begin with the least of a width, which
 * stands for null.
 */
import { byteAt, lanesOfBits } from './memory'

const one = i8x16.splat(1)

/**
 * Lanes of the numbers that are greater than `below` and not than `high`, which the processor has an instruction for, unlike
 * for those that are not less than another: a range so takes three where it took five.
 */
function within8(numbers: v128, below: v128, high: v128): v128 {
  return v128.andnot(i8x16.gt_s(numbers, below), i8x16.gt_s(numbers, high))
}

function within16(numbers: v128, below: v128, high: v128): v128 {
  return v128.andnot(i16x8.gt_s(numbers, below), i16x8.gt_s(numbers, high))
}

function within32(numbers: v128, below: v128, high: v128): v128 {
  return v128.andnot(i32x4.gt_s(numbers, below), i32x4.gt_s(numbers, high))
}

/** Counts to add up in lanes of 16 bits: 8,192 rows leave them room. */
function countOfLanes(counts: v128): i32 {
  const four = i32x4.extadd_pairwise_i16x8_s(counts)
  return (
    i32x4.extract_lane(four, 0) +
    i32x4.extract_lane(four, 1) +
    i32x4.extract_lane(four, 2) +
    i32x4.extract_lane(four, 3)
  )
}

function countRest<T>(source: usize, low: i32, high: i32, from: i32, count: i32): i32 {
  let found = 0
  for (let row = from; row < count; row++) {
    const integer = <i32>load<T>(source + <usize>row * sizeof<T>())
    found += <i32>(integer >= low) & <i32>(integer <= high)
  }
  return found
}

/** How many numbers are from `low` to `high`, both included: of at most 8,192. */
export function countWithin8(source: usize, low: i32, high: i32, count: i32): i32 {
  const below = i8x16.splat(<i8>(low - 1))
  const h = i8x16.splat(<i8>high)
  let counts = i16x8.splat(0)
  const whole = count & ~15
  for (let row = 0; row < whole; row += 16) {
    const found = within8(v128.load(source + <usize>row), below, h)
    counts = i16x8.sub(counts, i16x8.extadd_pairwise_i8x16_s(found))
  }
  return countOfLanes(counts) + countRest<i8>(source, low, high, whole, count)
}

export function countWithin16(source: usize, low: i32, high: i32, count: i32): i32 {
  const below = i16x8.splat(<i16>(low - 1))
  const h = i16x8.splat(<i16>high)
  let counts = i16x8.splat(0)
  const whole = count & ~15
  for (let row = 0; row < whole; row += 16) {
    const at = source + ((<usize>row) << 1)
    const first = within16(v128.load(at), below, h)
    counts = i16x8.sub(counts, i16x8.add(first, within16(v128.load(at, 16), below, h)))
  }
  return countOfLanes(counts) + countRest<i16>(source, low, high, whole, count)
}

export function countWithin32(source: usize, low: i32, high: i32, count: i32): i32 {
  const below = i32x4.splat(low - 1)
  const h = i32x4.splat(high)
  let counts = i16x8.splat(0)
  const whole = count & ~15
  for (let row = 0; row < whole; row += 16) {
    const at = source + ((<usize>row) << 2)
    const first = narrowed32(at, below, h)
    const last = narrowed32(at + 32, below, h)
    counts = i16x8.sub(counts, i16x8.add(first, last))
  }
  return countOfLanes(counts) + countRest<i32>(source, low, high, whole, count)
}

/** The numbers from `low` to `high`, both included. */
export function maskWithin8(source: usize, low: i32, high: i32, count: i32, out: usize): void {
  const below = i8x16.splat(<i8>(low - 1))
  const h = i8x16.splat(<i8>high)
  for (let row = 0; row < count; row += 16) {
    v128.store(out, v128.and(within8(v128.load(source), below, h), one))
    source += 16
    out += 16
  }
}

export function maskWithin16(source: usize, low: i32, high: i32, count: i32, out: usize): void {
  const below = i16x8.splat(<i16>(low - 1))
  const h = i16x8.splat(<i16>high)
  for (let row = 0; row < count; row += 16) {
    const first = within16(v128.load(source), below, h)
    const bytes = i8x16.narrow_i16x8_s(first, within16(v128.load(source, 16), below, h))
    v128.store(out, v128.and(bytes, one))
    source += 32
    out += 16
  }
}

/** Eight, as lanes of two bytes. */
function narrowed32(source: usize, below: v128, high: v128): v128 {
  const first = within32(v128.load(source), below, high)
  return i16x8.narrow_i32x4_s(first, within32(v128.load(source, 16), below, high))
}

export function maskWithin32(source: usize, low: i32, high: i32, count: i32, out: usize): void {
  const below = i32x4.splat(low - 1)
  const h = i32x4.splat(high)
  for (let row = 0; row < count; row += 16) {
    const bytes = i8x16.narrow_i16x8_s(
      narrowed32(source, below, h),
      narrowed32(source + 32, below, h),
    )
    v128.store(out, v128.and(bytes, one))
    source += 64
    out += 16
  }
}

/** Writes eight integers of which the bits are set one after the other, and others after them. */
function storeKept(out: usize, integers: v128, bits: i32): void {
  const lanes = v128.load(lanesOfBits + ((<usize>bits) << 4))
  v128.store(out, i8x16.swizzle(integers, lanes))
}

/**
 * Writes the integers of `least` to `greatest` in rows of a mask one after the other, as of two bytes, and returns how
 * many they are.
 */
export function keepWithin<T>(
  source: usize,
  mask: usize,
  least: i32,
  greatest: i32,
  count: i32,
  out: usize,
): i32 {
  const below = i16x8.splat(<i16>(least - 1))
  const high = i16x8.splat(<i16>greatest)
  const start = out
  for (let row = 0; row < count; row += 16) {
    const at = source + <usize>row * sizeof<T>()
    const sixteen = v128.load(at)
    const a = sizeof<T>() === 1 ? i16x8.extend_low_i8x16_s(sixteen) : sixteen
    const b = sizeof<T>() === 1 ? i16x8.extend_high_i8x16_s(sixteen) : v128.load(at, 16)
    let isKept = i8x16.narrow_i16x8_s(within16(a, below, high), within16(b, below, high))
    if (mask !== 0) isKept = v128.and(isKept, i8x16.eq(v128.load(mask + <usize>row), one))
    let bits = i8x16.bitmask(isKept)
    if (count - row < 16) bits &= (1 << (count - row)) - 1
    const first = bits & 0xff
    storeKept(out, a, first)
    const next = out + ((<usize>popcnt(first)) << 1)
    storeKept(next, b, bits >> 8)
    out += (<usize>popcnt(bits)) << 1
  }
  return <i32>((out - start) >> 1)
}

/** Where a table of so many times sixteen bytes is 1 at the place after the code, which may be -1. */
export function maskByCode8(table: usize, parts: i32, source: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row += 16) {
    let place = i8x16.add(v128.load(source), one)
    let found = i8x16.swizzle(v128.load(table), place)
    for (let part = 1; part < parts; part++) {
      // Places of other parts are beyond the sixteen bytes, and give 0.
      place = i8x16.sub(place, i8x16.splat(16))
      found = v128.or(found, i8x16.swizzle(v128.load(table + ((<usize>part) << 4)), place))
    }
    v128.store(out, v128.and(found, one))
    source += 16
    out += 16
  }
}

export function maskByCode16(table: usize, source: usize, count: i32, out: usize): void {
  for (let row = 0; row < count; row++) {
    const code = <i32>load<i16>(source + ((<usize>row) << 1))
    store<u8>(out + <usize>row, byteAt(table, code + 1) & 1)
  }
}
