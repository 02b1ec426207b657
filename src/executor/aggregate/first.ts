import { orderValues } from '../../type/compare.ts'
import { Timestamp, type Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { grown } from '../column/grown.ts'
import { keyColumn } from '../column/key-column.ts'
import { valueBytes } from '../column/value-bytes.ts'
import { vectorOf } from '../column/wire-values.ts'
import { type AggregateState, type AliveRows, wholeRows } from './state.ts'
import type { WireState } from './wire-state.ts'

/**
 * `first` and `last`: the value, not null, whose key is lowest or highest. Rows without a key count
 * only if no other has a value; of equal keys the value that sorts first counts, so that the order of
 * reading does not show.
 */
export class FirstState implements AggregateState {
  /** -1 wants the lowest key, 1 the highest. */
  readonly #direction: -1 | 1
  readonly #values: Value[] = [null]
  readonly #keys: Value[] = [null]
  /** The keys while all of them are of one such type, as created is; NaN for none. */
  #numbers: Float64Array | undefined = new Float64Array(1).fill(Number.NaN)
  #type: 'number' | 'timestamp' | undefined
  /** Of the values and their keys. */
  #bytes = 0

  constructor(direction: -1 | 1) {
    this.#direction = direction
  }

  get heldBytes(): number {
    return this.#bytes
  }

  resize(groupCount: number): void {
    if (this.#numbers) this.#numbers = grown(this.#numbers, groupCount, Number.NaN)
    while (this.#values.length < groupCount) {
      this.#values.push(null)
      this.#keys.push(null)
    }
  }

  update([vector, key]: readonly Vector[], { selection, groups, count }: AliveRows): void {
    if (!vector || !key) return
    const valueAt = valueReader(vector)
    const keyAt = valueReader(key)
    const isNumeric = key.kind === 'number' || key.kind === 'timestamp'
    if (isNumeric && this.#numbers && (this.#type ?? key.kind) === key.kind) {
      this.#type = key.kind
      for (let j = 0; j < count; j++) {
        const row = selection ? selection[j]! : j
        const group = groups[j]!
        // Most rows come too late or too early, and are not looked at.
        if ((key.values[row]! - this.#numbers[group]!) * this.#direction < 0) continue
        this.#offer(group, keyAt(row), valueAt(row))
      }
      return
    }
    this.#numbers = undefined
    for (let j = 0; j < count; j++) {
      const row = selection ? selection[j]! : j
      this.#offer(groups[j]!, keyAt(row), valueAt(row))
    }
  }

  toWire(groupCount: number): WireState {
    return {
      kind: 'chosen',
      values: keyColumn(this.#values.slice(0, groupCount)),
      keys: keyColumn(this.#keys.slice(0, groupCount)),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'chosen') return
    this.update([vectorOf(wire.values), vectorOf(wire.keys)], wholeRows(groups))
  }

  result(group: number): Value {
    return this.#values[group] ?? null
  }

  #offer(group: number, key: Value, value: Value): void {
    if (value === null) return
    const kept = this.#values[group]!
    if (kept !== null) {
      const order = this.#orderOfKeys(key, this.#keys[group]!)
      if (order < 0 || (order === 0 && orderValues(value, kept) >= 0)) return
    }
    this.#bytes += valueBytes(value) + valueBytes(key)
    this.#bytes -= valueBytes(kept) + valueBytes(this.#keys[group]!)
    this.#values[group] = value
    this.#keys[group] = key
    if (!this.#numbers) return
    const number = key instanceof Timestamp ? key.ms : (key as number | null)
    this.#numbers[group] = number ?? Number.NaN
  }

  /** Positive when the first is wanted more. */
  #orderOfKeys(a: Value, b: Value): number {
    if (a === null || b === null) return Number(b === null) - Number(a === null)
    return orderValues(a, b) * this.#direction
  }
}
