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
