import { expect, test } from 'vitest'
import { openLogs } from '../support/temporary-logs.ts'

/** Rows `from … to` with a number and a time that grow; every tenth has no score. */
function rows(from: number, to: number): object[] {
  return Array.from({ length: to - from }, (_, i) => {
    const n = from + i
    const created = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
    return { id: `r${n}`, created, metrics: { n }, ...(n % 10 > 0 && { scores: { s: n / 1e6 } }) }
  })
}

const sums =
  'measures: count(scores.s) as n, sum(scores.s) as s, avg(metrics.n) as m, max(scores.s) as b'
const all = 'measures: count(1) as n, min(metrics.n) as a, max(metrics.n) as b, max(created) as c'

test('counts and extremes of all rows read none', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 30_000))
  await engine.flush()
  const c = '2026-01-01T08:19:59Z'
  expect(await ask(all)).toEqual({ n: 30_000, a: 0, b: 29_999, c, read: 0 })
})

test('sums of all rows read none, whether or not each row has a number', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 30_000))
  await engine.flush()
  expect(await ask(sums)).toEqual({ n: 27_000, s: 405, m: 14_999.5, b: 0.029999, read: 0 })
})

test('rows that have a field, or have none, are counted without reading any, whatever its values are', async () => {
  const { engine, insert, ask } = await openLogs()
  const errors = [{ message: 'x' }, 'x', null, 5, true, [1], {}, '2026-01-01T00:00:00Z', undefined]
  await insert(
    Array.from({ length: 18_000 }, (_, i) => {
      const error = errors[i % errors.length]
      return { id: `r${i}`, input: `text ${i}`, ...(error !== undefined && { error }) }
    }),
  )
  for (const state of ['delta', 'segments']) {
    if (state === 'segments') await engine.flush()
    const read = state === 'segments' ? { read: 0 } : {}
    const of = (what: string) => ask(`measures: count(1) as n | filter: ${what}`)
    expect(await of('error is not null')).toMatchObject({ n: 14_000, ...read })
    expect(await of('error is null')).toMatchObject({ n: 4000, ...read })
    expect(await of('input is not null')).toMatchObject({ n: 18_000, ...read })
    expect(await of('error.message is not null')).toMatchObject({ n: 2000, ...read })
    expect(await of('output is not null')).toMatchObject({ n: 0, ...read })
    expect(await ask('measures: count(error) as n')).toMatchObject({ n: 14_000, ...read })
    // One more predicate, or another aggregate, and rows are read.
    expect(await of("error is null and id = 'r2'")).toMatchObject({ n: 1 })
    expect(await ask('measures: count_distinct(error) as n | filter: error is null')).toMatchObject(
      {
        n: 0,
      },
    )
  }
})

test('all rows are counted with what was written, updated and deleted since, and those of a version', async () => {
  const { engine, insert, ask, now } = await openLogs()
  const count = 'measures: count(1) as n'
  const first = await insert(rows(0, 5000))
  await engine.flush()
  const second = await insert(rows(5000, 9000))
  await engine.flush()
  expect(await ask(count)).toEqual({ n: 9000, read: 0 })
  // Nobody wants to know how: it is counted over all segments at once.
  expect(now(count)?.rows).toEqual([{ n: 9000 }])
  expect(await ask(count, first)).toMatchObject({ n: 5000 })
  await insert([...rows(10, 20), { id: 'r30', _object_delete: true }, { id: 'new' }])
  for (const state of ['delta', 'segments', 'compacted']) {
    if (state === 'segments') await engine.flush()
    if (state === 'compacted') await engine.compact()
    expect(await ask(count)).toMatchObject({ n: 9000 })
    if (state !== 'delta') expect(now(count)?.rows).toEqual([{ n: 9000 }])
    expect(await ask(count, second)).toMatchObject({ n: 9000 })
    expect(await ask(count, first)).toMatchObject({ n: 5000 })
    expect(await ask(`${count} | limit: 0`)).toEqual(
      await ask(`${count} | filter: true | limit: 0`),
    )
  }
})

