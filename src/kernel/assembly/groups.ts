/** Numbers groups, and chooses the row that stands for each. */
import { byteAt, codeAt, isPresent, numberAt, setCode } from './memory'

/**
 * Replaces codes by numbers that are given in the order in which codes are first seen. The place
 * before the first of the table is that of null, whose code is -1.
 *
 * @param table by code, its number; negative: none yet
 * @param next the number that is given next
 * @param places by number, the code that it was given for
 * @returns the number that is given next after these
 */
export function numberCodes(
  table: usize,
  codes: usize,
  count: i32,
  out: usize,
  next: i32,
  places: usize,
): i32 {
  for (let row = 0; row < count; row++) {
    const code = codeAt(codes, row)
    let number = codeAt(table, code)
    if (number < 0) {
      number = next++
      setCode(table, code, number)
      setCode(places, number, code)
    }
    setCode(out, row, number)
  }
  return next
}

/** Of 1024: also in `../groups.ts`. */
function slotOf(number: f64): i32 {
  const bits = reinterpret<u64>(number)
  const hash = (<u32>bits ^ (<u32>(bits >>> 32) * 0x85ebca6b)) * 0x9e3779b1
  return <i32>(hash >>> 22)
}

/**
 * Replaces numbers by the codes that they have in a table by `slotOf`, whose numbers are there for being
 * compared. One that is not there becomes -1, and NaN `ofNull`. Returns -1 if one that was written is negative,
 * else 0.
 */
export function recallCodes(
  numbers: usize,
  codes: usize,
  values: usize,
  count: i32,
  ofNull: i32,
  out: usize,
): i32 {
  let least = 0
  for (let row = 0; row < count; row++) {
    const value = numberAt(values, row)
    const slot = slotOf(value)
    const known = select<i32>(codeAt(codes, slot), -1, numberAt(numbers, slot) === value)
    const code = select<i32>(known, ofNull, isPresent(value))
    setCode(out, row, code)
    least |= code
  }
  return least >> 31
}

/** Of what is kept for a group: set when its row is no preferred one. */
const otherRank: i32 = 1 << 30
const nothing: i32 = 0x7fffffff

/**
 * Keeps the least of each group. A row's value is its rank and its order: its place `first + row`, with
 * the bits of `flip` turned over where late rows go first. Rows whose group has one of the same rank from an
 * earlier batch are left to the caller, who knows the keys of both.
 *
 * @param selection 0: all rows
 * @param preferred one byte per row, 1 for preferred ones; 0: none is
 * @param left the places among the selected rows of those that are left
 * @param changedRows, changedGroups the rows that were kept, if only for a while
 * @returns how many are left, and above 16 bits how many were kept
 */
export function chooseRows(
  groups: usize,
  selection: usize,
  preferred: usize,
  count: i32,
  first: i32,
  flip: i32,
  kept: usize,
  left: usize,
  changedRows: usize,
  changedGroups: usize,
): i32 {
  let leftCount = 0
  let changed = 0
  for (let i = 0; i < count; i++) {
    const row = selection === 0 ? i : codeAt(selection, i)
    const group = codeAt(groups, i)
    const isPreferred = preferred === 0 ? 0 : <i32>(byteAt(preferred, row) === 1)
    const value = ((first + row) ^ flip) | (isPreferred ? 0 : otherRank)
    const before = codeAt(kept, group)
    if (before !== nothing && ((before ^ value) & otherRank) === 0) {
      if (((before ^ flip) & (otherRank - 1)) < first) {
        setCode(left, leftCount++, i)
        continue
      }
    }
    if (value >= before) continue
    setCode(kept, group, value)
    setCode(changedRows, changed, row)
    setCode(changedGroups, changed, group)
    changed++
  }
  return leftCount | (changed << 16)
}
