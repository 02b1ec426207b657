import {
  beginLoop,
  inParts,
  kernels,
  maximumRows,
  place,
  placeOutput,
  takeOutput,
} from './memory.ts'

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
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      const [l, r] = [left.subarray(from, to), right.subarray(from, to)]
      calculate(operator, l, r, to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const [l, r, at] = [place(left, count), place(right, count), placeOutput(out, count)]
  switch (operator) {
    case 'add':
      kernels.addNumbers(l, r, count, at)
      break
    case 'sub':
      kernels.subtractNumbers(l, r, count, at)
      break
    case 'mul':
      kernels.multiplyNumbers(l, r, count, at)
      break
    case 'div':
      kernels.divideNumbers(l, r, count, at)
      break
  }
  takeOutput(out, count, at)
}

/** `out[i] = 0 - values[i]`: the negative of 0 is 0. */
export function negateNumbers(values: Float64Array, count: number, out: Float64Array): void {
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      negateNumbers(values.subarray(from, to), to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const at = placeOutput(out, count)
  kernels.negateNumbers(place(values, count), count, at)
  takeOutput(out, count, at)
}

/** Whole numbers next to each, on the side that is said. */
export function roundNumbers(
  operation: 'floor' | 'ceil',
  values: Float64Array,
  count: number,
  out: Float64Array,
): void {
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      roundNumbers(operation, values.subarray(from, to), to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const at = placeOutput(out, count)
  if (operation === 'floor') kernels.floorNumbers(place(values, count), count, at)
  else kernels.ceilNumbers(place(values, count), count, at)
  takeOutput(out, count, at)
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
    inParts(count, (from, to) => {
      const [l, r] = [left.subarray(from, to), right.subarray(from, to)]
      chooseNumbers(conditions.subarray(from, to), l, r, to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const [c, l, r] = [place(conditions, count), place(left, count), place(right, count)]
  const at = placeOutput(out, count)
  kernels.chooseNumbers(c, l, r, count, at)
  takeOutput(out, count, at)
}

/** Truth values as 0, 1 and NaN. */
export function numbersOfTruths(values: Uint8Array, count: number, out: Float64Array): void {
  if (count > maximumRows) {
    inParts(count, (from, to) => {
      numbersOfTruths(values.subarray(from, to), to - from, out.subarray(from, to))
    })
    return
  }
  beginLoop()
  const at = placeOutput(out, count)
  kernels.numbersOfTruths(place(values, count), count, at)
  takeOutput(out, count, at)
}
