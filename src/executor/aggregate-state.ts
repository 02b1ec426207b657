/**
 * States of aggregates, for all groups at once. A task fills them; their wire form is plain data, and
 * merging it into another state of the same aggregate gives what one task over all rows would have.
 */
import type { BoundAggregate } from '../binder/bound.ts'
import { percentileOf } from '../function/percentile.ts'
import {
  countNumbers,
  countRows,
  maxNumbers,
  minNumbers,
  sumAll,
  sumNumbers,
} from '../kernel/aggregate.ts'
import { pickNumbers } from '../kernel/gather.ts'
import { asNumber, finite } from '../type/arithmetic.ts'
import { orderValues } from '../type/compare.ts'
import { fromPlain, type PlainValue, toPlain } from '../type/plain.ts'
import { Timestamp, type Value } from '../type/value.ts'
import { type Selection, unknown, type Vector, valueReader } from '../vector/vector.ts'
import { checkLimit, maximumPercentileNumbers } from './memory-limit.ts'
import { numbersOf } from './number-operators.ts'
import { ValueCodes } from './value-codes.ts'
import { countOf, vectorOf, type WireValues } from './wire-values.ts'

export type WireState =
  | { readonly kind: 'counts'; readonly counts: Float64Array }
  | {
      readonly kind: 'sums'
      readonly sums: Float64Array
      readonly errors: Float64Array
      readonly counts: Float64Array
    }
  | {
      readonly kind: 'extremes'
      readonly type: 'number' | 'timestamp'
      readonly values: Float64Array
    }
  | { readonly kind: 'values'; readonly values: readonly PlainValue[] }
  /** The i-th value occurs in group `groups[i]`. */
  | { readonly kind: 'pairs'; readonly groups: Int32Array; readonly values: WireValues }
  /** Numbers by group; those of group `i` end at `ends[i]`, where the next group's begin. */
  | { readonly kind: 'numbers'; readonly ends: Int32Array; readonly values: Float64Array }

/** The rows of a batch that an aggregate takes in. */
export interface AliveRows {
  readonly rowCount: number
  readonly selection: Selection
  /** Group of each alive row, one after the other. */
  readonly groups: Int32Array
  /** How many rows are alive. */
  readonly count: number
}

export interface AggregateState {
  /** Makes room for this many groups. */
  resize(groupCount: number): void
  /** `vector` is the argument; undefined counts rows. */
  update(vector: Vector | undefined, rows: AliveRows): void
  toWire(groupCount: number): WireState
  /** Group `i` of the wire form is group `groups[i]` here. */
  merge(wire: WireState, groups: Int32Array): void
  result(group: number): Value
}

export function createAggregateState(aggregate: BoundAggregate): AggregateState {
  switch (aggregate.name) {
    case 'count':
      return new CountState()
    case 'sum':
      return new SumState((sum) => sum)
    case 'avg':
      return new SumState((sum, count) => sum / count)
    case 'min':
      return new ExtremeState(-1)
    case 'max':
      return new ExtremeState(1)
    case 'any_value':
      return new ExtremeState(0)
    case 'count_distinct':
      return new DistinctState()
    case 'percentile':
    case 'median':
      return new PercentileState(aggregate.parameters[0]!)
  }
}

