/**
 * Quotients of whole numbers by a divisor without a division, which takes five times as long as a product.
 *
 * The reciprocal of the divisor is the sum of two doubles, the first of which has so few bits that its product with a
 * whole number is exact. Both products added up are off by less than what the exact quotient is away from where rounding
 * turns, so that their sum as a double is the double closest to the quotient.
 *
 * Sums of numbers that are such quotients lose nothing to rounding when they are made of two: the sum of whole numbers,
 * times the first bits of the reciprocal, and the sum of what each number is more than its own part of that, its rest, which
 * is a whole number of few bits, times some power of two. Up to 20 bits, `high` is enough for the sum of a batch; up to 26
 * bits, and for sums of any length, `high + mid` is.
 */

export interface Reciprocal {
  readonly high: number
  /** The first bits of `low`. */
  readonly mid: number
  /** What `high` is less than the reciprocal. */
  readonly low: number
  /** `high`, and `high + mid`, in two parts each, which have so few bits that products with such sums are exact. */
  readonly highParts: readonly [number, number]
  readonly parts: readonly [number, number]
}

/** Of the whole numbers of a batch of 8,192, whose rests are what `high` leaves: at most. `mid`, too, takes 0.1 ns per row. */
export const batchBits = 20

/** Of whole numbers whose rests are what `high + mid` leaves, at most: times `mid` they are exact. */
export const summableBits = 26

const doubleBits = 53

/** Of the reciprocal, those that sums of whole numbers are multiplied by. */
const factorBits = doubleBits + 1

/** By divisor and bits, as one number: each batch asks. Divisors are powers of ten. */
const known = new Map<number, Reciprocal | undefined>()

/**
 * @param divisor at most 1e9
 * @param bits of the whole numbers, at most 53
 * @returns undefined when quotients may be off
 */
export function reciprocalOf(divisor: number, bits: number): Reciprocal | undefined {
  const key = divisor * 64 + bits
  if (!known.has(key)) known.set(key, findReciprocal(divisor, bits))
  return known.get(key)
}

function findReciprocal(divisor: number, bits: number): Reciprocal | undefined {
  const highBits = doubleBits - bits
  // A quotient is at least half of an odd part's share away from where rounding turns.
  if (oddPartOf(divisor) >= 2 ** (highBits - 3)) return undefined
  // 2 ** shift times the reciprocal has `highBits` before the point.
  const shift = highBits - 1 - Math.floor(Math.log2(1 / divisor))
  const whole = 2n ** BigInt(shift)
  const of = BigInt(divisor)
  const high = whole / of
  const rest = whole - high * of
  const midBits = factorBits - highBits
  const mid = (rest << BigInt(midBits)) / of
  const unit = 2 ** -(shift + midBits)
  return {
    high: Number(high) * 2 ** -shift,
    mid: Number(mid) * unit,
    low: (Number(rest) / divisor) * 2 ** -shift,
    highParts: halvesOf(high, highBits, 2 ** -shift),
    parts: halvesOf((high << BigInt(midBits)) | mid, factorBits, unit),
  }
}

/** The upper and the lower half of so many bits. */
function halvesOf(whole: bigint, bits: number, unit: number): [number, number] {
  const lowerBits = BigInt(bits >> 1)
  const upper = (whole >> lowerBits) << lowerBits
  return [Number(upper) * unit, Number(whole - upper) * unit]
}

function oddPartOf(whole: number): number {
  let odd = whole
  while (odd % 2 === 0) odd /= 2
  return odd
}
