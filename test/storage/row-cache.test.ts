/** Rows that were looked up are kept within a bound, those that are asked for again the longest. */
import { expect, test } from 'vitest'
import { type CachedRow, RowCache } from '../../src/storage/row/row-cache.ts'

const megabyte = 2 ** 20
const row = (text: string | Buffer): CachedRow => ({
  text: Buffer.from(text),
  paginationKey: { transaction: text.length, index: 1 },
  byteLength: 2 * text.length,
})
const textOf = (kept: CachedRow | undefined) => kept && Buffer.from(kept.text).toString()

test('a row is given again until it is written anew', () => {
  const rows = new RowCache(2 * megabyte)
  rows.set(1, 'a', row('one'))
  rows.set(2, 'a', row('of another object'))
  expect(rows.get(1, 'a')).toEqual(row('one'))
  expect(rows.get(1, 'b')).toBeUndefined()
  rows.forget(1, 'a')
  expect(rows.get(1, 'a')).toBeUndefined()
  expect(rows.get(2, 'a')).toEqual(row('of another object'))
})

test('what is kept is a copy', () => {
  const rows = new RowCache(2 * megabyte)
  const given = row('as it was')
  rows.set(1, 'a', given)
  given.text.fill(0)
  expect(textOf(rows.get(1, 'a'))).toBe('as it was')
})

test('the oldest rows make room, but for those that are asked for', () => {
  const rows = new RowCache(4 * megabyte)
  const rowOf = (i: number) => row(Buffer.alloc(8192, i))
  let wrong = 0
  for (let i = 0; i < 1000; i++) {
    rows.set(1, `row ${i}`, rowOf(i))
    if (textOf(rows.get(1, 'row 0')) !== textOf(rowOf(0))) wrong++
  }
  expect(wrong).toBe(0)
  const kept = Array.from({ length: 1000 }, (_, i) => rows.get(1, `row ${i}`)).filter(Boolean)
  expect(kept.length).toBeGreaterThan(240)
  expect(kept.length).toBeLessThan(500)
  expect(rows.get(1, 'row 1')).toBeUndefined()
  expect(rows.get(1, 'row 999')).toEqual(rowOf(999))
})

test('without memory, and of what is long, nothing is kept', () => {
  const none = new RowCache(0)
  none.set(1, 'a', row('one'))
  expect(none.get(1, 'a')).toBeUndefined()
  const rows = new RowCache(4 * megabyte)
  rows.set(1, 'a', row(Buffer.alloc(megabyte)))
  expect(rows.get(1, 'a')).toBeUndefined()
})
