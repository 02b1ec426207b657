import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BoundSortKey, SortPosition } from '../../src/binder/bound.ts'
import { keyAt } from '../../src/executor/column/key-column.ts'
import type { SortedRows } from '../../src/executor/column/row-list.ts'
import { paginationKeyAt, versionKeyAt } from '../../src/vector/row-keys.ts'
import { field, ScannedRecords } from '../support/scan-task.ts'

/** Values of several kinds, few enough to tie. */
const sortValue = fc.constantFrom(undefined, null, 0, 1, 2.5, -3, 'a', 'b', true, [1], { k: 1 })

const records = fc
  .array(fc.tuple(sortValue, sortValue), { minLength: 1, maxLength: 20 })
  .map((rows) => rows.map(([a, b], i) => ({ id: `r${i}`, metadata: { a, b } })))

const sortKeys = fc.tuple(fc.boolean(), fc.boolean()).map(([first, second]): BoundSortKey[] => [
  { expression: field('metadata', 'a'), descending: first },
  { expression: field('metadata', 'b'), descending: second },
])

function sortedRows(rows: ScannedRecords, sort: readonly BoundSortKey[], after?: SortPosition) {
  const stage = { kind: 'rows', carried: [] } as const
  const result = rows.scan({ stage, sort, afterSorted: after })
  return (result as { rows: SortedRows }).rows
}

function positionOf(rows: SortedRows, row: number): SortPosition {
  return {
    values: rows.keys.map((column) => keyAt(column, row)),
    paginationKey: paginationKeyAt(rows, row),
    object: rows.object[row]!,
    version: versionKeyAt(rows, row),
  }
}

function transactions(rows: SortedRows): number[] {
  return Array.from(rows.transaction)
}

test('a scan after any of its rows gives those that come after it in the order', () => {
  fc.assert(
    fc.property(records, sortKeys, (given, sort) => {
      ScannedRecords.during(given, (rows) => {
        const all = sortedRows(rows, sort)
        expect(all.object.length).toBe(given.length)
        for (let row = 0; row < given.length; row++) {
          const rest = sortedRows(rows, sort, positionOf(all, row))
          expect(transactions(rest)).toEqual(transactions(all).slice(row + 1))
        }
      })
    }),
    { numRuns: 30 },
  )
})

test('numbers after a number keep nulls, which come last whatever the direction', () => {
  const given = [3, null, 1, 2, null].map((a, i) => ({ id: `r${i}`, metadata: { a } }))
  const rows = new ScannedRecords(given)
  for (const descending of [false, true]) {
    const sort = [{ expression: field('metadata', 'a'), descending }]
    const all = sortedRows(rows, sort)
    expect(given.map((_, row) => keyAt(all.keys[0]!, row))).toEqual([
      ...(descending ? [3, 2, 1] : [1, 2, 3]),
      null,
      null,
    ])
    const rest = sortedRows(rows, sort, positionOf(all, 1))
    expect(transactions(rest)).toEqual(transactions(all).slice(2))
  }
})

test('the first rows are the same in whatever parts and order the rows are read', () => {
  const keys = sortKeys.chain((both) => fc.constantFrom(both, both.slice(0, 1)))
  const numbers = fc.constantFrom(undefined, null, 0, 1, 2)
  const given = fc
    .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: numbers }, sortValue), sortValue), {
      minLength: 2,
      maxLength: 30,
    })
    .map((rows) => rows.map(([a, b], i) => ({ id: `r${i}`, metadata: { a, b } })))
  const wanted = fc.integer({ min: 1, max: 6 })
  const size = fc.integer({ min: 1, max: 9 })
  fc.assert(
    fc.property(
      given,
      keys,
      wanted,
      size,
      fc.boolean(),
      (given, sort, wanted, size, isNewestFirst) => {
        ScannedRecords.during(given, (rows) => {
          const stage = { kind: 'rows', carried: [] } as const
          const starts = Array.from({ length: Math.ceil(given.length / size) }, (_, i) => i * size)
          const inputs = starts.map((at) => rows.segmentRows(at, Math.min(at + size, given.length)))
          if (isNewestFirst) inputs.reverse()
          const found = rows.scan({ stage, sort }, 'segment', { inputs, wanted }) as {
            rows: SortedRows
          }
          const all = transactions(sortedRows(rows, sort))
          expect(transactions(found.rows)).toEqual(all.slice(0, wanted))
        })
      },
    ),
    { numRuns: 40 },
  )
})
