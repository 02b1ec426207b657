import { maxAll, maxNumbers, minAll, minNumbers } from '../../kernel/aggregate.ts'
import { extremeOfStored, keepExtremesOfStored } from '../../kernel/narrow-sums.ts'
import { orderValues } from '../../type/compare.ts'
import { Timestamp, type Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { keyColumn } from '../column/key-column.ts'
import { valueBytes } from '../column/value-bytes.ts'
import { vectorOf } from '../column/wire-values.ts'
import type { Field } from '../expression/batch.ts'
import {
  type AggregateState,
  type AliveRows,
  aliveNumbers,
  areWholeBatch,
  grownState,
  storedIn,
  wholeRows,
} from './state.ts'
import type { WireState } from './wire-state.ts'

/** `min` and `max` by the total order of values; `any_value` keeps the first that comes. */
export class ExtremeState implements AggregateState {
  /** -1 keeps the lowest, 1 the highest, 0 the first. */
  readonly #direction: -1 | 0 | 1
  #type: 'number' | 'timestamp' | undefined
  /** While all values are of one such type; an infinity that none is beyond for none yet. */
  #numbers: Float64Array | undefined = new Float64Array(0)
  readonly #none: number
  #values: Value[] = []
  #groupCount = 0
  /** Of `#values`. */
  #bytes = 0

  constructor(direction: -1 | 0 | 1) {
    this.#direction = direction
    this.#none = direction < 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  }

  get heldBytes(): number {
    return this.#bytes
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    if (this.#numbers) this.#numbers = grownState(this.#numbers, groupCount, this.#none)
    while (!this.#numbers && this.#values.length < groupCount) this.#values.push(null)
  }

  update([vector]: readonly Vector[], { selection, groups, only, count }: AliveRows): void {
    if (!vector) return
    if (
      this.#numbers &&
      this.#direction !== 0 &&
      (vector.kind === 'number' || vector.kind === 'timestamp') &&
      (this.#type === undefined || this.#type === vector.kind)
    ) {
      this.#type = vector.kind
      const numbers = aliveNumbers(vector.values, selection)
      if (only !== undefined) this.#keepExtreme(this.#numbers, only, numbers, count)
      else if (this.#direction < 0) minNumbers(numbers, groups, count, this.#numbers)
      else maxNumbers(numbers, groups, count, this.#numbers)
      return
    }
    if (vector.kind === 'constant' && vector.value === null) return
    this.#box()
    const read = valueReader(vector)
    for (let j = 0; j < count; j++) this.#offer(groups[j]!, read(selection ? selection[j]! : j))
  }

  updateField(field: Field, rows: AliveRows): boolean {
    const direction = this.#direction
    const stored = storedIn(field)
    if (!stored || !this.#numbers || direction === 0 || !areWholeBatch(rows)) return false
    const { groups, only } = rows
    const { kind } = stored
    if (kind === 'dictionary') return false
    if (this.#type !== undefined && this.#type !== kind) return false
    if (only !== undefined) this.#keep(this.#numbers, only, extremeOfStored(direction, stored))
    else if (!keepExtremesOfStored(direction, stored, groups, this.#numbers)) return false
    this.#type = kind
    return true
  }

  /** Of rows that are all in one group. */
  #keepExtreme(kept: Float64Array, group: number, numbers: Float64Array, count: number): void {
    const isLowest = this.#direction < 0
    this.#keep(kept, group, isLowest ? minAll(numbers, count) : maxAll(numbers, count))
  }

  #keep(kept: Float64Array, group: number, found: number): void {
    // NaN, for none, fails the comparison.
    if (this.#direction < 0 ? found < kept[group]! : found > kept[group]!) kept[group] = found
  }

  toWire(groupCount: number): WireState {
    if (this.#numbers && this.#type) {
      return { kind: 'extremes', type: this.#type, values: this.#numbers.subarray(0, groupCount) }
    }
    this.#box()
    return { kind: 'values', values: keyColumn(this.#values.slice(0, groupCount)) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    const rows = wholeRows(groups)
    if (wire.kind === 'extremes') this.update([{ kind: wire.type, values: wire.values }], rows)
    if (wire.kind === 'values') this.update([vectorOf(wire.values)], rows)
  }

  result(group: number): Value {
    if (!this.#numbers) return this.#values[group] ?? null
    const value = this.#numbers[group]!
    if (value === this.#none) return null
    return this.#type === 'timestamp' ? new Timestamp(value) : value
  }

  writeResults(groups: Int32Array, out: Float64Array): boolean {
    const numbers = this.#numbers
    if (this.#type !== 'number' || !numbers) return false
    const none = this.#none
    for (let i = 0; i < groups.length; i++) {
      const value = numbers[groups[i]!]!
      out[i] = value === none ? Number.NaN : value
    }
    return true
  }

  #offer(group: number, value: Value): void {
    if (value === null) return
    const kept = this.#values[group]!
    if (kept !== null && orderValues(value, kept) * this.#direction <= 0) return
    this.#bytes += valueBytes(value) - valueBytes(kept)
    this.#values[group] = value
  }

  /** Changes over to values of any kind. */
  #box(): void {
    if (!this.#numbers) return
    this.#values = Array.from({ length: this.#groupCount }, (_, group) => this.result(group))
    this.#numbers = undefined
  }
}
