import {
  addToSum,
  countOf,
  splitSums,
  sumByGroup,
  sumIntoGroup,
  sumOf,
  wordsPerSum,
} from '../../kernel/group-sums.ts'
import type { IntegerRange } from '../../kernel/narrow-mask.ts'
import {
  DecimalSums,
  isSummedWhere,
  sumStored,
  sumStoredWhere,
  sumWholeByGroup,
} from '../../kernel/narrow-sums.ts'
import { sequence } from '../../kernel/sequence.ts'
import { asNumber, finite } from '../../type/arithmetic.ts'
import type { Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { newResultNumbers } from '../column/shared-array.ts'
import type { StoredField } from '../expression/batch.ts'
import { numbersOf } from '../expression/number-operators.ts'
import { checkAtTimes, inCheckedChunks } from '../thread/cancelled.ts'
import {
  type AggregateState,
  type AliveRows,
  aliveNumbers,
  areWholeBatch,
  grownState,
} from './state.ts'
import type { WireState } from './wire-state.ts'

/** `sum` and `avg`. */
export class SumState implements AggregateState {
  readonly #finish: (sum: number, count: number) => number
  /** See `kernel/group-sums.ts`. */
  #sums: Float64Array = new Float64Array(0)
  /** What is to be added to them. */
  readonly #decimals = new DecimalSums()

  constructor(finish: (sum: number, count: number) => number) {
    this.#finish = finish
  }

  resize(groupCount: number): void {
    if (groupCount * wordsPerSum <= this.#sums.length) return
    this.#decimals.flush(this.#sums)
    this.#sums = grownState(this.#sums, groupCount * wordsPerSum, 0)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const numbers = vector && summableNumbers(vector, rows)
    if (!numbers) return
    const { groups, only, count } = rows
    if (only !== undefined) sumIntoGroup(numbers, count, this.#sums, only)
    else sumByGroup(numbers, groups, count, this.#sums)
  }

  takesStored(rows: AliveRows): boolean {
    return areWholeBatch(rows)
  }

  updateStored(stored: StoredField, { groups, only }: AliveRows): boolean {
    if (stored.kind !== 'number') return false
    if (only !== undefined) return sumStored(stored, this.#sums, only)
    const sums = this.#sums
    return sumWholeByGroup(stored, groups, sums) || this.#decimals.add(stored, groups, sums)
  }

  takesWhere(stored: StoredField): boolean {
    return stored.kind === 'number' && isSummedWhere(stored)
  }

  updateStoredWhere(stored: StoredField, where: Uint8Array | IntegerRange): number {
    return sumStoredWhere(stored, where, this.#sums, 0)!
  }

  toWire(groupCount: number): WireState {
    return this.toWireOf(sequence(0, groupCount))
  }

  toWireOf(groups: Int32Array): WireState {
    this.#decimals.flush(this.#sums)
    const parts = {
      sums: newResultNumbers(groups.length),
      errors: newResultNumbers(groups.length),
      counts: newResultNumbers(groups.length),
    }
    inCheckedChunks(groups.length, (from, to) => {
      splitSums(this.#sums, groups.subarray(from, to), {
        sums: parts.sums.subarray(from, to),
        errors: parts.errors.subarray(from, to),
        counts: parts.counts.subarray(from, to),
      })
    })
    return { kind: 'sums', ...parts }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'sums') return
    const { sums, errors, counts } = wire
    for (let i = 0; i < groups.length; i++) {
      checkAtTimes()
      addToSum(this.#sums, groups[i]!, sums[i]!, errors[i]!, counts[i]!)
    }
  }

  result(group: number): Value {
    this.#decimals.flush(this.#sums)
    const count = countOf(this.#sums, group)
    if (count === 0) return null
    return finite(this.#finish(sumOf(this.#sums, group), count))
  }

  writeResults(groups: Int32Array, out: Float64Array): boolean {
    this.#decimals.flush(this.#sums)
    for (let i = 0; i < groups.length; i++) {
      const count = countOf(this.#sums, groups[i]!)
      const result = this.#finish(sumOf(this.#sums, groups[i]!), count)
      out[i] = count > 0 && Number.isFinite(result) ? result : Number.NaN
    }
    return true
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
