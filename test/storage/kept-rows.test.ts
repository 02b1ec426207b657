/** Rows that were looked up are kept within a bound, those that are asked for again the longest. */
import { expect, test } from 'vitest'
import { KeptRows } from '../../src/storage/kept-rows.ts'

const megabyte = 2 ** 20
const row = (text: string) => Buffer.from(text)

test('a row is given again until it is written anew', () => {
  const rows = new KeptRows(2 * megabyte)
  rows.set(1, 'a', row('one'))
  rows.set(2, 'a', row('of another object'))
  expect(rows.get(1, 'a')?.toString()).toBe('one')
  expect(rows.get(1, 'b')).toBeUndefined()
  rows.forget(1, 'a')
  expect(rows.get(1, 'a')).toBeUndefined()
  expect(rows.get(2, 'a')?.toString()).toBe('of another object')
})

test('what is kept is a copy', () => {
  const rows = new KeptRows(2 * megabyte)
  const given = row('as it was')
  rows.set(1, 'a', given)
  given.fill(0)
  expect(rows.get(1, 'a')?.toString()).toBe('as it was')
})

test('the oldest rows make room, but for those that are asked for', () => {
  const rows = new KeptRows(4 * megabyte)
  const rowOf = (i: number) => Buffer.alloc(8192, i)
  let wrong = 0
  for (let i = 0; i < 1000; i++) {
    rows.set(1, `row ${i}`, rowOf(i))
    if (rows.get(1, 'row 0')?.equals(rowOf(0)) !== true) wrong++
  }
  expect(wrong).toBe(0)
  const kept = Array.from({ length: 1000 }, (_, i) => rows.get(1, `row ${i}`)).filter(Boolean)
  expect(kept.length).toBeGreaterThan(250)
  expect(kept.length).toBeLessThan(500)
  expect(rows.get(1, 'row 1')).toBeUndefined()
  expect(rows.get(1, 'row 999')?.equals(rowOf(999))).toBe(true)
})

test('without memory, and of what is long, nothing is kept', () => {
  const none = new KeptRows(0)
  none.set(1, 'a', row('one'))
  expect(none.get(1, 'a')).toBeUndefined()
  const rows = new KeptRows(4 * megabyte)
  rows.set(1, 'a', Buffer.alloc(megabyte))
  expect(rows.get(1, 'a')).toBeUndefined()
})
