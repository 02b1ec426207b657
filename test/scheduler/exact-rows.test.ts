/** Of fresh parts, which have no index of keys, the very rows with a text are read as well. */
import { expect, test } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { exactRows, nearRuns } from '../../src/scheduler/scan/exact-rows.ts'
import type { MemtableRange } from '../../src/scheduler/scan/scan-range.ts'
import { memtableOf } from '../../src/storage/prepare/memtable.ts'
import type { TaskReads } from '../../src/storage/read/task-reads.ts'
import { openSharedColumns } from '../../src/vector/shared-columns.ts'
import { planOf } from '../support/scan-task.ts'
import { versionedRow } from '../support/versioned-row.ts'

type Part = MemtableRange['input']

const reads: Pick<TaskReads, 'openSegment' | 'openMemtable'> = {
  openSegment: () => {
    throw new Error('there is no segment')
  },
  openMemtable: (_, memory) => openSharedColumns(memory),
}

/** A part whose rows have these traces. */
function part(traces: readonly unknown[]): Part {
  const rows = traces.map((trace, index) => {
    const json = JSON.stringify({ id: `${index}`, root_span_id: trace })
    return versionedRow(json, { version: { transaction: 1000, index } })
  })
  const to = traces.length
  return {
    kind: 'memtable',
    memtable: 1,
    memory: memtableOf(rows),
    object: 1,
    from: 0,
    to,
    mayBeNewer: false,
  }
}

/** Ranges of rows that are left of a part for a trace, or for some. */
function rangesFor(traces: readonly string[], input: Part): (readonly number[])[] {
  const operand = { kind: 'field', path: ['root_span_id'], type: 'string' } as const
  const list = { kind: 'constant', value: traces, type: 'json' } as const
  const predicate = { kind: 'in', operand, list, type: 'boolean' } as BoundExpression
  const plan = planOf({ stage: { kind: 'rows', carried: [] }, predicates: [predicate] })
  const key = { transaction: 1000, index: 0 }
  const range = { input, oldest: key, newest: key }
  const { ranges } = exactRows({ ranges: [range], others: [] }, plan, reads)
  return ranges.map(({ input: { from, to } }) => [from, to])
}

test('rows that follow each other are one range', () => {
  const input = part(['a', 'b', 'b', 'a', null, 'b', 'bb'])
  expect(rangesFor(['b'], input)).toEqual([
    [1, 3],
    [5, 6],
  ])
  expect(rangesFor(['b'], { ...input, from: 2, to: 5 })).toEqual([[2, 3]])
  expect(rangesFor(['a', 'bb'], input)).toEqual([
    [0, 1],
    [3, 4],
    [6, 7],
  ])
  expect(rangesFor(['nobody'], input)).toEqual([])
})

test('a part stays whole where a column of texts does not tell, or too many ranges would be left', () => {
  expect(rangesFor(['a'], part(['a', ['a'], 'b']))).toEqual([[0, 3]])
  const alternating = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? 'a' : 'b'))
  expect(rangesFor(['a'], part(alternating))).toEqual([[0, 200]])
})

test('runs that lie near each other in the same rows are read as one', () => {
  const input = part(['a'])
  const runs = [
    { ...input, from: 0, to: 1 },
    { ...input, from: 5, to: 6 },
    { ...input, from: 70, to: 71 },
    { ...input, from: 136, to: 137 },
    { ...input, memtable: 2, from: 138, to: 139 },
    { ...input, memtable: 2, object: 2, from: 140, to: 141 },
  ]
  const key = { transaction: 1000, index: 0 }
  const ranges = runs.map((run) => ({ input: run, oldest: key, newest: key }))
  const joined = nearRuns({ ranges, others: [] }).ranges.map((range) => range.input as Part)
  expect(joined.map(({ memtable, object, from, to }) => [memtable, object, from, to])).toEqual([
    [1, 1, 0, 71],
    [1, 1, 136, 137],
    [2, 1, 138, 139],
    [2, 2, 140, 141],
  ])
})
