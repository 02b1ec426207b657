/** Squares of numbers as two doubles each, and variances of their sums. */
import {
  beginKernel,
  kernels,
  maximumRows,
  newNumbers,
  place,
  placeOutput,
  takeOutput,
} from './arena.ts'
import { addExactly, areFactors, lostInProduct, onlyNearest } from './exact-number.ts'

/** Numbers further from 0, or nearer, have squares that two doubles cannot hold. */
const [least, most] = [2 ** -480, 2 ** 500]

/** Squares, and what rounding has taken from them; NaN of NaN, and of numbers that have others. */
export interface Squares {
  readonly squares: Float64Array
  readonly rests: Float64Array
  /** Where these are. */
  readonly far: readonly number[]
}

export function squareNumbers(values: Float64Array, count: number): Squares {
  const [squares, rests] = [newNumbers(count), newNumbers(count)]
  const far: number[] = []
  for (let from = 0; from < count; from += maximumRows) {
    const size = Math.min(count - from, maximumRows)
    const isWhole = size === count
    const of = (array: Float64Array) => (isWhole ? array : array.subarray(from, from + size))
    const [part, ofSquares, ofRests] = [of(values), of(squares), of(rests)]
    beginKernel()
    const [at, toSquares, toRests] = [
      place(part, size),
      placeOutput(ofSquares, size),
      placeOutput(ofRests, size),
    ]
    const hasFar = kernels.squareNumbers(at, size, least, most, toSquares, toRests) !== 0
    takeOutput(ofSquares, size, toSquares)
    takeOutput(ofRests, size, toRests)
    for (let row = 0; hasFar && row < size; row++) {
      if (Number.isNaN(ofSquares[row]!) && !Number.isNaN(part[row]!)) far.push(from + row)
    }
  }
  return { squares, rests, far }
}

/** Sums of numbers and of their squares, each as two doubles. */
export interface Moments {
  readonly count: number
  /** What the sum of squares of deviations is divided by. */
  readonly freedom: number
  readonly sums: readonly [number, number]
  readonly squares: readonly [number, number]
}

/**
 * The double nearest to the variance, or to its root; undefined when the bits of two doubles do not tell which it is. Each name
 * that ends in `Rest` is what rounding has left of the number before.
 */
export function momentOf(
  gives: 'variance' | 'deviation',
  { count, freedom, sums, squares: ofSquares }: Moments,
): number | undefined {
  const [sum, sumRest] = addExactly(...sums)
  const [squares, squaresRest] = addExactly(...ofSquares)
  const divisor = count * freedom
  if (!areFactors(sum, squares, divisor) || divisor > 2 ** 53) return undefined
  const scaled = squares * count
  const scaledRest = lostInProduct(squares, count, scaled) + squaresRest * count
  const square = sum * sum
  const squareRest = lostInProduct(sum, sum, square) + 2 * sum * sumRest
  const [deviation, deviationRest] = addExactly(scaled, -square)
  // Both products lose less than a part of 2^100 of themselves.
  const error = (scaled + square) * 2 ** -100
  const [high, low] = addExactly(deviation, deviationRest + (scaledRest - squareRest))
  if (high <= 2 * error) return undefined
  const variance = high / divisor
  const product = variance * divisor
  const left = high - product - lostInProduct(variance, divisor, product) + low
  const more = left / divisor
  const moreError = error / divisor + Math.abs(more) * 2 ** -48
  if (gives === 'variance') return onlyNearest(variance, more, 2 * moreError)
  const root = Math.sqrt(variance)
  const rootSquare = root * root
  const rest = variance - rootSquare - lostInProduct(root, root, rootSquare) + more
  const rootMore = rest / (2 * root)
  // Newton's step is off by less than the square of itself.
  const rootError = moreError / root + Math.abs(rootMore) * 2 ** -48
  return onlyNearest(root, rootMore, 2 * rootError)
}
