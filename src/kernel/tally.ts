/** Counts how often numbers occur: see `assembly/tally.ts`. */
import { beginLoop, kernels, place, placeOutput, takeOutput } from './memory.ts'

/** Numbers that have a place: `(base + i) / divisor` for `i` from 0 to before `size`. */
export interface TallyRange {
  readonly base: number
  readonly divisor: number
  readonly size: number
}

/**
 * Counts the numbers of a batch, of `maximumRows` at most, in `counts[group * size + i]`, which is a table of
 * the memory of kernels; NaN is none.
 *
 * @param groups by row, or the one that all rows are in
 * @param left takes the rows whose numbers have no place
 * @returns how many those are
 */
export function tallyNumbers(
  values: Float64Array,
  groups: Int32Array | number,
  count: number,
  { base, divisor, size }: TallyRange,
  counts: Int32Array,
  left: Int32Array,
): number {
  beginLoop()
  const first = typeof groups === 'number' ? groups * size : 0
  const of = typeof groups === 'number' ? 0 : place(groups, count)
  const at = placeOutput(left, count)
  const from = place(values, count)
  const { byteOffset } = counts
  const found = kernels.tallyNumbers(from, of, count, first, size, base, divisor, byteOffset, at)
  takeOutput(left, count, at)
  return found
}
