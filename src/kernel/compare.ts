/**
 * Comparisons of doubles, row by row. NaN is null, and gives 2 (unknown).
 *
 * Kernels of this folder take arrays and a row count, write `out`, and do not throw. Those that run
 * in WebAssembly may write a few elements beyond `count` when `out` is an array of `memory.ts`.
 */
import {
  beginLoop,
  inParts,
  kernels,
  maximumRows,
  place,
  placeOutput,
  takeOutput,
} from './memory.ts'

export type NumberComparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

/** `swapped[op]` compares the operands the other way round. */
export const swapped: Readonly<Record<NumberComparison, NumberComparison>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'gt',
  le: 'ge',
  gt: 'lt',
  ge: 'le',
}

/** Numbers from `low` to `high`, both included. */
export interface NumberRange {
  readonly low: number
  readonly high: number
}

/** The numbers that compare with `y` as asked. */
export function rangeOf(operator: Exclude<NumberComparison, 'ne'>, y: number): NumberRange {
  switch (operator) {
    case 'eq':
      return { low: y, high: y }
    case 'lt':
      return { low: Number.NEGATIVE_INFINITY, high: -nextAbove(-y) }
    case 'le':
      return { low: Number.NEGATIVE_INFINITY, high: y }
    case 'gt':
      return { low: nextAbove(y), high: Number.POSITIVE_INFINITY }
    case 'ge':
      return { low: y, high: Number.POSITIVE_INFINITY }
  }
}

const double = new Float64Array(1)
const bits = new BigInt64Array(double.buffer)

/** The least double above a finite one. */
function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  double[0] = value
  bits[0]! += value > 0 ? 1n : -1n
  return double[0]!
}

/** `out[i] = left[i] op right`. */
export function compareWithConstant(
  operator: NumberComparison,
  left: Float64Array,
  right: number,
  count: number,
  out: Uint8Array,
): void {
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      const part = left.subarray(from, to)
      compareWithConstant(operator, part, right, to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const { low, high } = rangeOf(operator === 'ne' ? 'eq' : operator, right)
  const at = placeOutput(out, count)
  kernels.compareBetween(place(left, count), low, high, count, at)
  if (operator === 'ne') kernels.notOf(at, count, at)
  takeOutput(out, count, at)
}

/** `out[i] = left[i] op right[i]`. */
export function compareNumbers(
  operator: NumberComparison,
  left: Float64Array,
  right: Float64Array,
  count: number,
  out: Uint8Array,
): void {
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      const [l, r] = [left.subarray(from, to), right.subarray(from, to)]
      compareNumbers(operator, l, r, to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const [l, r, at] = [place(left, count), place(right, count), placeOutput(out, count)]
  switch (operator) {
    case 'lt':
      kernels.compareLess(l, r, count, at)
      break
    case 'gt':
      kernels.compareLess(r, l, count, at)
      break
    case 'le':
      kernels.compareNotGreater(l, r, count, at)
      break
    case 'ge':
      kernels.compareNotGreater(r, l, count, at)
      break
    case 'eq':
      kernels.compareEqual(l, r, count, at)
      break
    case 'ne':
      kernels.compareEqual(l, r, count, at)
      kernels.notOf(at, count, at)
      break
  }
  takeOutput(out, count, at)
}

/** `out[i] = 1` where `values[i]` is null, else 0. */
export function absentNumbers(values: Float64Array, count: number, out: Uint8Array): void {
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      absentNumbers(values.subarray(from, to), to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const at = placeOutput(out, count)
  kernels.absentNumbers(place(values, count), count, at)
  takeOutput(out, count, at)
}
