/** Pages far down a list begin where an offset says, and read little of what is before them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomSeed as seed } from '../support/random-seed.ts'
import { openLogs } from '../support/temporary-logs.ts'

function rows(from: number, to: number): object[] {
  return Array.from({ length: to - from }, (_, i) => ({
    id: `r${from + i}`,
    metrics: { n: from + i },
  }))
}

const idsOf = (found: readonly object[]) => found.map((row) => (row as { id: string }).id)

test('an offset into what was never changed reads no rows before it', async () => {
  const { engine, insert, page } = await openLogs()
  await insert(rows(0, 50_000))
  await engine.flush()
  for (const offset of [19_990, 30_000, 49_999]) {
    const found = await page(`select: id | limit: 3 | offset: ${offset}`)
    const first = 49_999 - offset
    expect(idsOf(found.rows)).toEqual(
      [first, first - 1, first - 2].filter((n) => n >= 0).map((n) => `r${n}`),
    )
    // A step of a scan, and one ahead.
    expect(found.read).toBeLessThanOrEqual(4 * 8192)
  }
  expect(await page('select: id | limit: 3 | offset: 50000')).toMatchObject({ rows: [], read: 0 })
})

test('rows that are in no segment yet come before, those that a condition rules out do not count', async () => {
  const { engine, insert, page } = await openLogs()
  await insert(rows(0, 40_000))
  await engine.flush()
  await insert(rows(40_000, 40_010))
  const late = await page('select: id | limit: 2 | offset: 30009')
  expect(idsOf(late.rows)).toEqual(['r10000', 'r9999'])
  expect(late.read).toBeLessThanOrEqual(4 * 8192)
  const some = await page('select: id | filter: metrics.n < 35000 | limit: 2 | offset: 30000')
  expect(idsOf(some.rows)).toEqual(['r4999', 'r4998'])
})

test('pages by offset are what the whole list has there, whatever was changed and removed', async () => {
  const { engine, insert, page } = await openLogs(8)
  for (let from = 0; from < 30; from += 10) {
    await insert(rows(from, from + 10))
    if (from < 20) await engine.flush()
  }
  const change = fc.record({
    n: fc.nat(40),
    isRemoved: fc.boolean(),
    isFlushed: fc.boolean(),
    offset: fc.nat(45),
  })
  for (const { n, isRemoved, isFlushed, offset } of fc.sample(change, { seed, numRuns: 40 })) {
    const found = await page(`select: id | limit: 5 | offset: ${offset}`)
    const all = idsOf((await page('select: id')).rows)
    expect(idsOf(found.rows)).toEqual(all.slice(offset, offset + 5))
    await insert([{ id: `r${n}`, ...(isRemoved ? { _object_delete: true } : { input: 'new' }) }])
    if (isFlushed) await engine.flush()
  }
}, 60_000)
