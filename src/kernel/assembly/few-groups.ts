/**
 * Updates of the states of groups, most of them of few. To add a number to a group has to wait until the one before it is
 * added, which mostly is a matter of some rows. So each group has four places here, in lanes that rows
 * take turns in, and which are put together at the end. `count` is a multiple of four: rows that are over are left to
 * the loops for any number of groups.
 */
import { codeAt, isPresent, numberAt, setCode, setNumber } from './memory'

const laneCount = 4

/** Fills whole 16 bytes, the last of which may go beyond the end. */
function fill(from: usize, byteLength: usize, value: f64): void {
  const pair = f64x2.splat(value)
  for (let at: usize = 0; at < byteLength; at += 16) v128.store(from + at, pair)
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
