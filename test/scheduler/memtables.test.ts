/** Rows in fresh parts are told apart, counted and paged like those of segments. */
import { beforeEach, expect, test } from 'vitest'
import { openLogs } from '../support/temporary-logs.ts'

type Logs = Awaited<ReturnType<typeof openLogs>>

const perRequest = 200

let logs: Logs

/** Rows `from … to`, whose request is long enough to come with its part. */
function rows(from: number, to: number): object[] {
  return Array.from({ length: to - from }, (_, i) => {
    const n = from + i
    const model = n % 3 === 0 ? 'small' : 'large'
    return { id: `r${n}`, metadata: { model }, metrics: { n }, input: `${n} `.repeat(150) }
  })
}

async function insert(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += perRequest) await logs.insert(rows(n, n + perRequest))
}

const count = 'measures: count(1) as n'

/** Ids of rows `from … to`, backwards. */
function newest(from: number, to: number): object[] {
  return Array.from({ length: from - to }, (_, i) => ({ id: `r${from - 1 - i}` }))
}

beforeEach(async () => {
  logs = await openLogs(1000, 1)
  await insert(0, 1000)
  await logs.engine.flush()
  await insert(1000, 3000)
})

test('they are counted without being read', async () => {
  expect(logs.now(count)).toMatchObject({ rows: [{ n: 3000 }], read: 0 })
  expect(await logs.ask(count)).toEqual({ n: 3000, read: 0 })
  // Of their values nothing is known.
  const last = 'measures: count(1) as n, max(metrics.n) as m | filter: metrics.n >= 500'
  expect(await logs.ask(last)).toMatchObject({ n: 2500, m: 2999 })
})

test('of the newest rows no others are read', async () => {
  const clauses = 'select: id | limit: 5'
  expect(logs.now(clauses)).toMatchObject({ rows: newest(3000, 2995), read: 5 })
  expect(await logs.page(clauses)).toMatchObject({ rows: newest(3000, 2995) })
})

test('pages go on from part to part, and from the oldest part to segments', async () => {
  for (const [limit, offset] of [
    [700, 0],
    [150, 1890],
    [2500, 250],
    [10, 2999],
  ] as const) {
    const { rows } = await logs.page(`select: id | limit: ${limit} | offset: ${offset}`)
    const first = 3000 - offset
    expect(rows).toEqual(newest(first, Math.max(0, first - limit)))
  }
  const filtered = "select: id | filter: metadata.model = 'small' | limit: 900"
  const small = newest(3000, 0).filter((_, i) => (2999 - i) % 3 === 0)
  expect((await logs.page(filtered)).rows).toEqual(small.slice(0, 900))
  const { rows, cursor } = await logs.page('select: id | limit: 450')
  const next = await logs.page(`select: id | limit: 1700 | cursor: '${cursor}'`)
  expect([...rows, ...next.rows]).toEqual(newest(3000, 850))
})

test('rows that were updated or deleted are seen as they are, at their place', async () => {
  await logs.insert([
    { id: 'r2999', _object_delete: true },
    { id: 'r10', metrics: { n: 10_000 } },
    { id: 'r2990', metrics: { n: 20_000 } },
  ])
  expect(await logs.ask(count)).toMatchObject({ n: 2999 })
  const { rows } = await logs.page('select: id, metrics.n | limit: 2999')
  expect(rows.map((row) => ({ id: (row as { id: string }).id }))).toEqual(newest(2999, 0))
  expect(rows.slice(7, 10)).toEqual([
    { id: 'r2991', n: 2991 },
    { id: 'r2990', n: 20_000 },
    { id: 'r2989', n: 2989 },
  ])
  expect(rows.at(-11)).toEqual({ id: 'r10', n: 10_000 })
})

test('groups have the rows of all parts', async () => {
  const clauses =
    'dimensions: metadata.model as model | measures: count(1) as n, sum(metrics.n) as s'
  const { rows } = await logs.page(`${clauses} | sort: model`)
  const sumOf = (isSmall: boolean) =>
    Array.from({ length: 3000 }, (_, n) => n)
      .filter((n) => (n % 3 === 0) === isSmall)
      .reduce((sum, n) => sum + n, 0)
  expect(rows).toEqual([
    { model: 'large', n: 2000, s: sumOf(false) },
    { model: 'small', n: 1000, s: sumOf(true) },
  ])
})

test('a text that parts and segments have is counted once, with the dictionary that segments share', async () => {
  const texts = 20_000
  const users = async (from: number, to: number) => {
    for (let n = from; n < to; n += 2000) {
      const user = (i: number) => `user ${(n + i) % texts} of some`
      await logs.insert(
        Array.from({ length: 2000 }, (_, i) => ({ id: `u${n + i}`, metadata: { user: user(i) } })),
      )
    }
  }
  await users(0, texts)
  await logs.engine.flush()
  await users(texts, texts + 10_000)
  expect(await logs.answer('measures: count_distinct(metadata.user) as n')).toEqual([{ n: texts }])
})
