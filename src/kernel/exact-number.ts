/**
 * Numbers without rounding, and the doubles that are nearest to them, the even one of two that are as near. Exact sums are
 * mostly two doubles (`group-sums.ts`); what these cannot hold are whole numbers of `units`.
 */

/** A unit is 2^-1074, the least double above 0: every double is a whole number of them. */
export const unitBits = 1074

const numbers = new Float64Array(1)
const words = new BigUint64Array(numbers.buffer)
const halfWords = new Int32Array(numbers.buffer)

const fractionBits = 52n
const hiddenBit = 1n << fractionBits

/** How many units a number is, which must not be NaN or infinite. */
export function unitsOf(number: number | bigint): bigint {
  if (typeof number === 'bigint') return number << BigInt(unitBits)
  numbers[0] = number
  const bits = words[0]!
  const exponent = (bits >> fractionBits) & 0x7ffn
  const fraction = bits & (hiddenBit - 1n)
  const units = exponent === 0n ? fraction : (fraction | hiddenBit) << (exponent - 1n)
  return number < 0 ? -units : units
}

/** The least power of two, by its exponent, that is more than a number and its negative. */
export function exponentAbove(number: number): number {
  numbers[0] = number
  // The upper half comes second on all machines that Node runs on.
  return ((halfWords[1]! >>> 20) & 0x7ff) - 1022
}

/** The double nearest to `numerator / denominator / 2^shift`; an infinity beyond doubles. */
export function nearest(numerator: bigint, denominator: bigint, shift: number): number {
  const magnitude = numerator < 0n ? -numerator : numerator
  const added = 66 - (bitLength(magnitude) - bitLength(denominator))
  const { quotient, isExact } = divide(magnitude, denominator, added)
  const rounded = roundBits(quotient, isExact, -added - shift)
  return numerator < 0n ? 0 - rounded : rounded
}

/** The double nearest to the square root of that, which is not negative. */
export function nearestRoot(numerator: bigint, denominator: bigint, shift: number): number {
  let added = 132 - (bitLength(numerator) - bitLength(denominator))
  if ((added + shift) % 2 !== 0) added++
  const { quotient, isExact } = divide(numerator, denominator, added)
  const root = wholeRoot(quotient)
  return roundBits(root, isExact && root * root === quotient, -(added + shift) / 2)
}

/** The whole part of `numerator / denominator × 2^added`. */
function divide(numerator: bigint, denominator: bigint, added: number) {
  const above = added > 0 ? numerator << BigInt(added) : numerator
  const below = added > 0 ? denominator : denominator << BigInt(-added)
  const quotient = above / below
  return { quotient, isExact: quotient * below === above }
}

/**
 * `whole × 2^exponent` as a double, of more bits than that has, or 0.
 *
 * @param isExact false: it is a little more than that
 */
function roundBits(whole: bigint, isExact: boolean, exponent: number): number {
  const dropped = Math.max(bitLength(whole) - 53, -unitBits - exponent, 1)
  const half = 1n << BigInt(dropped - 1)
  const rest = whole & (2n * half - 1n)
  const kept = whole >> BigInt(dropped)
  const isUp = rest > half || (rest === half && (!isExact || (kept & 1n) === 1n))
  return Number(isUp ? kept + 1n : kept) * 2 ** (exponent + dropped)
}

/** The greatest whole number whose square is not greater. */
function wholeRoot(square: bigint): bigint {
  if (square === 0n) return 0n
  let root = BigInt(Math.floor(Math.sqrt(Number(square))))
  for (let step = 0; step < 2; step++) root = (root + square / root) >> 1n
  while (root * root > square) root--
  while ((root + 1n) * (root + 1n) <= square) root++
  return root
}

function bitLength(whole: bigint): number {
  const digits = whole.toString(16)
  return digits.length * 4 - Math.clz32(Number.parseInt(digits[0]!, 16)) + 28
}

/** Farther from 0 or nearer than these, parts of products may be beyond doubles. */
const [leastFactor, greatestFactor] = [1e-120, 1e120]

export function areFactors(...factors: readonly number[]): boolean {
  return factors.every((factor) => {
    const distance = Math.abs(factor)
    return (distance >= leastFactor && distance <= greatestFactor) || distance === 0
  })
}

/** The double nearest to `(sum + rest) / count`; an infinity beyond doubles, NaN of NaN. */
export function meanOf(sum: number, rest: number, count: number): number {
  if (Number.isNaN(sum)) return sum
  // Most sums, as those of whole numbers, are one double.
  if (rest === 0) return sum / count + 0
  const [high, low] = addExactly(sum, rest)
  if (low === 0 && Number.isFinite(high)) return high / count + 0
  if (areFactors(high, count)) {
    const quotient = high / count
    const product = quotient * count
    // What is left of the division is exact; what it is divided by loses less than a part of 2^51.
    const left = high - product - lostInProduct(quotient, count, product) + low
    const found = onlyNearest(quotient, left / count, Math.abs(left / count) * 2 ** -48)
    if (found !== undefined) return found
  }
  return nearest(unitsOf(sum) + unitsOf(rest), BigInt(count), unitBits)
}

/** The double nearest to all numbers that are `number + more`, but for `error` at most; undefined: there are several. */
export function onlyNearest(number: number, more: number, error: number): number | undefined {
  const least = number + (more - error)
  return least === number + (more + error) ? least : undefined
}

/** The rounded sum of two numbers, and what is missing from it. */
export function addExactly(a: number, b: number): [sum: number, rest: number] {
  const sum = a + b
  const added = sum - a
  return [sum, a - (sum - added) + (b - added)]
}

/** What is missing from the rounded product of two numbers, which is not too great or too small for that. */
export function lostInProduct(a: number, b: number, product: number): number {
  const [high, low] = halves(a)
  const [otherHigh, otherLow] = halves(b)
  return low * otherLow - (product - high * otherHigh - low * otherHigh - high * otherLow)
}

/** Two numbers of 26 bits whose sum is the number (Veltkamp). */
function halves(number: number): [number, number] {
  const scaled = number * 134217729
  const high = scaled - (scaled - number)
  return [high, number - high]
}
