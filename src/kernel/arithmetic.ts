export type NumberArithmetic = 'add' | 'sub' | 'mul' | 'div' | 'mod'

/** `out[i] = left[i] op right[i]`; null (NaN) in gives null out, and so does what is not finite. */
export function calculate(
  operator: NumberArithmetic,
  left: Float64Array,
  right: Float64Array,
  count: number,
  out: Float64Array,
): void {
  switch (operator) {
    case 'add':
      for (let i = 0; i < count; i++) out[i] = left[i]! + right[i]!
      break
    case 'sub':
      for (let i = 0; i < count; i++) out[i] = left[i]! - right[i]!
      break
    case 'mul':
      for (let i = 0; i < count; i++) out[i] = left[i]! * right[i]!
      break
    case 'div':
      for (let i = 0; i < count; i++) out[i] = left[i]! / right[i]!
      break
    case 'mod':
      for (let i = 0; i < count; i++) out[i] = left[i]! % right[i]!
      break
  }
  // An infinity minus itself is NaN; a finite number minus itself is 0.
  for (let i = 0; i < count; i++) out[i] = out[i]! + (out[i]! - out[i]!)
}

export function negateNumbers(values: Float64Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) out[i] = -values[i]!
}
