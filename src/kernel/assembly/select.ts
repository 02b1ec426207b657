/** Selections: indexes of rows, written without a branch and only kept if the row is wanted. */
import { byteAt, codeAt, numberAt, placesOfBits, setCode, setNumber } from './memory'

/** Writes the rows of eight, from `row` on, whose bits are set, and others after them. */
function storeRows(out: usize, row: i32, bits: i32): void {
  const places = i16x8.extend_low_i8x16_u(v128.load64_zero(placesOfBits + ((<usize>bits) << 3)))
  const first = i32x4.splat(row)
  v128.store(out, i32x4.add(first, i32x4.extend_low_i16x8_u(places)))
  v128.store(out, i32x4.add(first, i32x4.extend_high_i16x8_u(places)), 16)
}

/** `out` has room for eight rows more than are selected. */
export function selectTrue(values: usize, count: i32, out: usize): i32 {
  const start = out
  for (let row = 0; row < count; row += 16) {
    const signs = i8x16.shl(v128.load(values + <usize>row), 7)
    let bits = i8x16.bitmask(signs)
    if (count - row < 16) bits &= (1 << (count - row)) - 1
    const low = bits & 0xff
    storeRows(out, row, low)
    out += (<usize>popcnt(low)) << 2
    const high = bits >> 8
    storeRows(out, row + 8, high)
    out += (<usize>popcnt(high)) << 2
  }
  return <i32>((out - start) >> 2)
}

export function selectTrueWithin(values: usize, selection: usize, count: i32, out: usize): i32 {
  let selected = 0
  for (let i = 0; i < count; i++) {
    const row = codeAt(selection, i)
    setCode(out, selected, row)
    selected += byteAt(values, row) & 1
  }
  return selected
}

/** Of the rows of a selection, which `out` may be. */
export function selectBetweenWithin(
  values: usize,
  low: f64,
  high: f64,
  selection: usize,
  count: i32,
  out: usize,
): i32 {
  let selected = 0
  for (let i = 0; i < count; i++) {
    const row = codeAt(selection, i)
    const value = numberAt(values, row)
    setCode(out, selected, row)
    selected += <i32>(value >= low) & <i32>(value <= high)
  }
  return selected
}

export function pickNumbers(values: usize, selection: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++) setNumber(out, i, numberAt(values, codeAt(selection, i)))
}

export function pickCodes(values: usize, selection: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++) setCode(out, i, codeAt(values, codeAt(selection, i)))
}

/**
 * Replaces codes by those of a table, before whose first place is that of null, whose code is -1. Returns -1 if
 * one that was written is negative, else 0: codes are counted from 0, and what is negative is -1.
 */
export function mapCodes(table: usize, codes: usize, count: i32, out: usize): i32 {
  let least = 0
  for (let row = 0; row < count; row++) {
    const mapped = codeAt(table, codeAt(codes, row))
    setCode(out, row, mapped)
    least |= mapped
  }
  return least >> 31
}

/** The same for the rows of a selection, one after the other. */
export function mapCodesWithin(
  table: usize,
  codes: usize,
  selection: usize,
  count: i32,
  out: usize,
): i32 {
  let least = 0
  for (let i = 0; i < count; i++) {
    const mapped = codeAt(table, codeAt(codes, codeAt(selection, i)))
    setCode(out, i, mapped)
    least |= mapped
  }
  return least >> 31
}

/** `out[i] = (left[i] + leftBase) * stride + right[i] + rightBase` */
export function combineCodes(
  left: usize,
  leftBase: i32,
  stride: i32,
  right: usize,
  rightBase: i32,
  count: i32,
  out: usize,
): void {
  const strides = i32x4.splat(stride)
  const base = i32x4.splat(leftBase * stride + rightBase)
  // Arrays have room for a few rows more than they hold.
  for (let row = 0; row < count; row += 4) {
    const at = (<usize>row) << 2
    const rows = i32x4.mul(v128.load(left + at), strides)
    v128.store(out + at, i32x4.add(i32x4.add(rows, v128.load(right + at)), base))
  }
}
