import { sumNumbers, sumSquares } from '../../kernel/aggregate.ts'
import { finite } from '../../type/arithmetic.ts'
import type { Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'
import { type AggregateState, type AliveRows, grownState } from './state.ts'
import { summableNumbers } from './sum.ts'
import type { WireState } from './wire-state.ts'

/**
 * Variance and standard deviation, by the sums of the numbers and of their squares. Both are kept
 * with what rounding took from them, twice the digits of a double, so that neither the difference of
 * the two nor the order of rows and tasks shows in the answer.
 */
export class VarianceState implements AggregateState {
  readonly #of: 'sample' | 'population'
  readonly #finish: (variance: number) => number
  #sums: Float64Array = new Float64Array(0)
  #errors: Float64Array = new Float64Array(0)
  #squares: Float64Array = new Float64Array(0)
  #squareErrors: Float64Array = new Float64Array(0)
  #counts: Float64Array = new Float64Array(0)

  constructor(of: 'sample' | 'population', finish: (variance: number) => number) {
    this.#of = of
    this.#finish = finish
  }

  resize(groupCount: number): void {
    this.#sums = grownState(this.#sums, groupCount, 0)
    this.#errors = grownState(this.#errors, groupCount, 0)
    this.#squares = grownState(this.#squares, groupCount, 0)
    this.#squareErrors = grownState(this.#squareErrors, groupCount, 0)
    this.#counts = grownState(this.#counts, groupCount, 0)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const numbers = vector && summableNumbers(vector, rows)
    if (!numbers) return
    const { groups, count } = rows
    sumNumbers(numbers, groups, count, this.#sums, this.#errors, this.#counts)
    sumSquares(numbers, groups, count, this.#squares, this.#squareErrors)
  }

  toWire(groupCount: number): WireState {
    return {
      kind: 'squares',
      sums: this.#sums.subarray(0, groupCount),
      errors: this.#errors.subarray(0, groupCount),
      squares: this.#squares.subarray(0, groupCount),
      squareErrors: this.#squareErrors.subarray(0, groupCount),
      counts: this.#counts.subarray(0, groupCount),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'squares') return
    const ignored = new Float64Array(this.#counts.length)
    const add = (from: Float64Array, sums: Float64Array, errors: Float64Array) =>
      sumNumbers(from, groups, groups.length, sums, errors, ignored)
    add(wire.sums, this.#sums, this.#errors)
    add(wire.errors, this.#sums, this.#errors)
    add(wire.squares, this.#squares, this.#squareErrors)
    add(wire.squareErrors, this.#squares, this.#squareErrors)
    for (let i = 0; i < groups.length; i++) this.#counts[groups[i]!]! += wire.counts[i]!
  }

  result(group: number): Value {
    const count = this.#counts[group]!
    const freedom = this.#of === 'sample' ? count - 1 : count
    if (freedom <= 0) return null
    // Each number below comes with what rounding has left of it.
    const [sum, sumRest] = addExactly(this.#sums[group]!, this.#errors[group]!)
    const [squares, squaresRest] = addExactly(this.#squares[group]!, this.#squareErrors[group]!)
    const square = sum * sum
    const squareRest = lostInProduct(sum, sum, square) + 2 * sum * sumRest
    const expected = square / count
    const product = expected * count
    const divisionRest = square - product - lostInProduct(expected, count, product)
    const expectedRest = (divisionRest + squareRest) / count
    const [difference, differenceRest] = addExactly(squares, -expected)
    const deviation = difference + (differenceRest + squaresRest - expectedRest)
    return finite(this.#finish(Math.max(0, deviation) / freedom))
  }
}

/** The rounded sum of two numbers, and what is missing from it. */
function addExactly(a: number, b: number): [sum: number, rest: number] {
  const sum = a + b
  const added = sum - a
  return [sum, a - (sum - added) + (b - added)]
}

/** What is missing from the rounded product of two numbers. */
function lostInProduct(a: number, b: number, product: number): number {
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
