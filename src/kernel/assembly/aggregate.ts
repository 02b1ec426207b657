/**
 * Updates of aggregate states. `groups[i]` is the group of row `i`. Before each state array lies room
 * for one more element, that of group -1: it takes in the rows that are null, so that no branch has
 * to ask for them, and means nothing.
 */
import { byteAt, codeAt, isPresent, numberAt, setCode, setNumber } from './memory'

function groupIfPresent(groups: usize, row: i32, value: f64): i32 {
  return ((codeAt(groups, row) + 1) & -isPresent(value)) - 1
}

function increase(counts: usize, group: i32): void {
  setNumber(counts, group, numberAt(counts, group) + 1)
}

export function countRows(groups: usize, count: i32, counts: usize): void {
  for (let row = 0; row < count; row++) increase(counts, codeAt(groups, row))
}

export function countNumbers(values: usize, groups: usize, count: i32, counts: usize): void {
  for (let row = 0; row < count; row++) {
    increase(counts, groupIfPresent(groups, row, numberAt(values, row)))
  }
}

/** 1 when all rows are in one group. */
export function areSame(groups: usize, count: i32): i32 {
  const first = i32x4.splat(load<i32>(groups))
  let same = i32x4.splat(-1)
  const whole = count & ~3
  for (let row = 0; row < whole; row += 4) {
    same = v128.and(same, i32x4.eq(v128.load(groups + ((<usize>row) << 2)), first))
  }
  for (let row = whole; row < count; row++) {
    if (codeAt(groups, row) !== codeAt(groups, 0)) return 0
  }
  return <i32>i32x4.all_true(same)
}

/** Counts the rows whose truth is 1. */
export function countTrue(truths: usize, groups: usize, count: i32, counts: usize): void {
  for (let row = 0; row < count; row++) {
    increase(counts, ((codeAt(groups, row) + 1) & -(byteAt(truths, row) & 1)) - 1)
  }
}

/** Adds `value` and what rounding takes from the sum. */
function addExactly(sums: usize, errors: usize, group: i32, value: f64): void {
  const before = numberAt(sums, group)
  const after = before + value
  const added = after - before
  setNumber(sums, group, after)
  const lost = before - (after - added) + (value - added)
  setNumber(errors, group, numberAt(errors, group) + lost)
}

export function sumNumbers(
  values: usize,
  groups: usize,
  count: i32,
  sums: usize,
  errors: usize,
  counts: usize,
): void {
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    const group = groupIfPresent(groups, row, value)
    addExactly(sums, errors, group, value)
    increase(counts, group)
  }
}

/** Squares are added with all that rounding takes from them: products of halves of 26 bits are exact. */
export function sumSquares(
  values: usize,
  groups: usize,
  count: i32,
  squares: usize,
  errors: usize,
): void {
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    const group = groupIfPresent(groups, row, value)
    const scaled = value * 134217729
    const high = scaled - (scaled - value)
    const low = value - high
    const square = value * value
    addExactly(squares, errors, group, square)
    const lost = low * low - (square - high * high - 2 * high * low)
    setNumber(errors, group, numberAt(errors, group) + lost)
  }
}

/** Without a branch, unlike a comparison of single doubles. */
function keepLower(state: usize, value: f64): void {
  const x = f64x2.splat(value)
  v128.store64_lane(state, f64x2.pmin(v128.load64_zero(state), x), 0)
}

function keepHigher(state: usize, value: f64): void {
  const x = f64x2.splat(value)
  v128.store64_lane(state, f64x2.pmax(v128.load64_zero(state), x), 0)
}

/** Infinity stands for none; NaN is below nothing. */
export function minNumbers(values: usize, groups: usize, count: i32, lowest: usize): void {
  for (let row = 0; row < count; row++) {
    keepLower(lowest + ((<usize>codeAt(groups, row)) << 3), numberAt(values, row))
  }
}

