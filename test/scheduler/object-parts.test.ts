/** What many segments have of some objects, side by side. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { isCertain } from '../../src/executor/scan/certain.ts'
import { pruneRows } from '../../src/executor/scan/prune.ts'
import { Zones } from '../../src/executor/scan/zones.ts'
import { ObjectParts } from '../../src/scheduler/scan/object-parts.ts'
import { seenSegments } from '../../src/scheduler/scan/snapshot.ts'
import type { Manifest } from '../../src/storage/segment/manifest.ts'
import { type SegmentMetadata, segmentFormat } from '../../src/storage/segment/metadata.ts'
import { granuleRows } from '../../src/vector/column.ts'
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
  const parts = ObjectParts.of(segments, new Set([1]))
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
  const parts = ObjectParts.of(segments, new Set([2, 1]))
  expect([...parts.segments]).toEqual([1, 1, 2, 3, 4])
  expect(parts).toMatchObject({ segmentIds: [1, 2, 3, 4], rowCount: 9180 })
  expect(ObjectParts.of(segments, new Set([1, 2]))).toBe(parts)
})

describe('parts are ruled out', () => {
  const matching = (operator: 'gt' | 'eq' | 'le', value: number) => {
    const [left, right] = [field('n'), constant(value)]
    const predicate = { kind: 'comparison', operator, left, right, type: 'boolean' } as const
    const parts = ObjectParts.of(segments, new Set([1, 2]))
    return [...parts.matching([predicate])[0]!]
  }

  test('by the bounds of their numbers, and where there are none', () => {
    expect(matching('gt', 9)).toEqual([0, 0, 1, 0, 1])
    expect(matching('eq', 9)).toEqual([1, 1, 0, 0, 0])
    expect(matching('le', 10)).toEqual([1, 1, 1, 0, 0])
  })

  test('not by what is no comparison of numbers', () => {
    const parts = ObjectParts.of(segments, new Set([1]))
    const predicate = { kind: 'is_null', operand: field('n'), type: 'boolean' } as const
    expect(parts.matching([predicate])).toEqual([undefined])
  })
})

/** A segment of one object whose granules have these bounds of `n`; null: it has no number there. */
function ofGranules(id: number, granules: readonly (readonly number[] | null)[]) {
  const made = segment(id, { 1: granules.length * granuleRows })
  const bounds = granules.flatMap((each) => each ?? [])
  const column = {
    type: 'number',
    path: ['n'],
    nullCount: 0,
    minimum: Math.min(...bounds),
    maximum: Math.max(...bounds),
    granuleMinimums: granules.map((each) => each?.[0] ?? null),
    granuleMaximums: granules.map((each) => each?.[1] ?? null),
  }
  return {
    ...made,
    metadata: { ...made.metadata, columns: [column] } as unknown as SegmentMetadata,
  }
}

describe('metadata that decides about no granule of a part', () => {
  const compared = (operator: string, value: number, name = 'n') => {
    const [left, right] = [field(name), constant(value)]
    return { kind: 'comparison', operator, left, right, type: 'boolean' } as BoundExpression
  }
  const number = fc.integer({ min: 0, max: 6 })
  const predicate = fc
    .tuple(fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge'), number)
    .map(([operator, value]) => compared(operator, value))
  const granule = fc.option(
    fc.tuple(number, number).map((pair) => pair.sort((a, b) => a - b)),
    { freq: 9 },
  )

  test('leaves out no rows, and is certain of none', () => {
    const segments = fc.array(fc.array(granule, { minLength: 1, maxLength: 4 }), { minLength: 1 })
    const predicates = fc.array(predicate, { minLength: 1, maxLength: 2 })
    let found = 0
    fc.assert(
      fc.property(segments, predicates, (granulesOf, predicates) => {
        const made = granulesOf.map((granules, i) => ofGranules(i + 1, granules))
        const parts = ObjectParts.of(made, new Set([1]))
        const undecided = parts.undecided(predicates)!
        for (const [i, { metadata, part }] of parts.parts.entries()) {
          if (undecided[i] === 0) continue
          found++
          const { ranges } = pruneRows(metadata, part, predicates, [])
          expect(ranges).toEqual([{ from: part.from, to: part.to }])
          const zones = new Zones(metadata, part, [])
          for (const granule of [undefined, ...granulesOf[i]!.keys()]) {
            zones.granule = granule
            expect(predicates.some((each) => isCertain(each, zones))).toBe(false)
          }
        }
      }),
      { numRuns: 500 },
    )
    expect(found).toBeGreaterThan(50)
  })

  test('is told by numbers between the bounds of all its granules', () => {
    const parts = ObjectParts.of(
      [
        ofGranules(1, [
          [0, 4],
          [2, 6],
        ]),
        ofGranules(2, [[0, 4], null]),
        ofGranules(3, [[3, 9]]),
      ],
      new Set([1]),
    )
    const undecided = (...predicates: BoundExpression[]) => parts.undecided(predicates)
    expect([3, 2, 4].map((value) => [...undecided(compared('gt', value))!])).toEqual([
      [1, 0, 0],
      [0, 0, 0],
      [0, 0, 1],
    ])
    expect([...undecided(compared('gt', 3), compared('lt', 5))!]).toEqual([0, 0, 0])
    expect([...undecided(compared('gt', 3, 'other'))!]).toEqual([0, 0, 0])
    const isNull = { kind: 'is_null', operand: field('n'), type: 'boolean' } as BoundExpression
    expect(undecided(compared('gt', 3), isNull)).toBeUndefined()
    expect(undecided()).toBeUndefined()
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
