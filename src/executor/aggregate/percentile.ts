import { sequence } from '../../kernel/sequence.ts'
import type { Value } from '../../type/value.ts'
import { rowsOf, type Vector, valueReader } from '../../vector/vector.ts'
import { checkAtTimes } from '../cancelled.ts'
import { CollectedByGroup, checkPercentile } from './collected-numbers.ts'
import { type TalliedNumbers, tallyOfGroup } from './number-tally.ts'
import { type AggregateState, type AliveRows, aliveNumbers, type WireState } from './state.ts'
import { percentileOfAll } from './tallied-percentile.ts'

/** Numbers of one group: one by one, and counted. */
interface GroupNumbers {
  readonly parts: Float64Array[]
  readonly tallies: TalliedNumbers[]
}

/**
 * Takes all numbers, or how often each occurs. They are put in order of their groups once, by the task that has
 * collected them; merging only remembers which parts belong to which group.
 */
export class PercentileState implements AggregateState {
  readonly #share: number
  /** What another state adds to is not this one's to add to. */
  readonly #numbers: CollectedByGroup
  readonly #isShared: boolean
  /** What other states had collected, by group. */
  readonly #merged = new Map<number, GroupNumbers>()
  #mergedCount = 0
  #groupCount = 0
  #hasOwn = false
  /** A result takes a pass over its numbers, and sorting and printing both ask for it. */
  readonly #results = new Map<number, number | null>()

  /** @param first a state that takes in the same numbers */
  constructor(share: number, first?: PercentileState) {
    this.#share = share
    this.#numbers = first ? first.#numbers : new CollectedByGroup()
    this.#isShared = first !== undefined
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    this.#numbers.resize(groupCount)
  }

  get heldBytes(): number {
    return this.#isShared ? 0 : this.#numbers.heldBytes
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    this.#hasOwn = true
    if (this.#isShared) return
    if (!vector || vector.kind === 'text' || vector.kind === 'timestamp') return
    const numbers = vector.kind === 'number' ? vector.values : numbersOf(vector, rows)
    this.#numbers.add(aliveNumbers(numbers, rows.selection), rows)
  }

  toWire(groupCount: number): WireState {
    return this.#numbers.toWire(groupCount)
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'numbers') return
    this.#mergedCount += wire.values.length
    checkPercentile(this.#mergedCount)
    let start = 0
    for (const [i, end] of wire.ends.entries()) {
      checkAtTimes()
      const merged = this.#mergedOf(groups[i]!)
      if (end > start) merged.parts.push(wire.values.subarray(start, end))
      const tallied = wire.tally && tallyOfGroup(wire.tally, i)
      if (tallied) merged.tallies.push(tallied)
      start = end
    }
  }

  result(group: number): Value {
    let result = this.#results.get(group)
    if (result === undefined) {
      this.#takeOwn()
      const { parts, tallies } = this.#mergedOf(group)
      result = percentileOfAll(parts, tallies, this.#share)
      this.#results.set(group, result)
    }
    return result
  }

  #mergedOf(group: number): GroupNumbers {
    let merged = this.#merged.get(group)
    if (!merged) {
      merged = { parts: [], tallies: [] }
      this.#merged.set(group, merged)
    }
    return merged
  }

  #takeOwn(): void {
    if (!this.#hasOwn) return
    this.#hasOwn = false
    this.merge(this.#numbers.toWire(this.#groupCount), sequence(0, this.#groupCount))
  }
}

/** NaN for what is no number. */
function numbersOf(vector: Vector, { rowCount, selection }: AliveRows): Float64Array {
  const read = valueReader(vector)
  const numbers = new Float64Array(rowCount).fill(Number.NaN)
  for (const row of rowsOf(selection, rowCount)) {
    const value = read(row)
    if (typeof value === 'number' || typeof value === 'bigint') numbers[row] = Number(value)
  }
  return numbers
}
