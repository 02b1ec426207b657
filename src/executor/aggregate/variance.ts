import { nearest, nearestRoot, unitBits, unitsOf } from '../../kernel/exact-number.ts'
import { GroupSums } from '../../kernel/group-sums.ts'
import { sequence } from '../../kernel/sequence.ts'
import { momentOf, squareNumbers } from '../../kernel/squares.ts'
import { UnitSums } from '../../kernel/unit-sums.ts'
import { finite } from '../../type/arithmetic.ts'
import type { Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'
import type { AggregateState, AliveRows } from './state.ts'
import { summandsOf } from './sum.ts'
import type { WireState } from './wire-state.ts'

/** Units of squares are those of numbers, squared. */
const squareBits = 2 * unitBits

/**
 * Variance and standard deviation, by the sums of the numbers and of their squares. Both are exact, so that the result is
 * rounded once, and neither the difference of the two nor the order of rows and tasks shows in it.
 */
export class VarianceState implements AggregateState {
  readonly #of: 'sample' | 'population'
  readonly #gives: 'variance' | 'deviation'
  readonly #sums = new GroupSums()
  /** Of squares, each as two doubles: counts mean nothing. */
  readonly #squares = new GroupSums()
  /** Of squares that doubles do not reach. */
  readonly #farSquares = new UnitSums()

  constructor(of: 'sample' | 'population', gives: 'variance' | 'deviation') {
    this.#of = of
    this.#gives = gives
  }

  resize(groupCount: number): void {
    this.#sums.resize(groupCount)
    this.#squares.resize(groupCount)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const summands = vector && summandsOf(vector, rows)
    if (!summands) return
    const { groups, count } = rows
    const { numbers, integers } = summands
    this.#sums.add(numbers, groups, count)
    const { squares, rests, far } = squareNumbers(numbers, count)
    this.#squares.add(squares, groups, count)
    this.#squares.add(rests, groups, count)
    for (const row of far) this.#addFar(groups[row]!, numbers[row]!)
    for (const [row, integer] of integers) {
      this.#sums.addOne(groups[row]!, integer)
      this.#addFar(groups[row]!, integer)
    }
  }

  toWire(groupCount: number): WireState {
    const groups = sequence(0, groupCount)
    return {
      kind: 'squares',
      sums: this.#sums.toWire(groups),
      squares: this.#squares.toWire(groups),
      farSquares: this.#farSquares.toWire(groups),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'squares') return
    this.#sums.merge(wire.sums, groups)
    this.#squares.merge(wire.squares, groups)
    this.#farSquares.merge(wire.farSquares, groups)
  }

  result(group: number): Value {
    this.#sums.settle()
    this.#squares.settle()
    const count = this.#sums.countOf(group)
    const freedom = this.#of === 'sample' ? count - 1 : count
    if (freedom <= 0) return null
    const sums = this.#sums.pairOf(group)
    if (sums && Number.isNaN(sums[0])) return null
    return finite(this.#nearby(group, count, freedom) ?? this.#exactly(group, count, freedom))
  }

  /** With some bits more than a double has; undefined when they do not tell which double is nearest. */
  #nearby(group: number, count: number, freedom: number): number | undefined {
    if (count === 1) return 0
    const sums = this.#sums.pairOf(group)
    const squares = this.#squares.pairOf(group)
    if (!sums || !squares || this.#farSquares.of(group) !== 0n) return undefined
    return momentOf(this.#gives, { count, freedom, sums, squares })
  }

  #exactly(group: number, count: number, freedom: number): number {
    const sum = this.#sums.unitsOf(group)
    const squares = (this.#squares.unitsOf(group) << BigInt(unitBits)) + this.#farSquares.of(group)
    const deviation = BigInt(count) * squares - sum * sum
    const divisor = BigInt(count) * BigInt(freedom)
    const rounded = this.#gives === 'variance' ? nearest : nearestRoot
    return rounded(deviation, divisor, squareBits)
  }

  #addFar(group: number, value: number | bigint): void {
    // An infinity, of which the sum makes NaN.
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return
    const units = unitsOf(value)
    this.#farSquares.add(group, units * units)
  }
}
