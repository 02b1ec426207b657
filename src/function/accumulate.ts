/**
 * Accumulators: what an aggregate remembers of the values it has seen.
 *
 * Partial results meet by their states, which are plain data that can cross threads. Feeding values
 * to one accumulator, or to several whose states are merged, gives the same result; sums are kept in
 * two doubles so that this holds for them but for the last bit.
 */
import { assert } from '../error.ts'
import { asNumber, finite } from '../type/arithmetic.ts'
import { orderValues } from '../type/compare.ts'
import { fromPlain, type PlainValue, toPlain } from '../type/plain.ts'
import type { Value } from '../type/value.ts'
import { canonicalJson } from '../type/write-json.ts'
import type { AggregateName } from './aggregate.ts'

export type AccumulatorState =
  | { readonly kind: 'count'; readonly count: number }
  | {
      readonly kind: 'sum'
      readonly count: number
      readonly sum: number
      readonly compensation: number
    }
  | { readonly kind: 'value'; readonly value: PlainValue }
  | { readonly kind: 'distinct'; readonly identities: readonly string[] }
  | { readonly kind: 'numbers'; readonly numbers: Float64Array }

export interface Accumulator {
  /** Takes the argument's value in one row; null never counts. */
  add(value: Value): void
  state(): AccumulatorState
  /** Takes in what another accumulator of the same aggregate has seen. */
  merge(state: AccumulatorState): void
  result(): Value
}

/** `constants` are the aggregate's constant arguments, which the caller has checked. */
export function createAccumulator(name: AggregateName, constants: readonly Value[]): Accumulator {
  switch (name) {
    case 'count':
      return new CountAccumulator()
    case 'sum':
      return new SumAccumulator((sum) => sum)
    case 'avg':
      return new SumAccumulator((sum, count) => sum / count)
    case 'min':
      return new ValueAccumulator((value, kept) => orderValues(value, kept) < 0)
    case 'max':
      return new ValueAccumulator((value, kept) => orderValues(value, kept) > 0)
    case 'any_value':
      return new ValueAccumulator(() => false)
    case 'count_distinct':
      return new DistinctAccumulator()
    case 'percentile':
      return new PercentileAccumulator(Number(constants[0]))
    case 'median':
      return new PercentileAccumulator(0.5)
  }
}

class CountAccumulator implements Accumulator {
  #count = 0

  add(value: Value): void {
    if (value !== null) this.#count++
  }

  state(): AccumulatorState {
    return { kind: 'count', count: this.#count }
  }

  merge(state: AccumulatorState): void {
    assert(state.kind === 'count', 'merging the state of another aggregate')
    this.#count += state.count
  }

  result(): Value {
    return this.#count
  }
}

class SumAccumulator implements Accumulator {
  readonly #finish: (sum: number, count: number) => number
  #count = 0
  #sum = 0
  /** What rounding has taken from `#sum` so far. */
  #compensation = 0

  constructor(finish: (sum: number, count: number) => number) {
    this.#finish = finish
  }

  add(value: Value): void {
    const number = asNumber(value)
    if (number === null) return
    this.#count++
    this.#addNumber(number)
  }

  state(): AccumulatorState {
    return {
      kind: 'sum',
      count: this.#count,
      sum: this.#sum,
      compensation: this.#compensation,
    }
  }

  merge(state: AccumulatorState): void {
    assert(state.kind === 'sum', 'merging the state of another aggregate')
    this.#count += state.count
    this.#addNumber(state.sum)
    this.#addNumber(state.compensation)
  }

  result(): Value {
    if (this.#count === 0) return null
    return finite(this.#finish(this.#sum + this.#compensation, this.#count))
  }

  /** Knuth's two-sum: the error of the addition, exactly, whichever addend is larger. */
  #addNumber(number: number): void {
    const sum = this.#sum + number
    const added = sum - this.#sum
    this.#compensation += this.#sum - (sum - added) + (number - added)
    this.#sum = sum
  }
}

class ValueAccumulator implements Accumulator {
  readonly #isBetter: (value: Value, kept: Value) => boolean
  #value: Value = null

  constructor(isBetter: (value: Value, kept: Value) => boolean) {
    this.#isBetter = isBetter
  }

  add(value: Value): void {
    if (value === null) return
    if (this.#value === null || this.#isBetter(value, this.#value)) this.#value = value
  }

  state(): AccumulatorState {
    return { kind: 'value', value: toPlain(this.#value) }
  }

  merge(state: AccumulatorState): void {
    assert(state.kind === 'value', 'merging the state of another aggregate')
    this.add(fromPlain(state.value))
  }

  result(): Value {
    return this.#value
  }
}

class DistinctAccumulator implements Accumulator {
  readonly #identities = new Set<string>()

  add(value: Value): void {
    if (value !== null) this.#identities.add(canonicalJson(value))
  }

  state(): AccumulatorState {
    return { kind: 'distinct', identities: [...this.#identities] }
  }

  merge(state: AccumulatorState): void {
    assert(state.kind === 'distinct', 'merging the state of another aggregate')
    for (const identity of state.identities) this.#identities.add(identity)
  }

  result(): Value {
    return this.#identities.size
  }
}

class PercentileAccumulator implements Accumulator {
  readonly #share: number
  #numbers = new Float64Array(16)
  #count = 0

  constructor(share: number) {
    this.#share = share
  }

  add(value: Value): void {
    if (typeof value !== 'number' && typeof value !== 'bigint') return
    this.#reserve(this.#count + 1)
    this.#numbers[this.#count++] = Number(value)
  }

  state(): AccumulatorState {
    return { kind: 'numbers', numbers: this.#numbers.slice(0, this.#count) }
  }

  merge(state: AccumulatorState): void {
    assert(state.kind === 'numbers', 'merging the state of another aggregate')
    this.#reserve(this.#count + state.numbers.length)
    this.#numbers.set(state.numbers, this.#count)
    this.#count += state.numbers.length
  }

  result(): Value {
    return percentileOf(this.#numbers.subarray(0, this.#count), this.#share)
  }

  #reserve(count: number): void {
    if (count <= this.#numbers.length) return
    const larger = new Float64Array(Math.max(count, this.#numbers.length * 2))
    larger.set(this.#numbers.subarray(0, this.#count))
    this.#numbers = larger
  }
}

/**
 * The number at rank `share × (n − 1)` of the sorted numbers, interpolated linearly between its
 * neighbours; null of no numbers. Sorts `numbers` in place.
 */
export function percentileOf(numbers: Float64Array, share: number): number | null {
  if (numbers.length === 0) return null
  numbers.sort()
  const rank = share * (numbers.length - 1)
  const below = numbers[Math.floor(rank)]!
  const above = numbers[Math.ceil(rank)]!
  const fraction = rank - Math.floor(rank)
  const value = below + (above - below) * fraction
  // The distance of two numbers may exceed what a double holds although what lies between does not.
  return Number.isFinite(value) ? value : below * (1 - fraction) + above * fraction
}
