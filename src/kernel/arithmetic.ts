import {
  applyBinary,
  applyUnary,
  beginKernel,
  inChunks,
  kernels,
  maximumRows,
  place,
  placeOutput,
  takeOutput,
} from './arena.ts'

export type NumberArithmetic = 'add' | 'sub' | 'mul' | 'div' | 'mod'

/** `out[i] = left[i] op right[i]`; null (NaN) in gives null out, and so does what is not finite. */
export function calculate(
  operator: NumberArithmetic,
  left: Float64Array,
  right: Float64Array,
  count: number,
  out: Float64Array,
): void {
  if (operator === 'mod') {
    // A remainder of nothing is finite only if both are: one with infinity is the other number.
    for (let i = 0; i < count; i++) out[i] = left[i]! % right[i]!
    return
  }
  applyBinary(left, right, count, out, byOperator[operator])
}

const byOperator = {
  add: kernels.addNumbers,
  sub: kernels.subtractNumbers,
  mul: kernels.multiplyNumbers,
  div: kernels.divideNumbers,
} as const

/** `out[i] = 0 - values[i]`: the negative of 0 is 0. */
export function negateNumbers(values: Float64Array, count: number, out: Float64Array): void {
  applyUnary(values, count, out, kernels.negateNumbers)
}

/** Whole numbers next to each, on the side that is said. */
export function roundNumbers(
  operation: 'floor' | 'ceil',
  values: Float64Array,
  count: number,
  out: Float64Array,
): void {
  const kernel = operation === 'floor' ? kernels.floorNumbers : kernels.ceilNumbers
  applyUnary(values, count, out, kernel)
}

/** `out[i] = left[i]` where the condition is true (1), else `right[i]`. */
export function chooseNumbers(
  conditions: Uint8Array,
  left: Float64Array,
  right: Float64Array,
  count: number,
  out: Float64Array,
): void {
  if (count > maximumRows) {
    inChunks(count, (from, to) => {
      const [l, r] = [left.subarray(from, to), right.subarray(from, to)]
      chooseNumbers(conditions.subarray(from, to), l, r, to - from, out.subarray(from, to))
    })
    return
  }
  beginKernel()
  const [c, l, r] = [place(conditions, count), place(left, count), place(right, count)]
  const at = placeOutput(out, count)
  kernels.chooseNumbers(c, l, r, count, at)
  takeOutput(out, count, at)
}

/** Truth values as 0, 1 and NaN. */
export function numbersOfTruths(values: Uint8Array, count: number, out: Float64Array): void {
  applyUnary(values, count, out, kernels.numbersOfTruths)
}
