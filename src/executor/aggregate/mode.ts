import { countRows } from '../../kernel/aggregate.ts'
import { orderValues } from '../../type/compare.ts'
import type { Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'
import { CompositeKeys } from '../column/composite-keys.ts'
import { ValueCodes } from '../column/value-codes.ts'
import { countOf, vectorOf } from '../column/wire-values.ts'
import { checkLimit, maximumDistinctValues } from '../thread/memory-limit.ts'
import { type AggregateState, type AliveRows, grownState } from './state.ts'
import type { WireState } from './wire-state.ts'

/** `mode`: the most frequent value that is not null; of several, the one that sorts first. */
export class ModeState implements AggregateState {
  readonly #codes = new ValueCodes()
  /** (group, code of the value) */
  readonly #pairs = new CompositeKeys()
  #groupCount = 1
  /** By pair. */
  #counts: Float64Array = new Float64Array(0)
  #results: (Value | undefined)[] | undefined

  get heldBytes(): number {
    return this.#codes.heldBytes + this.#pairs.heldBytes + this.#counts.byteLength
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    if (!vector) return
    const codes = new Int32Array(rows.count)
    this.#codes.encode(vector, rows.rowCount, rows.selection, codes)
    const pairs = this.#pairsOf(rows.groups.slice(0, rows.count), codes)
    countRows(pairs, rows.count, this.#counts)
  }

  toWire(): WireState {
    return {
      kind: 'tallies',
      groups: Int32Array.from(this.#pairs.firsts),
      values: this.#codes.toWire(Int32Array.from(this.#pairs.seconds)),
      counts: this.#counts.slice(0, this.#pairs.count),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'tallies') return
    const count = countOf(wire.values)
    const codes = new Int32Array(count)
    this.#codes.encode(vectorOf(wire.values), count, undefined, codes)
    const pairs = this.#pairsOf(
      wire.groups.map((group) => groups[group]!),
      codes,
    )
    for (let i = 0; i < count; i++) this.#counts[pairs[i]!]! += wire.counts[i]!
  }

  result(group: number): Value {
    this.#results ??= this.#choose()
    return this.#results[group] ?? null
  }

  /** The pairs, in place of the groups. */
  #pairsOf(groups: Int32Array, codes: Int32Array): Int32Array {
    this.#pairs.combine(groups, this.#groupCount, codes, this.#codes.count, codes.length)
    const { count } = this.#pairs
    checkLimit(count, maximumDistinctValues, 'different values', 'filter, or use fewer groups')
    this.#counts = grownState(this.#counts, count, 0)
    return groups
  }

  #choose(): (Value | undefined)[] {
    const results: (Value | undefined)[] = []
    const highest: number[] = []
    const { firsts, seconds } = this.#pairs
    for (let pair = 0; pair < this.#pairs.count; pair++) {
      const group = firsts[pair]!
      const code = seconds[pair]!
      const count = this.#counts[pair]!
      if (code === this.#codes.nullCode || count < (highest[group] ?? 0)) continue
      const value = this.#codes.valueAt(code)
      const kept = results[group]
      if (kept !== undefined && count === highest[group] && orderValues(value, kept) >= 0) continue
      results[group] = value
      highest[group] = count
    }
    return results
  }
}
