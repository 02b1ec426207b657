/**
 * Sums, means, variances and deviations as fractions of whole numbers, and the double nearest to each: what the service has
 * to answer, whatever the order of rows. Slow, and written in another way than the service.
 */

export type Exact = number | bigint

/** All doubles are whole numbers of 2^-1074. */
const unitBits = 1074n

export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

export function fractionOf(number: Exact): Fraction {
  if (typeof number === 'bigint') return { numerator: number, denominator: 1n }
  let whole = number
  let doublings = 0
  // Halves and doubles are exact where they do not become too small.
  while (!Number.isInteger(whole)) {
    whole *= 2
    doublings++
  }
  return { numerator: BigInt(whole), denominator: 1n << BigInt(doublings) }
}

function unitsOf(number: Exact): bigint {
  const { numerator, denominator } = fractionOf(number)
  return (numerator << unitBits) / denominator
}

export function sumOf(numbers: readonly Exact[]): Fraction {
  const sum = numbers.reduce((sum: bigint, number) => sum + unitsOf(number), 0n)
  return { numerator: sum, denominator: 1n << unitBits }
}

export function meanOf(numbers: readonly Exact[]): Fraction {
  const { numerator, denominator } = sumOf(numbers)
  return { numerator, denominator: denominator * BigInt(numbers.length) }
}

/** @param fewer 1 of a sample, 0 of a population */
export function varianceOf(numbers: readonly Exact[], fewer: 0 | 1): Fraction {
  const count = BigInt(numbers.length)
  const units = numbers.map(unitsOf)
  const sum = units.reduce((sum, each) => sum + each, 0n)
  // Deviations from the mean, each times the count.
  const squares = units.reduce((squares, each) => squares + (count * each - sum) ** 2n, 0n)
  return {
    numerator: squares,
    denominator: (count ** 2n * (count - BigInt(fewer))) << (2n * unitBits),
  }
}

/** Null beyond doubles. */
export function nearestDouble(exact: Fraction): number | null {
  return nearestBy((middle) => compare(middle, exact))
}

/** Of the square root. */
export function nearestRoot({ numerator, denominator }: Fraction): number | null {
  if (numerator === 0n) return 0
  const square = ({ numerator, denominator }: Fraction) => ({
    numerator: numerator < 0n ? -(numerator ** 2n) : numerator ** 2n,
    denominator: denominator ** 2n,
  })
  return nearestBy((middle) => compare(square(middle), { numerator, denominator }))
}

function compare(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  return difference < 0n ? -1 : Number(difference > 0n)
}

const word = new BigInt64Array(1)
const asNumber = new Float64Array(word.buffer)

/** Doubles in their order are the numbers of these. */
function doubleAt(place: bigint): number {
  word[0] = place < 0n ? -place | -(2n ** 63n) : place
  return asNumber[0]!
}

const infinity = 0x7ffn << 52n

/** By halving: the first double for which what lies between it and the next is not less than what is looked for. */
function nearestBy(compareMiddle: (middle: Fraction) => number): number | null {
  let [low, high] = [-infinity, infinity]
  while (low < high) {
    const place = (low + high) >> 1n
    const order = compareMiddle(middleAfter(place))
    const isBelow = order < 0 || (order === 0 && place % 2n !== 0n)
    if (isBelow) low = place + 1n
    else high = place
  }
  const found = doubleAt(low)
  return Number.isFinite(found) ? found + 0 : null
}

/** What lies in the middle of a double and the next. */
function middleAfter(place: bigint): Fraction {
  const wholeOf = (at: bigint): bigint => {
    if (at === infinity) return (2n ** 1024n) << unitBits
    return at === -infinity ? -((2n ** 1024n) << unitBits) : unitsOf(doubleAt(at))
  }
  return {
    numerator: wholeOf(place) + wholeOf(place + 1n),
    denominator: 2n << unitBits,
  }
}