export function maxNumbers(values: usize, groups: usize, count: i32, highest: usize): void {
  for (let row = 0; row < count; row++) {
    keepHigher(highest + ((<usize>codeAt(groups, row)) << 3), numberAt(values, row))
  }
}

/**
 * The sum of all rows, in two pairs of sums: `out` is 2 × 2 sums, 2 × 2 errors, 2 × 2 counts (64-bit
 * integers). The count of rows is a multiple of four.
 */
export function sumAll(values: usize, count: i32, out: usize): void {
  let sumA = v128.load(out)
  let sumB = v128.load(out, 16)
  let errorA = v128.load(out, 32)
  let errorB = v128.load(out, 48)
  let countA = v128.load(out, 64)
  let countB = v128.load(out, 80)
  for (let row = 0; row < count; row += 4) {
    let x = v128.load(values)
    let y = v128.load(values, 16)
    const isX = f64x2.eq(x, x)
    const isY = f64x2.eq(y, y)
    x = v128.and(x, isX)
    y = v128.and(y, isY)
    countA = i64x2.sub(countA, isX)
    countB = i64x2.sub(countB, isY)
    const afterA = f64x2.add(sumA, x)
    const addedA = f64x2.sub(afterA, sumA)
    const lostA = f64x2.add(f64x2.sub(sumA, f64x2.sub(afterA, addedA)), f64x2.sub(x, addedA))
    errorA = f64x2.add(errorA, lostA)
    sumA = afterA
    const afterB = f64x2.add(sumB, y)
    const addedB = f64x2.sub(afterB, sumB)
    const lostB = f64x2.add(f64x2.sub(sumB, f64x2.sub(afterB, addedB)), f64x2.sub(y, addedB))
    errorB = f64x2.add(errorB, lostB)
    sumB = afterB
    values += 32
  }
  v128.store(out, sumA)
  v128.store(out, sumB, 16)
  v128.store(out, errorA, 32)
  v128.store(out, errorB, 48)
  v128.store(out, countA, 64)
  v128.store(out, countB, 80)
}

/** Infinity if there is none. The count of rows is a multiple of four. */
export function minAll(values: usize, count: i32): f64 {
  let a = f64x2.splat(Infinity)
  let b = a
  for (let row = 0; row < count; row += 4) {
    a = f64x2.pmin(a, v128.load(values))
    b = f64x2.pmin(b, v128.load(values, 16))
    values += 32
  }
  a = f64x2.pmin(a, b)
  return min(f64x2.extract_lane(a, 0), f64x2.extract_lane(a, 1))
}

export function maxAll(values: usize, count: i32): f64 {
  let a = f64x2.splat(-Infinity)
  let b = a
  for (let row = 0; row < count; row += 4) {
    a = f64x2.pmax(a, v128.load(values))
    b = f64x2.pmax(b, v128.load(values, 16))
    values += 32
  }
  a = f64x2.pmax(a, b)
  return max(f64x2.extract_lane(a, 0), f64x2.extract_lane(a, 1))
}

export function countAll(values: usize, count: i32): i32 {
  let present = i64x2.splat(0)
  for (let row = 0; row < count; row += 2) {
    const x = v128.load(values)
    present = i64x2.sub(present, f64x2.eq(x, x))
    values += 16
  }
  return <i32>(i64x2.extract_lane(present, 0) + i64x2.extract_lane(present, 1))
}

/** Keeps the numbers that are present, with their groups; returns how many. */
export function keepPresent(
  values: usize,
  groups: usize,
  count: i32,
  outValues: usize,
  outGroups: usize,
): i32 {
  let kept = 0
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    setNumber(outValues, kept, value)
    setCode(outGroups, kept, codeAt(groups, row))
    kept += isPresent(value)
  }
  return kept
}

/** The same without groups. */
export function keepNumbers(values: usize, count: i32, out: usize): i32 {
  let kept = 0
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    setNumber(out, kept, value)
    kept += isPresent(value)
  }
  return kept
}
