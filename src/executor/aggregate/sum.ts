import { GroupSums } from '../../kernel/group-sums.ts'
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
import type { Field, StoredField } from '../expression/batch.ts'
import { numbersOf } from '../expression/number-operators.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import {
  type AggregateState,
  type AliveRows,
  aliveNumbers,
  areWholeBatch,
  storedIn,
} from './state.ts'
import type { WireState } from './wire-state.ts'

/** What of a sum an aggregate gives. */
export type OfSum = 'sum' | 'mean'

/** That, rounded once, of a group whose sums are settled; null when it, or one of the numbers, is too great for a double. */
export function resultOf(of: OfSum, sums: GroupSums, group: number): number | null {
  return finite(of === 'sum' ? sums.sumOf(group) : sums.meanOf(group))
}

/** `sum` and `avg`, of exact sums. */
export class SumState implements AggregateState {
  readonly #of: OfSum
  readonly #sums = new GroupSums()
  /** What is to be added to them. */
  readonly #decimals = new DecimalSums()

  constructor(of: OfSum) {
    this.#of = of
  }

  resize(groupCount: number): void {
    if (groupCount <= this.#sums.groupCount) return
    this.#decimals.flush(this.#sums)
    this.#sums.resize(groupCount)
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    const summands = vector && summandsOf(vector, rows)
    if (!summands) return
    const { groups, only, count } = rows
    if (only !== undefined) this.#sums.addTo(only, summands.numbers, count)
    else this.#sums.add(summands.numbers, groups, count)
    for (const [place, integer] of summands.integers) this.#sums.addOne(groups[place]!, integer)
  }

  updateField(field: Field, rows: AliveRows): boolean {
    const stored = storedIn(field)
    if (stored?.kind !== 'number' || !areWholeBatch(rows)) return false
    const { groups, only } = rows
    const sums = this.#sums
    if (only !== undefined) return sumStored(stored, sums, only)
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
    return { kind: 'sums', sums: this.#sums.toWire(groups, newResultNumbers) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind === 'sums') this.#sums.merge(wire.sums, groups, checkAtTimes)
  }

  result(group: number): Value {
    this.#settle()
    return this.#sums.countOf(group) === 0 ? null : resultOf(this.#of, this.#sums, group)
  }

  writeResults(groups: Int32Array, out: Float64Array): boolean {
    this.#settle()
    for (let i = 0; i < groups.length; i++) {
      const isEmpty = this.#sums.countOf(groups[i]!) === 0
      const result = isEmpty ? null : resultOf(this.#of, this.#sums, groups[i]!)
      out[i] = result ?? Number.NaN
    }
    return true
  }

  #settle(): void {
    this.#decimals.flush(this.#sums)
    this.#sums.settle()
  }
}

/** What the alive rows add to a sum, one after the other. */
export interface Summands {
  /** Numbers, booleans as 0 and 1, and NaN for anything else. */
  readonly numbers: Float64Array
  /** By place, integers that a double cannot hold: numbers have NaN there. */
  readonly integers: ReadonlyMap<number, bigint>
}

const noIntegers: ReadonlyMap<number, bigint> = new Map()

/** Undefined if there is nothing to add. */
export function summandsOf(
  vector: Vector,
  { rowCount, selection, count }: AliveRows,
): Summands | undefined {
  const known = numbersOf(vector, rowCount)
  if (known) return { numbers: aliveNumbers(known, selection), integers: noIntegers }
  if (vector.kind === 'text' || vector.kind === 'timestamp') return undefined
  const read = valueReader(vector)
  const numbers = new Float64Array(count)
  const integers = new Map<number, bigint>()
  for (let j = 0; j < count; j++) {
    const value = read(selection ? selection[j]! : j)
    if (typeof value === 'bigint') integers.set(j, value)
    numbers[j] = typeof value === 'bigint' ? Number.NaN : (asNumber(value) ?? Number.NaN)
  }
  return { numbers, integers }
}
