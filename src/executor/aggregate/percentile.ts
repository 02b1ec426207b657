import { percentileOf } from '../../function/percentile.ts'
import type { Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { checkLimit, maximumPercentileNumbers } from '../memory-limit.ts'
import { type AggregateState, type AliveRows, grown, type WireState } from './state.ts'

/**
 * Keeps all numbers. They are put in order of their groups once, by the task that has collected them;
 * merging only remembers which parts belong to which group.
 */
export class PercentileState implements AggregateState {
  readonly #share: number
  #groups = new Int32Array(1024)
  #values = new Float64Array(1024)
  #count = 0
  /** What other states had collected, by group. */
  readonly #merged = new Map<number, Float64Array[]>()
  #mergedCount = 0
  /** A result takes a pass over its numbers, and sorting and printing both ask for it. */
  readonly #results = new Map<number, number | null>()

  constructor(share: number) {
    this.#share = share
  }

  resize(): void {
    // Numbers are kept with their groups, however many there are.
  }

  update([vector]: readonly Vector[], { selection, groups, count }: AliveRows): void {
    if (!vector || vector.kind === 'text' || vector.kind === 'timestamp') return
    this.#reserve(count)
    if (vector.kind === 'number') {
      const { values } = vector
      for (let j = 0; j < count; j++) {
        this.#push(groups[j]!, values[selection ? selection[j]! : j]!)
      }
      return
    }
    const read = valueReader(vector)
    for (let j = 0; j < count; j++) {
      const value = read(selection ? selection[j]! : j)
      if (typeof value === 'number' || typeof value === 'bigint') {
        this.#push(groups[j]!, Number(value))
      }
    }
  }

  toWire(groupCount: number): WireState {
    const ends = new Int32Array(groupCount)
    for (let i = 0; i < this.#count; i++) ends[this.#groups[i]!]!++
    let end = 0
    for (let group = 0; group < groupCount; group++) {
      const size = ends[group]!
      // For now where the group begins; filling moves it to the end.
      ends[group] = end
      end += size
    }
    const values = new Float64Array(this.#count)
    for (let i = 0; i < this.#count; i++) values[ends[this.#groups[i]!]!++] = this.#values[i]!
    return { kind: 'numbers', ends, values }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'numbers') return
    this.#mergedCount += wire.values.length
    checkPercentile(this.#mergedCount)
    let start = 0
    for (const [i, end] of wire.ends.entries()) {
      const group = groups[i]!
      const parts = this.#merged.get(group)
      if (parts) parts.push(wire.values.subarray(start, end))
      else this.#merged.set(group, [wire.values.subarray(start, end)])
      start = end
    }
  }

  result(group: number): Value {
    let result = this.#results.get(group)
    if (result === undefined) {
      result = this.#select(group)
      this.#results.set(group, result)
    }
    return result
  }

  #select(group: number): number | null {
    const parts = this.#merged.get(group) ?? []
    const numbers = new Float64Array(parts.reduce((total, part) => total + part.length, 0))
    let at = 0
    for (const part of parts) {
      numbers.set(part, at)
      at += part.length
    }
    return percentileOf(numbers, this.#share)
  }

  #push(group: number, value: number): void {
    if (Number.isNaN(value)) return
    this.#groups[this.#count] = group
    this.#values[this.#count++] = value
  }

  #reserve(more: number): void {
    const needed = this.#count + more
    checkPercentile(needed)
    this.#groups = grown(this.#groups, needed, 0)
    this.#values = grown(this.#values, needed, 0)
  }
}

function checkPercentile(count: number): void {
  checkLimit(count, maximumPercentileNumbers, 'numbers for a percentile', 'filter the rows')
}
