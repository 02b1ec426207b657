import { sumAll, sumNumbers } from '../../kernel/aggregate.ts'
import { asNumber, finite } from '../../type/arithmetic.ts'
import type { Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { numbersOf } from '../number-operators.ts'
import {
  type AggregateState,
  type AliveRows,
  aliveNumbers,
  grownState,
  type WireState,
} from './state.ts'

/** `sum` and `avg`. */
export class SumState implements AggregateState {
  readonly #finish: (sum: number, count: number) => number
  #sums: Float64Array = new Float64Array(0)
  #errors: Float64Array = new Float64Array(0)
  #counts: Float64Array = new Float64Array(0)

  constructor(finish: (sum: number, count: number) => number) {
    this.#finish = finish
  }

  resize(groupCount: number): void {
    this.#sums = grownState(this.#sums, groupCount, 0)
    this.#errors = grownState(this.#errors, groupCount, 0)
    this.#counts = grownState(this.#counts, groupCount, 0)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const numbers = vector && summableNumbers(vector, rows)
    if (!numbers) return
    const { groups, only, count } = rows
    if (only !== undefined) {
      sumAll(numbers, count, this.#sums, this.#errors, this.#counts, only)
    } else sumNumbers(numbers, groups, count, this.#sums, this.#errors, this.#counts)
  }

  toWire(groupCount: number): WireState {
    return {
      kind: 'sums',
      sums: this.#sums.subarray(0, groupCount),
      errors: this.#errors.subarray(0, groupCount),
      counts: this.#counts.subarray(0, groupCount),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'sums') return
    const ignored = new Float64Array(this.#counts.length)
    sumNumbers(wire.sums, groups, groups.length, this.#sums, this.#errors, ignored)
    sumNumbers(wire.errors, groups, groups.length, this.#sums, this.#errors, ignored)
    for (let i = 0; i < groups.length; i++) this.#counts[groups[i]!]! += wire.counts[i]!
  }

  result(group: number): Value {
    const count = this.#counts[group]!
    if (count === 0) return null
    return finite(this.#finish(this.#sums[group]! + this.#errors[group]!, count))
  }

  results(groups: Int32Array): Float64Array {
    const results = new Float64Array(groups.length)
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!
      const count = this.#counts[group]!
      const result = this.#finish(this.#sums[group]! + this.#errors[group]!, count)
      results[i] = count > 0 && Number.isFinite(result) ? result : Number.NaN
    }
    return results
  }
}

/**
 * What the alive rows add to a sum, one after the other: numbers, booleans as 0 and 1, and NaN for
 * anything else. Undefined if none is a number.
 */
export function summableNumbers(
  vector: Vector,
  { rowCount, selection, count }: AliveRows,
): Float64Array | undefined {
  const numbers = numbersOf(vector, rowCount)
  if (numbers) return aliveNumbers(numbers, selection)
  if (vector.kind === 'text' || vector.kind === 'timestamp') return undefined
  const read = valueReader(vector)
  const found = new Float64Array(count)
  for (let j = 0; j < count; j++) {
    found[j] = asNumber(read(selection ? selection[j]! : j)) ?? Number.NaN
  }
  return found
}
