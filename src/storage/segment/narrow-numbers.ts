/** The narrowest form that numbers and codes can be stored in without losing anything. */
import { type NarrowNumbers, type NumberScale, noNumberOf } from '../../kernel/widen.ts'

/** Codes from -1 on into a dictionary of so many texts. */
export function narrowestCodes(
  codes: Int32Array,
  distinctCount: number,
): Int8Array | Int16Array | Int32Array {
  if (distinctCount <= 2 ** 7) return new Int8Array(codes)
  if (distinctCount <= 2 ** 15) return new Int16Array(codes)
  return codes
}

export interface Integers {
  readonly integers: NarrowNumbers
  readonly scale: NumberScale
}

/** Numbers of more decimals are kept as doubles: hardly any have as many, and fit. */
const greatestDivisor = 1e9

/** Up to here each whole number is a double of its own. */
const greatestWhole = 2 ** 53

const widestSpan = 2 ** 32

/** Undefined when the numbers, of which NaN is null, are no whole ones over a power of ten, or too far apart. */
export function asIntegers(values: Float64Array): Integers | undefined {
  const decimals = decimalsOf(values)
  if (!decimals) return undefined
  const { divisor, least, greatest } = decimals
  // Rounding keeps the order.
  const form = formOf(Math.round(least * divisor), Math.round(greatest * divisor))
  if (!form) return undefined
  const { integers, base } = form(values.length)
  const none = noNumberOf(integers)
  if (divisor === 1) {
    for (let row = 0; row < values.length; row++) {
      const whole = values[row]!
      integers[row] = Number.isNaN(whole) ? none : whole - base
    }
  } else {
    for (let row = 0; row < values.length; row++) {
      const whole = Math.round(values[row]! * divisor)
      integers[row] = Number.isNaN(whole) ? none : whole - base
    }
  }
  return { integers, scale: { base, divisor } }
}

interface Decimals {
  /** The least power of ten that makes all numbers whole ones from which they come back. */
  readonly divisor: number
  readonly least: number
  readonly greatest: number
}

function decimalsOf(values: Float64Array): Decimals | undefined {
  let divisor = 1
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!
    if (Number.isNaN(value)) continue
    if (Object.is(value, -0)) return undefined
    // Most columns have whole numbers only, which need no division.
    const isWhole = divisor === 1 && Math.floor(value) === value
    while (!isWhole && Math.round(value * divisor) / divisor !== value) {
      divisor *= 10
      if (divisor > greatestDivisor) return undefined
    }
    if (value < least) least = value
    if (value > greatest) greatest = value
    if ((greatest - least) * divisor > widestSpan) return undefined
  }
  const farthest = Math.max(Math.abs(least), Math.abs(greatest)) * divisor
  return farthest <= greatestWhole / 2 ? { divisor, least, greatest } : undefined
}

type Form = (count: number) => { readonly integers: NarrowNumbers; readonly base: number }

/** The narrowest integers that hold all from `least` to `greatest`, if need be counted from a base. */
function formOf(least: number, greatest: number): Form | undefined {
  for (const make of [
    (count: number) => new Int8Array(count),
    (count: number) => new Int16Array(count),
    (count: number) => new Int32Array(count),
  ]) {
    const most = -noNumberOf(make(0)) - 1
    if (!(greatest - least <= 2 * most)) continue
    const base = least >= -most && greatest <= most ? 0 : least + most
    return (count) => ({ integers: make(count), base })
  }
  return undefined
}
