/** Picks the rows of a batch that may be among the first of an order, by numbers alone. */
import { batchNumber, newCodes, newNumbers, noBatch } from '../../kernel/arena.ts'
import { moveRank } from '../../kernel/rank.ts'
import type { Selection } from '../../vector/vector.ts'

export interface FirstRowsOrder {
  readonly wanted: number
  readonly descending: boolean
  /** Whether of rows with equal numbers the later ones of the batch come first. */
  readonly laterFirst: boolean
}

/** Numbers that are kept before those are chosen between. */
const leastRoom = 1024

/**
 * The rows that can be among the first `wanted` by their numbers, in the order of the batch; NaN, which
 * is null, comes last.
 */
export function firstRows(
  values: Float64Array,
  selection: Selection,
  rowCount: number,
  { wanted, descending, laterFirst }: FirstRowsOrder,
): Selection {
  const count = selection ? selection.length : rowCount
  if (count <= wanted) return selection
  if (wanted === 0) return newCodes(0)
  const kept = firstNumbers(values, selection, count, wanted, descending)
  // Nulls that are wanted tie with each other.
  const isNullWanted = kept.length < wanted
  if (isNullWanted && !laterFirst) return selection
  let last = Number.NaN
  let before = kept.length
  if (!isNullWanted) {
    last = kept[wanted - 1]!
    before = 0
    for (let i = 0; i < wanted; i++) before += +(kept[i] !== last)
  }
  let ties = laterFirst ? wanted - before : count
  // The memory of a batch has room for all; outside of one it is made for what is left.
  const isInBatch = batchNumber() !== noBatch
  const mostLeft = isInBatch ? count : countUpTo(last, values, selection, count, descending)
  const out = newCodes(laterFirst ? wanted : mostLeft)
  let start = out.length
  for (let i = count - 1; i >= 0; i--) {
    const row = selection ? selection[i]! : i
    const value = values[row]!
    const isBehind = descending ? value < last : value > last
    if (isBehind || (Number.isNaN(value) && !isNullWanted)) continue
    if (isNullWanted ? Number.isNaN(value) : value === last) {
      if (ties === 0) continue
      ties--
    }
    out[--start] = row
  }
  return out.subarray(start)
}

/** How many of the numbers do not come after `last`. */
function countUpTo(
  last: number,
  values: Float64Array,
  selection: Selection,
  count: number,
  descending: boolean,
): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const value = values[selection ? selection[i]! : i]!
    found += +(descending ? value >= last : value <= last)
  }
  return found
}

/**
 * The numbers that come first, as many as are wanted, the last of them at the end; all that are no NaN if these are
 * fewer. Most numbers are only compared with the last of those that came first so far.
 */
function firstNumbers(
  values: Float64Array,
  selection: Selection,
  count: number,
  wanted: number,
  descending: boolean,
): Float64Array {
  const room = newNumbers(Math.min(count, 2 * wanted + leastRoom))
  const sign = descending ? -1 : 1
  let length = 0
  let bound = Number.POSITIVE_INFINITY
  let isBounded = false
  for (let i = 0; i < count; i++) {
    const value = values[selection ? selection[i]! : i]! * sign
    // False for NaN.
    if (!(isBounded ? value < bound : value <= bound)) continue
    if (length === room.length) {
      moveRank(room, wanted - 1)
      length = wanted
      bound = room[wanted - 1]!
      isBounded = true
      if (!(value < bound)) continue
    }
    room[length++] = value
  }
  const found = room.subarray(0, length)
  if (length > wanted) moveRank(found, wanted - 1)
  const first = found.subarray(0, wanted)
  if (length === wanted) moveRank(first, wanted - 1)
  for (let i = 0; i < first.length; i++) first[i]! *= sign
  return first
}
