/** An aggregate gives the same however its rows are split into tasks, and in whatever order they come. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BoundAggregate } from '../../src/binder/bound.ts'
import { createAggregateState } from '../../src/executor/aggregate/create.ts'
import type { AggregateState } from '../../src/executor/aggregate/state.ts'
import { lastingState, pickStates } from '../../src/executor/group/pick-states.ts'
import { aggregateFunctions } from '../../src/function/aggregate.ts'
import { beginStates, endBatches } from '../../src/kernel/arena.ts'
import type { Value } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import type { Vector } from '../../src/vector/vector.ts'
import { scalars, toObject } from '../support/arbitrary-value.ts'

interface Row {
  readonly group: number
  readonly value: Value
  readonly key: Value
}

const groupCount = 3

/** Of one size: what is lost to a number that is 2^100 times as large is lost in any order. */
const numbers = fc.integer({ min: -1e9, max: 1e9 }).map((number) => number / 1000)
const objects = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.oneof(numbers, fc.constant(null))))
  .map(toObject)

function rowsOf(value: fc.Arbitrary<Value>): fc.Arbitrary<readonly Row[]> {
  return fc.array(
    fc.record({
      group: fc.nat({ max: groupCount - 1 }),
      value,
      key: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 })),
    }),
    { maxLength: 40 },
  )
}

const valuesOf: Partial<Record<BoundAggregate['name'], fc.Arbitrary<Value>>> = {
  sum_entries: objects,
  avg_entries: objects,
  ...Object.fromEntries(
    (
      ['sum', 'avg', 'median', 'percentile', 'stddev', 'stddev_pop', 'variance', 'var_pop'] as const
    ).map((name) => [name, fc.oneof(numbers, fc.constant(null), fc.boolean())]),
  ),
}

const cases = aggregateFunctions
  // Any value will do, so different ones do.
  .filter(({ name }) => name !== 'any_value')
  .flatMap(({ name, distinct }) =>
    (distinct ? [false, true] : [false]).map((isDistinct) => ({ name, isDistinct })),
  )

it.each(cases)('$name, distinct: $isDistinct', ({ name, isDistinct }) => {
  const aggregate: BoundAggregate = {
    name,
    arguments: [],
    parameters: name === 'string_agg' ? [','] : [0.3],
    distinct: isDistinct,
    filter: undefined,
    type: 'json',
  }
  const splits = rowsOf(valuesOf[name] ?? scalars).chain((rows) =>
    fc.record({
      rows: fc.constant(rows),
      shuffled: fc.shuffledSubarray([...rows], { minLength: rows.length }),
      size: fc.integer({ min: 1, max: 12 }),
    }),
  )
  fc.assert(
    fc.property(splits, ({ rows, shuffled, size }) => {
      const tasks: Row[][] = []
      for (let i = 0; i < shuffled.length; i += size) tasks.push(shuffled.slice(i, i + size))
      const expected = resultsOf(aggregate, [rows])
      expect(resultsOf(aggregate, tasks)).toEqual(expected)
      expect(withStatesOfKernels(() => resultsOf(aggregate, tasks))).toEqual(expected)
    }),
    { numRuns: process.env.ASSAY_SLOW === '1' ? 20_000 : 200 },
  )
})

/** Runs it as scans and merges are run. */
function withStatesOfKernels<T>(run: () => T): T {
  beginStates()
  try {
    return run()
  } finally {
    endBatches()
  }
}

/** One result per group, of tasks that each read their rows in two batches. */
function resultsOf(aggregate: BoundAggregate, tasks: readonly (readonly Row[])[]): string[] {
  const all = createAggregateState(aggregate)
  all.resize(groupCount)
  for (const rows of tasks) {
    const state = createAggregateState(aggregate)
    const middle = rows.length >> 1
    add(state, rows.slice(0, middle))
    add(state, rows.slice(middle))
    const wire = structuredClone(lastingState(state.toWire(groupCount)))
    // Some groups may leave the task by themselves.
    for (const groups of [Int32Array.of(0, 2), Int32Array.of(1)]) {
      all.merge(pickStates(wire, groups), groups)
    }
  }
  return Array.from({ length: groupCount }, (_, group) => canonicalJson(all.result(group)))
}

function add(state: AggregateState, rows: readonly Row[]): void {
  state.resize(groupCount)
  const vector = (values: readonly Value[]): Vector => ({ kind: 'values', values })
  const groups = Int32Array.from(rows, ({ group }) => group)
  state.update([vector(rows.map((row) => row.value)), vector(rows.map((row) => row.key))], {
    rowCount: rows.length,
    selection: undefined,
    groups,
    count: rows.length,
  })
}
