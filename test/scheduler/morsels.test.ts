/** What tasks take of a scan lets two threads do it in little more than half of the time of one. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TaskInput } from '../../src/executor/task/task.ts'
import type { SegmentRange } from '../../src/scheduler/scan/scan-range.ts'
import { morselsOf, segmentMorsels } from '../../src/scheduler/scan/split.ts'
import { granuleRows } from '../../src/vector/column.ts'
import { planOf } from '../support/scan-task.ts'

const plan = planOf({ stage: { kind: 'rows', carried: [] } })

type SegmentInput = SegmentRange['input']

function segment(id: number, rows: number): SegmentInput {
  return { kind: 'segment', segment: id, object: 1, from: 0, to: rows, mayBeNewer: false }
}

function rowsOf(unit: readonly TaskInput[]): number {
  return unit.reduce(
    (sum, input) => sum + (input as SegmentInput).to - (input as SegmentInput).from,
    0,
  )
}

/** Of two threads that take the next unit when they are done, the rows that the later one reads. */
function rowsOfLast(units: readonly (readonly TaskInput[])[]): number {
  const done = [0, 0]
  for (const unit of units) done[done[0]! <= done[1]! ? 0 : 1]! += rowsOf(unit)
  return Math.max(...done)
}

const segments = fc
  .array(fc.integer({ min: granuleRows, max: 120_000 }), { minLength: 8, maxLength: 80 })
  .map((sizes) => sizes.map((rows, i) => segment(i + 1, rows)))

it('two threads are at least 1.7 times as fast as one', () => {
  fc.assert(
    fc.property(segments, (inputs) => {
      const rows = rowsOf(inputs)
      const units = morselsOf(inputs, plan, 2)
      expect(units.reduce((sum, unit) => sum + rowsOf(unit), 0)).toBe(rows)
      // The longest unit is begun when as many rows are left as both threads may be apart, or a quarter.
      expect(rows / rowsOfLast(units)).toBeGreaterThan(rows >= 500_000 ? 1.7 : 1.4)
    }),
  )
})

it('of many segments most are units, as each unit takes time besides its rows', () => {
  const inputs = Array.from({ length: 64 }, (_, i) => segment(i + 1, 20 * granuleRows))
  const units = morselsOf(inputs, plan, 2)
  expect(units.filter((unit) => rowsOf(unit) === 20 * granuleRows)).toHaveLength(62)
  expect(units).toHaveLength(62 + 2 * 5)
})

it('a unit ends where a granule does, so that no two tasks read one', () => {
  const units = morselsOf([segment(1, 100_000), segment(2, 100_000)], plan, 2)
  for (const [input] of units) {
    const { from, to } = input as SegmentInput
    expect(from % granuleRows).toBe(0)
    expect(to === 100_000 || to % granuleRows === 0).toBe(true)
  }
})

it('segments that a task has to read whole are units of all their pieces, the largest first', () => {
  const inputs = [
    { ...segment(1, 9000), to: 4000 },
    { ...segment(1, 9000), from: 6000 },
    segment(2, 50_000),
  ]
  const pieces = inputs.map((input) => ({ input }) as SegmentRange)
  expect(segmentMorsels(pieces)).toEqual([[inputs[2]], [inputs[0], inputs[1]]])
})
