/** What many segments have of some objects, side by side. */
import { describe, expect, test } from 'vitest'
import { ObjectSegments } from '../../src/scheduler/scan/object-segments.ts'
import { seenSegments } from '../../src/scheduler/scan/snapshot.ts'
import type { Manifest } from '../../src/storage/segment/manifest.ts'
import { type SegmentMetadata, segmentFormat } from '../../src/storage/segment/metadata.ts'
import { constant, field } from '../support/scan-task.ts'

/** A segment of rows by object, all of one transaction; with a number in the bounds, if any. */
function segment(
  id: number,
  rowsOf: Readonly<Record<number, number>>,
  { bounds, past }: { bounds?: readonly [number, number]; past?: number } = {},
) {
  let to = 0
  const objects = Object.entries(rowsOf).map(([object, rows]) => {
    const from = to
    to += rows
    const keys = {
      firstPagination: { transaction: id, index: from },
      lastPagination: { transaction: id, index: to - 1 },
    }
    const transactions = { firstTransaction: id, lastTransaction: id }
    const times = { firstCreated: null, lastCreated: null }
    return { object: Number(object), from, to, ...keys, ...transactions, ...times }
  })
  const number = bounds && {
    type: 'number',
    path: ['n'],
    nullCount: 0,
    minimum: bounds[0],
    maximum: bounds[1],
  }
  const metadata = {
    format: segmentFormat,
    rowCount: to,
    objects,
    columns: number ? [number] : [],
    ...(past !== undefined && { supersededThrough: past }),
  } as unknown as SegmentMetadata
  return { id, metadata }
}

function manifestOf(segments: readonly ReturnType<typeof segment>[]): Manifest {
  return { generation: 1, flushedThrough: 9, nextSegment: 9, segments }
}

const segments = [
  segment(1, { 1: 100, 2: 50 }, { bounds: [0, 9] }),
  segment(2, { 2: 9000 }, { bounds: [10, 19] }),
  segment(3, { 1: 10 }),
  segment(4, { 1: 20 }, { bounds: [20, 29] }),
]

test('parts of an object are counted, and segments without it', () => {
  const parts = ObjectSegments.of(segments, new Set([1]))
  expect([...parts.segments]).toEqual([1, 3, 4])
  expect([...parts.rowCounts]).toEqual([100, 10, 20])
  expect(parts.segmentIds).toEqual([1, 3, 4])
  expect(parts).toMatchObject({ count: 3, rowCount: 130, lastTransaction: 4 })
  expect(parts.others).toEqual({ segments: 1, granules: 2, rows: 9000 })
  expect(parts.bounds).toEqual([
    { object: 1, oldest: { transaction: 1, index: 0 }, newest: { transaction: 4, index: 19 } },
  ])
})

test('a segment with two of the objects is one segment, and has two parts', () => {
  const parts = ObjectSegments.of(segments, new Set([2, 1]))
  expect([...parts.segments]).toEqual([1, 1, 2, 3, 4])
  expect(parts).toMatchObject({ segmentIds: [1, 2, 3, 4], rowCount: 9180 })
  expect(ObjectSegments.of(segments, new Set([1, 2]))).toBe(parts)
})

describe('parts are ruled out', () => {
  const matching = (operator: 'gt' | 'eq' | 'le', value: number) => {
    const [left, right] = [field('n'), constant(value)]
    const predicate = { kind: 'comparison', operator, left, right, type: 'boolean' } as const
    const parts = ObjectSegments.of(segments, new Set([1, 2]))
    return [...parts.matching([predicate])[0]!]
  }

  test('by the bounds of their numbers, and where there are none', () => {
    expect(matching('gt', 9)).toEqual([0, 0, 1, 0, 1])
    expect(matching('eq', 9)).toEqual([1, 1, 0, 0, 0])
    expect(matching('le', 10)).toEqual([1, 1, 1, 0, 0])
  })

  test('not by what is no comparison of numbers', () => {
    const parts = ObjectSegments.of(segments, new Set([1]))
    const predicate = { kind: 'is_null', operand: field('n'), type: 'boolean' } as const
    expect(parts.matching([predicate])).toEqual([undefined])
  })
})

test('a snapshot sees the same list of segments until it sees superseded ones, too', () => {
  const manifest = manifestOf([...segments, segment(5, { 1: 5 }, { past: 8 })])
  const now = seenSegments(manifest, 8, 0)
  expect(now).toEqual(segments)
  expect(seenSegments(manifest, 9, 0)).toBe(now)
  expect(seenSegments(manifest, 7, 0).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  expect(seenSegments(manifest, 9, 2).map(({ id }) => id)).toEqual([3, 4])
})