class CountState implements AggregateState {
  #counts = new Float64Array(1)
  #groupCount = 1

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    this.#counts = grown(this.#counts, groupCount, 0)
  }

  update(vector: Vector | undefined, { rowCount, selection, groups, count }: AliveRows): void {
    if (!vector) {
      if (this.#groupCount === 1) this.#counts[0]! += count
      else countRows(groups, count, this.#counts)
      return
    }
    if (vector.kind === 'number' || vector.kind === 'timestamp') {
      countNumbers(aliveNumbers(vector.values, selection), groups, count, this.#counts)
      return
    }
    const isNull = nullTest(vector, rowCount)
    for (let j = 0; j < count; j++) {
      if (!isNull(selection ? selection[j]! : j)) this.#counts[groups[j]!]!++
    }
  }

  toWire(groupCount: number): WireState {
    return { kind: 'counts', counts: this.#counts.slice(0, groupCount) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'counts') return
    for (let i = 0; i < groups.length; i++) this.#counts[groups[i]!]! += wire.counts[i]!
  }

  result(group: number): Value {
    return this.#counts[group]!
  }
}

class SumState implements AggregateState {
  readonly #finish: (sum: number, count: number) => number
  #sums = new Float64Array(1)
  #errors = new Float64Array(1)
  #counts = new Float64Array(1)
  #groupCount = 1

  constructor(finish: (sum: number, count: number) => number) {
    this.#finish = finish
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    this.#sums = grown(this.#sums, groupCount, 0)
    this.#errors = grown(this.#errors, groupCount, 0)
    this.#counts = grown(this.#counts, groupCount, 0)
  }

  update(vector: Vector | undefined, { rowCount, selection, groups, count }: AliveRows): void {
    if (!vector) return
    let numbers = numbersOf(vector, rowCount)
    if (numbers) {
      numbers = aliveNumbers(numbers, selection)
    } else {
      if (vector.kind === 'text' || vector.kind === 'timestamp') return
      const read = valueReader(vector)
      numbers = new Float64Array(count)
      for (let j = 0; j < count; j++) {
        numbers[j] = asNumber(read(selection ? selection[j]! : j)) ?? Number.NaN
      }
    }
    if (this.#groupCount === 1) sumAll(numbers, count, this.#sums, this.#errors, this.#counts)
    else sumNumbers(numbers, groups, count, this.#sums, this.#errors, this.#counts)
  }

  toWire(groupCount: number): WireState {
    return {
      kind: 'sums',
      sums: this.#sums.slice(0, groupCount),
      errors: this.#errors.slice(0, groupCount),
      counts: this.#counts.slice(0, groupCount),
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
}

/** `min` and `max` by the total order of values; `any_value` keeps the first that comes. */
class ExtremeState implements AggregateState {
  /** -1 keeps the lowest, 1 the highest, 0 the first. */
  readonly #direction: -1 | 0 | 1
  #type: 'number' | 'timestamp' | undefined
  /** While all values are of one such type; NaN for none yet. */
  #numbers: Float64Array | undefined = new Float64Array(1).fill(Number.NaN)
  #values: Value[] = []
  #groupCount = 1

  constructor(direction: -1 | 0 | 1) {
    this.#direction = direction
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    if (this.#numbers) this.#numbers = grown(this.#numbers, groupCount, Number.NaN)
    while (!this.#numbers && this.#values.length < groupCount) this.#values.push(null)
  }

  update(vector: Vector | undefined, { selection, groups, count }: AliveRows): void {
    if (!vector) return
    if (
      this.#numbers &&
      this.#direction !== 0 &&
      (vector.kind === 'number' || vector.kind === 'timestamp') &&
      (this.#type === undefined || this.#type === vector.kind)
    ) {
      this.#type = vector.kind
      const numbers = aliveNumbers(vector.values, selection)
      if (this.#direction < 0) minNumbers(numbers, groups, count, this.#numbers)
      else maxNumbers(numbers, groups, count, this.#numbers)
      return
    }
    if (vector.kind === 'constant' && vector.value === null) return
    this.#box()
    const read = valueReader(vector)
    for (let j = 0; j < count; j++) this.#offer(groups[j]!, read(selection ? selection[j]! : j))
  }

  toWire(groupCount: number): WireState {
    if (this.#numbers && this.#type) {
      return { kind: 'extremes', type: this.#type, values: this.#numbers.slice(0, groupCount) }
    }
    this.#box()
    return { kind: 'values', values: this.#values.slice(0, groupCount).map(toPlain) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    const rows = { rowCount: groups.length, selection: undefined, groups, count: groups.length }
    if (wire.kind === 'extremes') this.update({ kind: wire.type, values: wire.values }, rows)
    if (wire.kind === 'values') {
      this.update({ kind: 'values', values: wire.values.map(fromPlain) }, rows)
    }
  }

  result(group: number): Value {
    if (!this.#numbers) return this.#values[group] ?? null
    const value = this.#numbers[group]!
    if (Number.isNaN(value)) return null
    return this.#type === 'timestamp' ? new Timestamp(value) : value
  }

  #offer(group: number, value: Value): void {
    if (value === null) return
    const kept = this.#values[group]!
    if (kept === null || orderValues(value, kept) * this.#direction > 0) this.#values[group] = value
  }

  /** Changes over to values of any kind. */
  #box(): void {
    if (!this.#numbers) return
    this.#values = Array.from({ length: this.#groupCount }, (_, group) => this.result(group))
    this.#numbers = undefined
  }
}

class DistinctState implements AggregateState {
  readonly #codes = new ValueCodes()
  /** Codes that occur in each group; undefined while there is one group, which has them all. */
  #groups: Set<number>[] | undefined

  resize(groupCount: number): void {
    if (groupCount === 1 && !this.#groups) return
    this.#groups ??= [new Set(allCodes(this.#codes))]
    while (this.#groups.length < groupCount) this.#groups.push(new Set())
  }

  update(vector: Vector | undefined, { rowCount, selection, groups, count }: AliveRows): void {
    if (!vector) return
    const codes = new Int32Array(count)
    this.#codes.encode(vector, rowCount, selection, codes)
    if (!this.#groups) return
    let [lastGroup, lastCode] = [-1, -1]
    for (let j = 0; j < count; j++) {
      const [group, code] = [groups[j]!, codes[j]!]
      if (group === lastGroup && code === lastCode) continue
      this.#groups[group]!.add(code)
      lastGroup = group
      lastCode = code
    }
  }

  toWire(groupCount: number): WireState {
    const groups: number[] = []
    const found: number[] = []
    for (let group = 0; group < groupCount; group++) {
      for (const code of this.#groups?.[group] ?? allCodes(this.#codes)) {
        groups.push(group)
        found.push(code)
      }
    }
    const values = this.#codes.toWire(Int32Array.from(found))
    return { kind: 'pairs', groups: Int32Array.from(groups), values }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'pairs') return
    const count = countOf(wire.values)
    const pairGroups = wire.groups.map((group) => groups[group]!)
    const rows = { rowCount: count, selection: undefined, groups: pairGroups, count }
    this.update(vectorOf(wire.values), rows)
  }

  result(group: number): Value {
    const { nullCode, count } = this.#codes
    if (!this.#groups) return count - (nullCode >= 0 ? 1 : 0)
    const codes = this.#groups[group]!
    return codes.size - (nullCode >= 0 && codes.has(nullCode) ? 1 : 0)
  }
}

function allCodes({ count }: ValueCodes): Int32Array {
  return Int32Array.from({ length: count }, (_, code) => code)
}

/**
 * Keeps all numbers. They are put in order of their groups once, by the task that has collected them;
 * merging only remembers which parts belong to which group.
 */
class PercentileState implements AggregateState {
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

  update(vector: Vector | undefined, { selection, groups, count }: AliveRows): void {
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

function aliveNumbers(values: Float64Array, selection: Selection): Float64Array {
  if (!selection) return values
  const alive = new Float64Array(selection.length)
  pickNumbers(values, selection, alive)
  return alive
}

function nullTest(vector: Vector, rowCount: number): (row: number) => boolean {
  switch (vector.kind) {
    case 'dictionary':
      return (row) => vector.codes[row]! < 0
    case 'boolean':
      return (row) => vector.values[row] === unknown
    case 'text': {
      const valid = vector.valid ?? new Uint8Array(rowCount).fill(1)
      return (row) => valid[row] === 0
    }
    default: {
      const read = valueReader(vector)
      return (row) => read(row) === null
    }
  }
}

/** The array, or a larger copy of it whose new elements are `fill`. */
function grown<T extends Float64Array | Int32Array>(array: T, length: number, fill: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (length: number) => T)(
    Math.max(length, array.length * 2),
  )
  if (fill !== 0) larger.fill(fill)
  larger.set(array)
  return larger
}
