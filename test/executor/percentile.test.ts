/** Percentiles are those of all numbers, however tasks collected them, and however many are equal. */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { PercentileState } from '../../src/executor/aggregate/percentile.ts'
import { lastingState, pickStates } from '../../src/executor/group/pick-states.ts'
import { percentileOf } from '../../src/function/percentile.ts'
import { beginBatch, beginStates, endBatches } from '../../src/kernel/arena.ts'
import { asIntegers } from '../../src/storage/segment/narrow-numbers.ts'
import { ToldField } from '../support/told-field.ts'

afterEach(endBatches)

const batchRows = 700

/** Numbers as they come in data: few, of some decimals, of many, with some that are far away. */
const shapes: Readonly<Record<string, (i: number) => number>> = {
  whole: (i) => (i * 7919) % 1000,
  'with decimals': (i) => ((i * 104_729) % 3000) / 1000,
  few: (i) => i % 3,
  equal: () => 0.1,
  'with nulls': (i) => (i % 5 === 0 ? Number.NaN : 3 - ((i * 31) % 77)),
  'that grow': (i) => i,
  'with outliers': (i) => (i % 900 === 13 ? i * 1e6 : (i * 613) % 200),
  'of all decimals': (i) => Math.sin(i * 12.9898) * 43758.5453,
  'of all decimals later': (i) => (i < 3000 ? i % 100 : Math.sin(i)),
}

interface Task {
  readonly shape: string
  readonly batches: number
  readonly groups: number
  /** Which batches are stored as whole numbers, if they can be. */
  readonly stored: 'none' | 'some' | 'all'
}

test.each(['merged', 'kept in parts', 'of one task'] as const)('%s', (way) => {
  const tasks = fc.array(
    fc.record<Task>({
      shape: fc.constantFrom(...Object.keys(shapes)),
      batches: fc.integer({ min: 1, max: 12 }),
      groups: fc.constantFrom(1, 3, 40),
      stored: fc.constantFrom('none', 'some', 'all'),
    }),
    { minLength: 1, maxLength: way === 'of one task' ? 1 : 3 },
  )
  fc.assert(
    fc.property(tasks, fc.constantFrom(0, 0.3, 0.5, 0.99, 1), (given, share) => {
      const groupCount = Math.max(...given.map(({ groups }) => groups))
      const all = Array.from({ length: groupCount }, () => [0].slice(1))
      const merged = new PercentileState(share)
      merged.resize(groupCount)
      const every = Int32Array.from({ length: groupCount }, (_, group) => group)
      let last = merged
      for (const task of given) {
        const state = stateOf(task, share, all)
        last = state
        if (way === 'of one task') continue
        const wire = structuredClone(lastingState(state.toWire(task.groups)))
        for (const groups of way === 'merged' ? [every.subarray(0, task.groups)] : parts(task)) {
          merged.merge(way === 'merged' ? wire : pickStates(wire, groups), groups)
        }
      }
      endBatches()
      const found = way === 'of one task' ? last : merged
      for (const [group, numbers] of all.entries()) {
        const expected = percentileOf(Float64Array.from(numbers), share)
        expect(found.result(group)).toBe(expected)
      }
    }),
    { numRuns: 60 },
  )
})

/** The groups of the task, even and odd ones. */
function parts({ groups }: Task): Int32Array[] {
  return [0, 1].map((parity) =>
    Int32Array.from({ length: groups }, (_, group) => group).filter((g) => g % 2 === parity),
  )
}

/** Reads the task's batches as a scan does, and adds their numbers to `all` by group. */
function stateOf({ shape, batches, groups, stored }: Task, share: number, all: number[][]) {
  beginStates()
  const state = new PercentileState(share)
  for (let batch = 0; batch < batches; batch++) {
    beginBatch()
    // Groups come one after the other.
    const groupCount = Math.min(groups, (batch + 1) * 9)
    state.resize(groupCount)
    const rows = Array.from({ length: batchRows }, (_, row) => batch * batchRows + row)
    const values = Float64Array.from(rows, (row) => shapes[shape]!(row))
    const ofRows = Int32Array.from(rows, (row) => (row * 17) % groupCount)
    const only = groupCount === 1 ? 0 : undefined
    const selection =
      batch % 2 === 0 ? undefined : Int32Array.from(rows.keys()).filter((r) => r % 4 > 0)
    const count = selection?.length ?? batchRows
    const alive = selection ?? Int32Array.from(rows.keys())
    const aliveGroups = ofRows.slice(0, count)
    for (let i = 0; i < count; i++) {
      const value = values[alive[i]!]!
      if (!Number.isNaN(value)) all[aliveGroups[i]!]!.push(value)
    }
    const aliveRows = { rowCount: batchRows, selection, groups: aliveGroups, only, count }
    const isStored = stored === 'all' || (stored === 'some' && batch % 3 === 1)
    const form = isStored ? asIntegers(values) : undefined
    const whole = form && { kind: 'number' as const, integers: form.integers, ...form.scale }
    const field = whole && new ToldField({ encoding: { kind: 'narrow', stored: whole } })
    if (field && state.updateField(field, aliveRows)) continue
    state.update([{ kind: 'number', values }], aliveRows)
  }
  state.resize(groups)
  return state
}
