/**
 * Quotients of whole numbers without a division, which takes five times as long as a product.
 *
 * The reciprocal of a divisor is the sum of two doubles, the first of which has so few bits that its product with a whole
 * number is exact. Both products added up are off by less than what the exact quotient is away from where rounding
 * turns, so that their sum as a double is the double closest to the quotient.
 *
 * Sums of such numbers are exact, too, where whole numbers have `summableBits`: that of the whole numbers, times the
 * first double, and that of what each number is more than its own part of that, of which so many rows as a batch has lose
 * nothing.
 */

export interface Reciprocal {
  readonly high: number
  readonly low: number
}

const doubleBits = 53

/** Of a divisor, at most: times `high` it is exact. */
const divisorBits = 20

/** Of the whole numbers of a batch of 8,192 that can be added up, at most. */
export const summableBits = 20

/**
 * @param bits of the whole numbers
 * @returns undefined when quotients may be off
 */
export function reciprocalOf(divisor: number, bits: number): Reciprocal | undefined {
  const highBits = doubleBits - Math.max(bits, summableBits)
  if (divisor >= 2 ** Math.min(divisorBits, highBits - 2)) return undefined
  const unit = 2 ** (Math.floor(Math.log2(1 / divisor)) + 1 - highBits)
  const high = Math.floor(1 / divisor / unit) * unit
  return { high, low: (1 - high * divisor) / divisor }
}

export interface SummableReciprocal extends Reciprocal {
  /** The two halves of `high`, each of so few bits that its product with a batch's sum of whole numbers is exact. */
  readonly halves: readonly [number, number]
}

/** By divisor; undefined where there is none. They are powers of ten. */
const summable = new Map<number, SummableReciprocal | undefined>()

/** For sums of whole numbers of `summableBits`; undefined when quotients may be off. */
export function summableReciprocal(divisor: number): SummableReciprocal | undefined {
  if (summable.has(divisor)) return summable.get(divisor)
  const reciprocal = reciprocalOf(divisor, summableBits)
  const found = reciprocal && { ...reciprocal, halves: halvesOf(reciprocal.high) }
  summable.set(divisor, found)
  return found
}

const halfBits = 17

function halvesOf(high: number): [number, number] {
  const unit = 2 ** (Math.floor(Math.log2(high)) + 1 - halfBits)
  const first = Math.floor(high / unit) * unit
  return [first, high - first]
}
