import { expect, test } from 'vitest'
import { Backfill } from '../../src/scheduler/export/backfill.ts'

test('tells of a backfill from its first rows to its last, and how long it will take', () => {
  const backfill = new Backfill()
  expect(backfill.update({ sentRows: 0, rows: 100_000 }, 0)).toBe(undefined)
  expect(backfill.progress).toBe(undefined)
  expect(backfill.update({ sentRows: 500, rows: 300_000 }, 1000)).toBe('begun')
  expect(backfill.progress).toEqual({ done: 0, rows: 300_000, secondsLeft: undefined })
  expect(backfill.update({ sentRows: 100_500, rows: 200_000 }, 11_000)).toBe(undefined)
  expect(backfill.progress).toEqual({ done: 100_000, rows: 300_000, secondsLeft: 20 })
  // Rows that are inserted meanwhile are a part of it.
  backfill.update({ sentRows: 250_500, rows: 70_000 }, 26_000)
  expect(backfill.progress).toEqual({ done: 250_000, rows: 320_000, secondsLeft: 7 })
  expect(backfill.update({ sentRows: 320_500, rows: 0 }, 33_000)).toBe('ended')
  expect(backfill.progress).toBe(undefined)
})
