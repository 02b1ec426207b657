/** Numeric functions. Integers that a double cannot hold stay exact where nothing is lost. */
import { asNumber, finite } from '../type/arithmetic.ts'
import type { Value } from '../type/value.ts'

/** Applies a function of doubles; what is no number, or has no finite result, gives null. */
export function onNumber(value: Value, apply: (number: number) => number): number | null {
  const number = asNumber(value)
  return number === null ? null : finite(apply(number))
}

export function power(base: Value, exponent: Value): number | null {
  const right = asNumber(exponent)
  return right === null ? null : onNumber(base, (left) => left ** right)
}

export function absolute(value: Value): Value {
  if (typeof value === 'bigint') return value < 0n ? -value : value
  return onNumber(value, Math.abs)
}

/** `Math.floor` and its like, which leave an integer of any size as it is. */
export function toWhole(value: Value, apply: (number: number) => number): Value {
  return typeof value === 'bigint' ? value : onNumber(value, apply)
}

/**
 * Rounds to so many decimal digits, halves away from zero; with negative digits to tens, hundreds.
 * It rounds the number's decimal text, so that 1.005 becomes 1.01 although its double is less.
 */
export function round(value: Value, digits: Value): Value {
  return toDigits(value, digits, Math.round)
}

/** Cuts off the decimal digits after so many, as `round` would round them. */
export function truncateNumber(value: Value, digits: Value): Value {
  return toDigits(value, digits, Math.trunc)
}

function toDigits(value: Value, digits: Value, toWhole: (number: number) => number): Value {
  const places = asNumber(digits)
  if (places === null || !Number.isInteger(places)) return null
  if (typeof value === 'bigint' && places >= 0) return value
  const number = asNumber(value)
  if (number === null) return null
  const scaled = scaleDecimal(Math.abs(number), places)
  // From here on a double has no digits left to round.
  if (!(scaled < 2 ** 52)) return number
  const result = scaleDecimal(toWhole(scaled), -places)
  return finite(number < 0 ? 0 - result : result)
}

/** -1, 0 or 1. */
export function signOf(value: Value): number | null {
  if (typeof value === 'bigint') return value < 0n ? -1 : 1
  return onNumber(value, (number) => Math.sign(number) + 0)
}

/** The logarithm of `number` to a base. */
export function logarithm(base: Value, number: Value): number | null {
  const left = asNumber(base)
  if (left === null) return null
  return onNumber(number, (right) => Math.log(right) / Math.log(left))
}

/** Moves the decimal point of the number's shortest text. */
function scaleDecimal(number: number, places: number): number {
  const [mantissa, exponent = '0'] = String(number).split('e')
  return Number(`${mantissa}e${Number(exponent) + places}`)
}
