/**
 * Sums, means, variances and deviations are the doubles nearest to the true values of the numbers, however these are split into
 * batches, tasks and groups, and in whatever order they come.
 */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { BoundAggregate } from '../../src/binder/bound.ts'
import { createAggregateState } from '../../src/executor/aggregate/create.ts'
import { wholeRows } from '../../src/executor/aggregate/state.ts'
import { lastingState } from '../../src/executor/group/pick-states.ts'
import { beginBatch, beginStates, endBatches } from '../../src/kernel/arena.ts'
import { nearest, nearestRoot } from '../../src/kernel/exact-number.ts'
import type { Value } from '../../src/type/value.ts'
import type { Vector } from '../../src/vector/vector.ts'
import * as oracle from '../support/exact-oracle.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const numRuns = isSlow ? 2000 : 25

afterEach(endBatches)

/** Any double, each exponent as often as any other. */
const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((word) => {
  const number = new Float64Array(BigUint64Array.of(word).buffer)[0]!
  return Number.isFinite(number) ? number : 1
})

const decimals = fc.integer({ min: -1e9, max: 1e9 }).map((number) => number / 1000)

/** Numbers that plain sums, and those of two doubles, go wrong with. */
const adversarial: Readonly<Record<string, fc.Arbitrary<number>>> = {
  decimals,
  'of any exponent': bits,
  'that cancel each other': fc.constantFrom(1e16, 1, -1e16, 1e-16, -1, 3e32, -3e32, 0.1),
  'that are least': fc.integer({ min: -100, max: 100 }).map((number) => number * 2 ** -1074),
  'that are greatest': fc.constantFrom(1.7e308, -1.7e308, 1e308, -1e308, 1e-308, 1),
  'that lie in the middle of two doubles': fc.constantFrom(
    ...[2 ** 53, 1, -1, 2 ** -1, 2 ** 53 + 2, 2 ** -60, -(2 ** -60), 2 ** -1074],
  ),
  'that lie near each other': fc.integer({ min: 0, max: 20 }).map((n) => 1e12 + n / 8),
  'of some exponents': fc
    .tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.integer({ min: -60, max: 60 }))
    .map(([number, exponent]) => number * 2 ** exponent),
  'whose squares are beyond doubles': fc.constantFrom(1e200, -1e200, 1e-200, 1, 3e-170, -0),
}

const names = ['sum', 'avg', 'variance', 'var_pop', 'stddev', 'stddev_pop'] as const

function expected(name: (typeof names)[number], numbers: readonly oracle.Exact[]): number | null {
  if (numbers.length === 0) return null
  if (name === 'sum') return oracle.nearestDouble(oracle.sumOf(numbers))
  if (name === 'avg') return oracle.nearestDouble(oracle.meanOf(numbers))
  const fewer = name.endsWith('_pop') ? 0 : 1
  if (numbers.length <= fewer) return null
  const variance = oracle.varianceOf(numbers, fewer)
  return name.startsWith('var') ? oracle.nearestDouble(variance) : oracle.nearestRoot(variance)
}

function aggregateOf(name: BoundAggregate['name'], distinct = false): BoundAggregate {
  return { name, arguments: [], parameters: [], distinct, filter: undefined, type: 'number' }
}

interface Given {
  /** In batches, each batch of a task. */
  readonly batches: readonly { readonly task: number; readonly values: readonly number[] }[]
  readonly groupCount: number
}

const sizes = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(1, 3, 8) },
  { weight: 1, arbitrary: fc.constantFrom(40, 700, 1700) },
)

/** Batches of a few rows, or of some numbers again and again, up to more than kernels take at once. */
function givenOf(numbers: fc.Arbitrary<number>): fc.Arbitrary<Given> {
  const batch = fc.record({
    task: fc.nat({ max: 2 }),
    values: fc
      .tuple(fc.array(fc.oneof({ weight: 9, arbitrary: numbers }, fc.constant(Number.NaN))), sizes)
      .map(([values, times]) => Array.from({ length: times }, () => values).flat()),
  })
  return fc.record({
    batches: fc.array(batch, { maxLength: 6 }),
    groupCount: fc.constantFrom(1, 2, 5, 300),
  })
}

function groupOf(row: number, groupCount: number): number {
  return (row * 7 + (row >> 3)) % groupCount
}

function resultsOf(name: BoundAggregate['name'], { batches, groupCount }: Given, boxed: boolean) {
  const all = createAggregateState(aggregateOf(name))
  all.resize(groupCount)
  const everyGroup = Int32Array.from({ length: groupCount }, (_, group) => group)
  for (const task of [0, 1, 2]) {
    const state = createAggregateState(aggregateOf(name))
    state.resize(groupCount)
    for (const { values } of batches.filter((batch) => batch.task === task)) {
      if (!boxed) beginBatch()
      const groups = Int32Array.from(values, (_, row) => groupOf(row, groupCount))
      const plain = values.map((value) => (Number.isNaN(value) ? null : value))
      const vector: Vector = boxed
        ? { kind: 'values', values: plain }
        : { kind: 'number', values: Float64Array.from(values) }
      const only = groupCount === 1 ? 0 : undefined
      state.update([vector], { ...wholeRows(groups), only })
    }
    const wire = structuredClone(lastingState(state.toWire(groupCount)))
    all.merge(wire, everyGroup)
  }
  return Array.from(everyGroup, (group) => all.result(group))
}

