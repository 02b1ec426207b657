/**
 * Updates of the states of groups, most of them of few. To add a number to a group has to wait until the one before it is
 * added, which mostly is a matter of some rows. So each group has four places here, in lanes that rows
 * take turns in, and which are put together at the end.
 *
 * Sums have 32 bytes per group, which lie in one line of the cache: the sum, 8 bytes that mean nothing, what
 * rounding took from the sum, and how many numbers were added. With lanes, `count` is a multiple of four: rows that are over are left to the
 * loops for any number of groups.
 */
import { codeAt, isPresent, numberAt, setCode, setNumber } from './memory'

const laneCount = 4
const sumShift: usize = 5

/** Fills whole 16 bytes, the last of which may go beyond the end. */
function fill(from: usize, byteLength: usize, value: f64): void {
  const pair = f64x2.splat(value)
  for (let at: usize = 0; at < byteLength; at += 16) v128.store(from + at, pair)
}

/** Adds two rows in lanes of their own; a null adds nothing. */
function addPair(values: usize, groups: usize, row: i32, first: usize, second: usize): void {
  const given = v128.load(values + ((<usize>row) << 3))
  const isThere = f64x2.eq(given, given)
  const value = v128.and(given, isThere)
  const one = v128.and(f64x2.splat(1), isThere)
  const a = first + ((<usize>codeAt(groups, row)) << sumShift)
  const b = second + ((<usize>codeAt(groups, row + 1)) << sumShift)
  const before = v128.load64_lane(b, v128.load64_zero(a), 1)
  const after = f64x2.add(before, value)
  const added = f64x2.sub(after, before)
  v128.store64_lane(a, after, 0)
  v128.store64_lane(b, after, 1)
  const lost = f64x2.add(f64x2.sub(before, f64x2.sub(after, added)), f64x2.sub(value, added))
  v128.store(a, f64x2.add(v128.load(a, 16), i64x2.shuffle(lost, one, 0, 2)), 16)
  v128.store(b, f64x2.add(v128.load(b, 16), i64x2.shuffle(lost, one, 1, 3)), 16)
}

/** Adds `value`, `count` numbers and what rounding has taken from it. */
export function addToSum(sum: usize, value: f64, error: f64, count: f64): void {
  const before = load<f64>(sum)
  const after = before + value
  const added = after - before
  store<f64>(sum, after)
  const lost = before - (after - added) + (value - added)
  store<f64>(sum, load<f64>(sum, 16) + (lost + error), 16)
  store<f64>(sum, load<f64>(sum, 24) + count, 24)
}

function addRow(values: usize, groups: usize, row: i32, sums: usize): void {
  const value = numberAt(values, row)
  const sum = sums + ((<usize>codeAt(groups, row)) << sumShift)
  if (isPresent(value)) addToSum(sum, value, 0, 1)
}

/**
 * Of few groups, or of any number. The count is even.
 *
 * @param lanes has room for 128 bytes per group; 0: rows are added to the sums one pair after the other
 */
export function sumByGroup(
  values: usize,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  sums: usize,
): void {
  const laneBytes: usize = lanes === 0 ? 0 : (<usize>groupCount) << sumShift
  fill(lanes, laneBytes * laneCount, 0)
  let a = lanes === 0 ? sums : lanes
  let c = a + 2 * laneBytes
  // One loop for both, so that the call, which is then the only one, is inlined.
  for (let row = 0; row < count; row += 2) {
    if (laneBytes === 0 && codeAt(groups, row) === codeAt(groups, row + 1)) {
      addRow(values, groups, row, sums)
      addRow(values, groups, row + 1, sums)
      continue
    }
    addPair(values, groups, row, a, a + laneBytes)
    const taken = a
    a = c
    c = taken
  }
  if (laneBytes === 0) return
  for (let lane = 0; lane < laneCount; lane++) {
    for (let group = 0; group < groupCount; group++) {
      const sum = sums + ((<usize>group) << sumShift)
      addToSum(sum, load<f64>(lanes), load<f64>(lanes, 16), load<f64>(lanes, 24))
      lanes += 1 << sumShift
    }
  }
}

