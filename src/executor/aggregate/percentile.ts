import {
  type CountedNumbers,
  numbersOfCounts,
  percentileOfCounts,
  percentileOfParts,
  totalOf,
} from '../../function/percentile.ts'
import {
  type CollectedNumbers,
  gatherByGroup,
  keepNumbers,
  keepPresent,
} from '../../kernel/aggregate.ts'
import { maximumRows } from '../../kernel/arena.ts'
import { blockCounts } from '../../kernel/number-counts.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { Value } from '../../type/value.ts'
import type { StoredIntegers } from '../../vector/elements.ts'
import { rowsOf, type Vector, valueReader } from '../../vector/vector.ts'
import { newResultNumbers } from '../column/shared-array.ts'
import type { Field } from '../expression/batch.ts'
import { checkAtTimes, checkCancelled } from '../thread/cancelled.ts'
import { checkLimit, maximumPercentileNumbers } from '../thread/memory-limit.ts'
import { maximumPlaces, NumberCounter } from './number-counts.ts'
import { type AggregateState, type AliveRows, aliveNumbers, storedIn } from './state.ts'
import type { NumberCounts, WireState } from './wire-state.ts'

/** Groups of a batch up to which its numbers are kept group by group. */
const fewGroups = 256

/** Numbers of one batch, group by group. */
interface GroupedNumbers {
  readonly values: Float64Array
  /** By group, the place behind its last number. */
  readonly ends: Int32Array
}

/** The numbers that a task has collected: one for all percentiles of the same rows. */
export class PercentileNumbers {
  readonly #grouped: GroupedNumbers[] = []
  /** Numbers of more groups, in chunks so that none is copied to make room. */
  readonly #chunks: Chunk[] = []
  /** Where grouped numbers are put. */
  #room = { values: new Float64Array(0), count: 0 }
  readonly #counter = new NumberCounter()
  #count = 0
  #groupCount = 0
  #wire: WireState | undefined

  get heldBytes(): number {
    return 12 * this.#count + this.#counter.heldBytes
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    this.#counter.resize(groupCount)
  }

  /** False when the numbers are to be added by their values. */
  addStored(stored: StoredIntegers, rows: AliveRows): boolean {
    return this.#counter.take(stored, rows)
  }

