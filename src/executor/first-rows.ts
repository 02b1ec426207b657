/** Picks the rows of a batch that may be among the first of an order, by numbers alone. */
import { newCodes, newNumbers } from '../kernel/memory.ts'
import { moveRank } from '../kernel/rank.ts'
import { rowsOf, type Selection } from '../vector/vector.ts'

export interface FirstRowsOrder {
  readonly wanted: number
  readonly descending: boolean
  /** Whether of rows with equal numbers the later ones of the batch come first. */
  readonly laterFirst: boolean
}

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
  const rows = rowsOf(selection, rowCount)
  const numbers = newNumbers(count)
  let present = 0
  for (let i = 0; i < count; i++) {
    const value = values[rows[i]!]!
    numbers[present] = value
    present += +!Number.isNaN(value)
  }
  // Nulls that are wanted tie with each other.
  const isNullWanted = present < wanted
  if (isNullWanted && !laterFirst) return selection
  let last = Number.NaN
  if (!isNullWanted) {
    const rank = descending ? present - wanted : wanted - 1
    moveRank(numbers.subarray(0, present), rank)
    last = numbers[rank]!
  }
  const comesBefore = (value: number) => (descending ? value > last : value < last)
  let before = isNullWanted ? present : 0
  for (let i = 0; i < count && !isNullWanted; i++) before += +comesBefore(values[rows[i]!]!)
  let ties = laterFirst ? wanted - before : count
  const out = newCodes(count)
  let start = count
  for (let i = count - 1; i >= 0; i--) {
    const row = rows[i]!
    const value = values[row]!
    const isBefore = isNullWanted ? !Number.isNaN(value) : comesBefore(value)
    if (!isBefore) {
      const isTie = isNullWanted || value === last
      if (!isTie || ties === 0) continue
      ties--
    }
    out[--start] = row
  }
  return out.subarray(start)
}
