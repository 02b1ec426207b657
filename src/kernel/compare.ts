/**
 * Comparisons of doubles, row by row. NaN is null, and gives 2 (unknown).
 *
 * Kernels of this folder take arrays and a row count, write `out`, and do not throw. Those that run
 * in WebAssembly may write a few elements beyond `count` when `out` is an array of `arena.ts`.
 */
import { applyBinary, applyUnary, kernels } from './arena.ts'

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
  const { low, high } = rangeOf(operator === 'ne' ? 'eq' : operator, right)
  applyUnary(left, count, out, (of, rows, at) => {
    kernels.compareBetween(of, low, high, rows, at)
    if (operator === 'ne') kernels.notOf(at, rows, at)
  })
}

/** `out[i] = left[i] op right[i]`. */
export function compareNumbers(
  operator: NumberComparison,
  left: Float64Array,
  right: Float64Array,
  count: number,
  out: Uint8Array,
): void {
  applyBinary(left, right, count, out, byOperator[operator])
}

type ComparisonKernel = (left: number, right: number, count: number, out: number) => void

const byOperator: Readonly<Record<NumberComparison, ComparisonKernel>> = {
  lt: kernels.compareLess,
  gt: (left, right, count, out) => kernels.compareLess(right, left, count, out),
  le: kernels.compareNotGreater,
  ge: (left, right, count, out) => kernels.compareNotGreater(right, left, count, out),
  eq: kernels.compareEqual,
  ne: (left, right, count, out) => {
    kernels.compareEqual(left, right, count, out)
    kernels.notOf(out, count, out)
  },
}

/** `out[i] = 1` where `values[i]` is null, else 0. */
export function absentNumbers(values: Float64Array, count: number, out: Uint8Array): void {
  applyUnary(values, count, out, kernels.absentNumbers)
}
