import { expect, test } from 'vitest'
import { mayFollow } from '../../src/executor/scan/prune.ts'
import { Zones } from '../../src/executor/scan/zones.ts'
import type { ColumnMetadata, SegmentMetadata } from '../../src/storage/segment/metadata.ts'
import { field } from '../support/scan-task.ts'

/** A segment whose rows have numbers from 10 to 20 at `metrics.tokens`, and what `other` says. */
function segment(nullCount: number, other: readonly ColumnMetadata[] = []) {
  const tokens: ColumnMetadata = {
    path: ['metrics', 'tokens'],
    type: 'number',
    nullCount,
    minimum: 10,
    maximum: 20,
    granuleMinimums: [10],
    granuleMaximums: [20],
    values: [0, 0, 0],
  }
  return { columns: [tokens, ...other], keys: {} } as unknown as SegmentMetadata
}

const rows = { object: 1, from: 0, to: 10 } as never
const zones = (metadata: SegmentMetadata) => new Zones(metadata, rows, [])
const key = (descending: boolean) => ({ expression: field('metrics', 'tokens'), descending })
const place = (value: number) => ({ kind: 'number', value }) as const

test('after a place in a sort, segments whose rows all come before it are left out', () => {
  const follows = (descending: boolean, value: number) =>
    mayFollow(key(descending), zones(segment(0)), place(value))
  expect([9, 10, 20, 21].map((value) => follows(false, value))).toEqual([true, true, true, false])
  expect([9, 10, 20, 21].map((value) => follows(true, value))).toEqual([false, true, true, true])
})

test('nulls, and values of other kinds, may come after any number', () => {
  expect(mayFollow(key(false), zones(segment(1)), place(21))).toBe(true)
  const text = { path: ['metrics', 'tokens'], type: 'text', nullCount: 9 } as never
  expect(mayFollow(key(false), zones(segment(0, [text])), place(21))).toBe(true)
  expect(mayFollow(key(false), zones(segment(0)), { kind: 'timestamp', value: 21 })).toBe(true)
})