describe.each(Object.entries(adversarial))('of numbers %s', (_, numbers) => {
  it.each(names)('%s is the nearest double', (name) => {
    fc.assert(
      fc.property(givenOf(numbers), (given) => {
        const ofGroups = Array.from({ length: given.groupCount }, () => [] as number[])
        for (const { values } of given.batches) {
          for (const [row, value] of values.entries()) {
            if (!Number.isNaN(value)) ofGroups[groupOf(row, given.groupCount)]!.push(value)
          }
        }
        const wanted = ofGroups.map((values) => expected(name, values))
        expect(resultsOf(name, given, true)).toEqual(wanted)
        beginStates()
        expect(resultsOf(name, given, false)).toEqual(wanted)
      }),
      { numRuns, seed },
    )
  })
})

it.each(names)('%s takes integers of any size as they are', (name) => {
  const integers = fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.constantFrom(10n ** 400n, -(10n ** 400n)),
  )
  const beyond = integers.filter((integer) => integer > 2n ** 53n || integer < -(2n ** 53n))
  fc.assert(
    fc.property(fc.array(fc.oneof(beyond, decimals), { maxLength: 8 }), (values) => {
      const state = createAggregateState(aggregateOf(name))
      state.resize(1)
      state.update([{ kind: 'values', values }], wholeRows(new Int32Array(values.length)))
      expect(state.result(0)).toBe(expected(name, values))
    }),
    { numRuns, seed },
  )
})

it.each(['sum', 'avg'] as const)('%s of different numbers is the nearest double', (name) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(...Object.values(adversarial))), (values) => {
      const state = createAggregateState(aggregateOf(name, true))
      state.resize(1)
      state.update([{ kind: 'values', values }], wholeRows(new Int32Array(values.length)))
      expect(state.result(0)).toBe(expected(name, [...new Set(values)]))
    }),
    { numRuns, seed },
  )
})

it.each(['sum_entries', 'avg_entries'] as const)('%s has the nearest doubles', (name) => {
  const entries = fc.record({ a: fc.oneof(...Object.values(adversarial)), b: bits })
  fc.assert(
    fc.property(fc.array(entries, { minLength: 1 }), (objects) => {
      const state = createAggregateState(aggregateOf(name))
      state.resize(1)
      const values = objects as readonly Value[]
      state.update([{ kind: 'values', values }], wholeRows(new Int32Array(values.length)))
      const of = name === 'sum_entries' ? 'sum' : 'avg'
      const wanted = Object.fromEntries(
        (['a', 'b'] as const)
          .map(
            (key) =>
              [
                key,
                expected(
                  of,
                  objects.map((object) => object[key]),
                ),
              ] as const,
          )
          .filter(([, value]) => value !== null),
      )
      const result = state.result(0)
      expect(result === null ? {} : { ...(result as object) }).toEqual(wanted)
    }),
    { numRuns, seed },
  )
})

it('many rows of many groups are settled in between', () => {
  beginStates()
  const groupCount = 20_000
  const state = createAggregateState(aggregateOf('sum'))
  state.resize(groupCount)
  const rows = 8192
  const values = Float64Array.from({ length: rows }, (_, row) => (row % 7) / 10 + 2 ** (row % 9))
  for (let batch = 0; batch < 200; batch++) {
    beginBatch()
    const groups = Int32Array.from({ length: rows }, (_, row) => (row + batch * rows) % groupCount)
    state.update([{ kind: 'number', values }], wholeRows(groups))
  }
  for (const group of [0, 1, 12_345, groupCount - 1]) {
    const ofGroup: number[] = []
    for (let at = group; at < rows * 200; at += groupCount) ofGroup.push(values[at % rows]!)
    expect(state.result(group)).toBe(expected('sum', ofGroup))
  }
})

it('a number that no double is, as 1e400 is read, makes sums unknown', () => {
  for (const name of names) {
    for (const values of [
      [Number.POSITIVE_INFINITY, 1],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300],
    ]) {
      const state = createAggregateState(aggregateOf(name))
      state.resize(1)
      state.update([{ kind: 'values', values }], wholeRows(new Int32Array(values.length)))
      expect(state.result(0)).toBeNull()
    }
  }
})

it('fractions and their roots are rounded to the nearest double', () => {
  const whole = fc.bigInt({ min: 0n, max: 2n ** 300n })
  const shifts = fc.integer({ min: -400, max: 1400 })
  fc.assert(
    fc.property(whole, fc.bigInt({ min: 1n, max: 2n ** 200n }), shifts, (above, below, shift) => {
      const fraction = {
        numerator: shift < 0 ? above << BigInt(-shift) : above,
        denominator: shift < 0 ? below : below << BigInt(shift),
      }
      const finite = (number: number) => (Number.isFinite(number) ? number : null)
      expect(finite(nearest(above, below, shift))).toBe(oracle.nearestDouble(fraction))
      expect(finite(nearestRoot(above, below, shift))).toBe(oracle.nearestRoot(fraction))
    }),
    { numRuns: 4 * numRuns, seed },
  )
})