/** @param lanes has room for 16 bytes per group */
export function countOfFew(
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  counts: usize,
): void {
  const laneBytes = (<usize>groupCount) << 2
  const b = lanes + laneBytes
  const c = b + laneBytes
  const d = c + laneBytes
  fill(lanes, laneBytes * laneCount, 0)
  for (let row = 0; row < count; row += 4) {
    increase(lanes, codeAt(groups, row))
    increase(b, codeAt(groups, row + 1))
    increase(c, codeAt(groups, row + 2))
    increase(d, codeAt(groups, row + 3))
  }
  for (let group = 0; group < groupCount; group++) {
    const rows = codeAt(lanes, group) + codeAt(b, group) + codeAt(c, group) + codeAt(d, group)
    setNumber(counts, group, numberAt(counts, group) + <f64>rows)
  }
}

function increase(counts: usize, group: i32): void {
  setCode(counts, group, codeAt(counts, group) + 1)
}

/** Without a branch, unlike a comparison of single doubles. */
function keepLower(lane: usize, values: usize, groups: usize, row: i32): void {
  const at = lane + ((<usize>codeAt(groups, row)) << 3)
  const value = v128.load64_zero(values + ((<usize>row) << 3))
  v128.store64_lane(at, f64x2.pmin(v128.load64_zero(at), value), 0)
}

function keepHigher(lane: usize, values: usize, groups: usize, row: i32): void {
  const at = lane + ((<usize>codeAt(groups, row)) << 3)
  const value = v128.load64_zero(values + ((<usize>row) << 3))
  v128.store64_lane(at, f64x2.pmax(v128.load64_zero(at), value), 0)
}

/** @param lanes has room for 32 bytes per group */
export function minOfFew(
  values: usize,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  lowest: usize,
): void {
  const laneBytes = (<usize>groupCount) << 3
  const b = lanes + laneBytes
  const c = b + laneBytes
  const d = c + laneBytes
  fill(lanes, laneBytes * laneCount, Infinity)
  for (let row = 0; row < count; row += 4) {
    keepLower(lanes, values, groups, row)
    keepLower(b, values, groups, row + 1)
    keepLower(c, values, groups, row + 2)
    keepLower(d, values, groups, row + 3)
  }
  for (let group = 0; group < groupCount; group++) {
    const first = min(numberAt(lanes, group), numberAt(b, group))
    const second = min(numberAt(c, group), numberAt(d, group))
    setNumber(lowest, group, min(numberAt(lowest, group), min(first, second)))
  }
}

/** @param lanes has room for 32 bytes per group */
export function maxOfFew(
  values: usize,
  groups: usize,
  count: i32,
  groupCount: i32,
  lanes: usize,
  highest: usize,
): void {
  const laneBytes = (<usize>groupCount) << 3
  const b = lanes + laneBytes
  const c = b + laneBytes
  const d = c + laneBytes
  fill(lanes, laneBytes * laneCount, -Infinity)
  for (let row = 0; row < count; row += 4) {
    keepHigher(lanes, values, groups, row)
    keepHigher(b, values, groups, row + 1)
    keepHigher(c, values, groups, row + 2)
    keepHigher(d, values, groups, row + 3)
  }
  for (let group = 0; group < groupCount; group++) {
    const first = max(numberAt(lanes, group), numberAt(b, group))
    const second = max(numberAt(c, group), numberAt(d, group))
    setNumber(highest, group, max(numberAt(highest, group), max(first, second)))
  }
}

/**
 * Writes the numbers that are present group by group. Before `ends` is room for one more, as nulls are of group
 * -1.
 *
 * @param ends by group, takes the place behind its last number
 * @returns how many they are
 */
export function gatherByGroup(
  values: usize,
  groups: usize,
  count: i32,
  groupCount: i32,
  ends: usize,
  out: usize,
): i32 {
  for (let group = -1; group < groupCount; group++) setCode(ends, group, 0)
  for (let row = 0; row < count; row++) {
    increase(ends, groupIfPresent(groups, row, numberAt(values, row)))
  }
  let present = 0
  for (let group = 0; group < groupCount; group++) {
    const size = codeAt(ends, group)
    setCode(ends, group, present)
    present += size
  }
  setCode(ends, -1, present)
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    const group = groupIfPresent(groups, row, value)
    setNumber(out, codeAt(ends, group), value)
    increase(ends, group)
  }
  return present
}

function groupIfPresent(groups: usize, row: i32, value: f64): i32 {
  return ((codeAt(groups, row) + 1) & -isPresent(value)) - 1
}