  add(vector: Vector, rows: AliveRows): void {
    const { selection, groups, count } = rows
    checkPercentile(this.#count + count)
    const numbers = vector.kind === 'number' ? vector.values : numbersOf(vector, rows)
    const alive = aliveNumbers(numbers, selection)
    if (count <= maximumRows && this.#groupCount <= fewGroups) {
      this.#addGrouped(alive, rows)
      return
    }
    for (let from = 0; from < count; from += maximumRows) {
      const to = Math.min(count, from + maximumRows)
      const chunk = this.#chunkFor(to - from)
      const [part, ofPart] = [alive.subarray(from, to), groups.subarray(from, to)]
      const kept = keepPresent(part, ofPart, to - from, chunk, chunk.count)
      chunk.count += kept
      this.#count += kept
    }
  }

  /** In the order of their groups. No numbers must be added any more. */
  toWire(groupCount: number): WireState {
    this.#wire ??= this.#byGroup(groupCount)
    return this.#wire
  }

  #addGrouped(values: Float64Array, { groups, only, count }: AliveRows): void {
    const { length } = this.#room.values
    if (length - this.#room.count < count) {
      this.#room = { values: new Float64Array(roomFor(count, this.#count)), count: 0 }
    }
    const room = this.#room
    const ends = new Int32Array(this.#groupCount)
    let kept: number
    if (only === undefined) {
      kept = gatherByGroup(values, groups, count, room.values, room.count, ends)
    } else {
      kept = keepNumbers(values, count, room.values, room.count)
      ends.fill(kept, only)
    }
    this.#grouped.push({ values: room.values.subarray(room.count, room.count + kept), ends })
    room.count += kept
    this.#count += kept
  }

  #byGroup(groupCount: number): WireState {
    const ends = new Int32Array(groupCount)
    for (const grouped of this.#grouped) {
      let start = 0
      for (const [group, end] of grouped.ends.entries()) {
        ends[group]! += end - start
        start = end
      }
    }
    for (const { groups, count } of this.#chunks) {
      checkCancelled()
      for (let i = 0; i < count; i++) ends[groups[i]!]!++
    }
    let end = 0
    for (let group = 0; group < groupCount; group++) {
      const size = ends[group]!
      // For now where the group begins; filling moves it to the end.
      ends[group] = end
      end += size
    }
    const sorted = newResultNumbers(this.#count)
    for (const grouped of this.#grouped) {
      checkCancelled()
      let start = 0
      for (const [group, end] of grouped.ends.entries()) {
        sorted.set(grouped.values.subarray(start, end), ends[group])
        ends[group]! += end - start
        start = end
      }
    }
    for (const { values, groups, count } of this.#chunks) {
      checkCancelled()
      for (let i = 0; i < count; i++) sorted[ends[groups[i]!]!++] = values[i]!
    }
    return { kind: 'numbers', ends, values: sorted, counted: this.#counter.finish(groupCount) }
  }

  #chunkFor(rows: number): Chunk {
    const last = this.#chunks.at(-1)
    if (last && last.count + rows <= last.values.length) return last
    const size = roomFor(rows, this.#count)
    const chunk = { values: new Float64Array(size), groups: new Int32Array(size), count: 0 }
    this.#chunks.push(chunk)
    return chunk
  }
}

/** As much room again as all before, so that there are few chunks. */
function roomFor(rows: number, before: number): number {
  return Math.max(rows, Math.min(largestChunk, Math.max(1024, before)))
}

/**
 * Keeps all numbers, or counts them. What is kept is put in order of its groups once, by the task that has
 * collected it; merging only remembers which parts belong to which group.
 */
export class PercentileState implements AggregateState {
  readonly #share: number
  /** What another state adds to is not this one's to add to. */
  readonly #numbers: PercentileNumbers
  readonly #isShared: boolean
  /** What other states had collected, by group. */
  readonly #merged = new Map<number, Float64Array[]>()
  readonly #counted = new Map<number, CountedNumbers[]>()
  #mergedCount = 0
  #groupCount = 0
  #hasOwn = false
  /** A result takes a pass over its numbers, and sorting and printing both ask for it. */
  readonly #results = new Map<number, number | null>()

  /** @param first a state that takes in the same numbers */
  constructor(share: number, first?: PercentileState) {
    this.#share = share
    this.#numbers = first ? first.#numbers : new PercentileNumbers()
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
    this.#numbers.add(vector, rows)
  }

  updateField(field: Field, rows: AliveRows): boolean {
    const stored = storedIn(field)
    if (stored?.kind !== 'number') return false
    this.#hasOwn = true
    // Which of them were counted the other state tells.
    return this.#isShared || this.#numbers.addStored(stored, rows)
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
      if (start < end) addPart(this.#merged, groups[i]!, wire.values.subarray(start, end))
      start = end
    }
    if (wire.counted) this.#mergeCounts(wire.counted, groups)
  }

  #mergeCounts({ divisor, first, stride, counts, blocks }: NumberCounts, groups: Int32Array): void {
    const blocksOfGroup = stride / blockCounts
    for (let i = 0; i < groups.length; i++) {
      checkAtTimes()
      const part = {
        divisor,
        first,
        counts: counts.subarray(i * stride, (i + 1) * stride),
        blocks: blocks.subarray(i * blocksOfGroup, (i + 1) * blocksOfGroup),
      }
      if (totalOf(part) > 0) addPart(this.#counted, groups[i]!, part)
    }
  }

  result(group: number): Value {
    let result = this.#results.get(group)
    if (result === undefined) {
      this.#takeOwn()
      result = this.#resultOf(this.#merged.get(group) ?? [], this.#counted.get(group) ?? [])
      this.#results.set(group, result)
    }
    return result
  }

  #resultOf(parts: readonly Float64Array[], counted: readonly CountedNumbers[]): number | null {
    if (parts.length === 0 && areAlike(counted)) return percentileOfCounts(counted, this.#share)
    checkPercentile(counted.reduce((sum, part) => sum + totalOf(part), this.#mergedCount))
    return percentileOfParts([...parts, ...counted.map(numbersOfCounts)], this.#share)
  }

  #takeOwn(): void {
    if (!this.#hasOwn) return
    this.#hasOwn = false
    this.merge(this.#numbers.toWire(this.#groupCount), sequence(0, this.#groupCount))
  }
}

/** Whether all have numbers of one scale, near enough to be walked through. */
function areAlike(counted: readonly CountedNumbers[]): boolean {
  const [any] = counted
  if (!any || counted.some(({ divisor }) => divisor !== any.divisor)) return false
  const least = Math.min(...counted.map(({ first }) => first))
  const end = Math.max(...counted.map(({ first, counts }) => first + counts.length))
  return end - least <= 4 * maximumPlaces
}

function addPart<Part>(parts: Map<number, Part[]>, group: number, part: Part): void {
  const before = parts.get(group)
  if (before) before.push(part)
  else parts.set(group, [part])
}

interface Chunk extends CollectedNumbers {
  count: number
}

const largestChunk = 1 << 20

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

function checkPercentile(count: number): void {
  checkLimit(count, maximumPercentileNumbers, 'numbers for a percentile', 'filter the rows')
}
