/** Values of any kind that go to another thread as bytes: the same when they are read there, whole or in part. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyAt } from '../../src/executor/column/key-column.ts'
import { packValues } from '../../src/executor/column/packed-values.ts'
import { gatherColumn, sliceColumn } from '../../src/executor/column/relation-column.ts'
import { countOf, plainValues, vectorOf } from '../../src/executor/column/wire-values.ts'
import { bytesOf } from '../../src/executor/task/held-bytes.ts'
import { shareResult } from '../../src/executor/task/share-result.ts'
import type { FinishResult } from '../../src/executor/task/task.ts'
import { watchCancelled } from '../../src/executor/thread/cancelled.ts'
import type { PlainValue } from '../../src/type/plain.ts'

const plain: fc.Arbitrary<PlainValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.double({ noNaN: true }),
  fc.bigInt(),
  fc.string({ unit: 'binary' }),
  fc.tuple(fc.constant('time' as const), fc.integer()),
  fc.array(fc.string()).map((list): PlainValue => ['array', list]),
)

test('rows of packed values are those of the values', () => {
  fc.assert(
    fc.property(
      fc.array(plain, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 50 }),
      fc.nat(),
      fc.nat(),
      (values, blocks, start, length) => {
        const packed = packValues(values, blocks * 128 * 1024)
        const from = start % values.length
        const to = from + (length % (values.length - from + 1))
        const slice = sliceColumn(packed, from, to)
        const expected = { kind: 'plain', values: values.slice(from, to) } as const
        expect(countOf(slice)).toBe(to - from)
        expect(vectorOf(slice)).toEqual(vectorOf(expected))
        expect(keyAt(packed, from)).toEqual(values[from])
        const rows = Int32Array.of(to - from - 1, 0).filter((row) => row >= 0 && row < to - from)
        expect(vectorOf(gatherColumn(slice, rows))).toEqual(vectorOf(gatherColumn(expected, rows)))
      },
    ),
  )
})

function finished(values: readonly (readonly string[])[]): FinishResult {
  const groupColumns = [plainValues(values)]
  const relation = { rowCount: values.length, rows: undefined, groupColumns, fields: [] }
  return { kind: 'finish', relation, lastSorted: undefined }
}

const longList = Array.from({ length: 20_000 }, (_, i) => `user ${i}`)

test('of a result, many values share their memory with the other thread, and few are copied along', () => {
  const { relation } = structuredClone(shareResult(finished([longList, ['a']]))) as FinishResult
  const [column] = relation.groupColumns
  expect(column?.kind).toBe('packed')
  expect(vectorOf(column!)).toEqual({ kind: 'values', values: [longList, ['a']] })
  const few = shareResult(finished([['a'], ['b']])) as FinishResult
  expect(few.relation.groupColumns[0]?.kind).toBe('plain')
  expect(bytesOf(relation)).toBeGreaterThan(100_000)
})

test('nobody packs or unpacks values for a query that was cancelled', () => {
  const many = plainValues(Array.from({ length: 100 }, () => longList))
  const packed = packValues(many.values, bytesOf(many))
  const cancelled = new Int32Array(1)
  watchCancelled(cancelled)
  try {
    cancelled[0] = 1
    expect(() => packValues(many.values, bytesOf(many))).toThrow('the query was cancelled')
    expect(() => vectorOf(packed)).toThrow('the query was cancelled')
  } finally {
    watchCancelled(undefined)
  }
})