test('sums of what was updated read none again once superseded rows have left the segments', async () => {
  const { engine, insert, ask } = await openLogs()
  const first = await insert(rows(0, 20_000))
  await engine.flush()
  const second = await insert(rows(0, 20_000).map((row) => ({ ...row, metrics: { n: 1 } })))
  await engine.flush()
  expect((await ask(sums)).read).toBeGreaterThan(0)
  await engine.compact()
  expect(await ask(sums)).toMatchObject({ s: 180, m: 1, read: 0 })
  expect(await ask(sums, first)).toMatchObject({ s: 180, m: 9999.5 })
  await insert([{ id: 'r1', scores: { s: 1 }, metrics: { n: 20_001 } }])
  for (const state of ['delta', 'segments', 'compacted']) {
    if (state === 'segments') await engine.flush()
    if (state === 'compacted') await engine.compact()
    expect(await ask(sums)).toMatchObject({ n: 18_000, s: 180.999999, m: 2, b: 1 })
    expect(await ask(sums, second)).toMatchObject({ s: 180, m: 1 })
  }
})

test('sums of what was updated since are read, and those of a version are not', async () => {
  const { engine, insert, ask } = await openLogs()
  const first = await insert(rows(0, 20_000))
  await engine.flush()
  expect(await ask(sums, first)).toMatchObject({ s: 180, m: 9999.5, read: 0 })
  await insert([{ id: 'r1', scores: { s: 1 }, metrics: { n: 20_001 } }])
  for (const state of ['delta', 'segments']) {
    if (state === 'segments') await engine.flush()
    const changed = { n: 18_000, s: 180.999999, m: 10_000.5, b: 1 }
    expect(await ask(sums)).toMatchObject(changed)
    expect(await ask(sums, first)).toMatchObject({ n: 18_000, s: 180, m: 9999.5 })
  }
})

test('a range reads the granules at its ends alone', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 40_000))
  await engine.flush()
  const range = "created >= '2026-01-01T01:00:00Z' and metrics.n < 30000"
  const answer = await ask(`${all} | filter: ${range}`)
  expect(answer).toMatchObject({ n: 26_400, a: 3600, b: 29_999 })
  expect(answer.read).toBeLessThanOrEqual(2 * 8192)
  expect(answer.read).toBeGreaterThan(0)
})

test('what was written, updated or deleted since is in the answer, and not in that of a version', async () => {
  const { engine, insert, ask } = await openLogs()
  const first = await insert(rows(0, 20_000))
  await engine.flush()
  await insert([
    { id: 'r19999', metrics: { n: 5 } },
    { id: 'r0', _object_delete: true },
    { id: 'new', metrics: { n: 100_000 } },
  ])
  for (const state of ['delta', 'segments']) {
    if (state === 'segments') await engine.flush()
    expect(
      await ask('measures: count(1) as n, min(metrics.n) as a, max(metrics.n) as b'),
    ).toMatchObject({ n: 20_000, a: 1, b: 100_000 })
    expect(await ask(all, first)).toMatchObject({ n: 20_000, a: 0, b: 19_999 })
  }
})

test('granules of which every row has a value are known to pass', async () => {
  const { engine, insert, ask } = await openLogs()
  const given = rows(0, 20_000) as { metrics: object }[]
  await insert(given.map((row, n) => (n < 12_000 ? row : { ...row, metrics: { other: n } })))
  await engine.flush()
  const answer = await ask('measures: count(1) as n, sum(metrics.n) as s | filter: metrics.n >= 0')
  expect(answer).toMatchObject({ n: 12_000, s: 71_994_000 })
  expect(answer.read).toBeLessThanOrEqual(8192)
  expect(await ask('measures: count(1) as n | filter: metrics.n is not null')).toMatchObject({
    n: 12_000,
    read: 0,
  })
})

test('a field of which some rows have no value passes no condition unread', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 20_000))
  await engine.flush()
  expect(await ask('measures: count(1) as n | filter: scores.s >= 0')).toEqual({
    n: 18_000,
    read: 20_000,
  })
})

test('values of several kinds are read', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert([...rows(0, 10_000), { id: 'text', metrics: { n: 'many' } }])
  await engine.flush()
  expect(await ask('measures: count(1) as n, max(metrics.n) as b')).toMatchObject({
    n: 10_001,
    b: 'many',
  })
})

test('the first rows by a number are looked for where the best numbers are, nulls last', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 30_000))
  await engine.flush()
  const first = async (sort: string) => await ask(`select: id | sort: ${sort} | limit: 1`)
  for (const [sort, id] of [
    ['metrics.n', 'r0'],
    ['metrics.n desc', 'r29999'],
    ['scores.s', 'r1'],
    ['created', 'r0'],
  ] as const) {
    const { read, ...row } = (await first(sort)) as { read: number; id: string }
    expect(row).toEqual({ id })
    // One granule of each segment.
    expect(read).toBeLessThanOrEqual(2 * 8192)
  }
})
