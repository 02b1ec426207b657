/** What is small is answered within a turn of the event loop, and by the same answer as in general. */
import { beforeEach, expect, test } from 'vitest'
import { granuleRows } from '../../src/vector/column.ts'
import { openLogs } from '../support/temporary-logs.ts'

type Logs = Awaited<ReturnType<typeof openLogs>>

let logs: Logs

/** Rows with two models, a number that grows, texts that all differ, and a few odd ones. */
function rows(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `r${n}`,
    created: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    metadata: { model: n % 3 === 0 ? 'small' : 'large', user: `user-${n}` },
    metrics: { n },
    scores: n % 10 === 0 ? {} : { s: (n % 7) / 8 },
    input: n === 17 ? { rare: { deep: [n] } } : `what is ${n}?`,
  }))
}

beforeEach(async () => {
  logs = await openLogs()
  await logs.insert(rows(6000))
  await logs.engine.flush()
})

test('answers within a turn are those of the general way', async () => {
  for (const clauses of [
    'measures: count(1) as n, max(metrics.n) as m',
    'dimensions: metadata.model as model | measures: count(1) as n, avg(scores.s) as s',
    'dimensions: metadata.model as model | measures: count(1) as n | filter: metrics.n != 4.5',
    'measures: count(1) as n | filter: metrics.n > 99999',
    'select: id, metrics.n | filter: metrics.n >= 5990 | sort: metrics.n desc | limit: 20',
    'select: id | filter: metrics.n < 60 | limit: 7',
    'select: * | filter: metrics.n = 4711 | limit: 5',
    'dimensions: scores.s is null as none | measures: count(1) as n',
    'dimensions: minute(created) as t | measures: count(1) as n',
    'dimensions: month(created) as t, metadata.model as model | measures: count(1) as n',
  ]) {
    const { rows, cursor } = await logs.page(clauses)
    expect(logs.now(clauses), clauses).toMatchObject({ rows, cursor })
    expect(logs.now(clauses, true), clauses).toMatchObject({ rows, cursor })
  }
  const byIds = "select: id, input | filter: id in ['r17', 'r18']"
  const { rows, cursor } = await logs.page(byIds)
  expect(logs.now(byIds)).toMatchObject({ rows, cursor })
})

test('what a query has found out of a segment serves the next, whatever that asks', async () => {
  const counted = (filter: string) => logs.now(`measures: count(1) as n | filter: ${filter}`)?.rows
  for (let turn = 0; turn < 3; turn++) {
    expect(counted("metadata.model = 'small' and metrics.n >= 0")).toEqual([{ n: 2000 }])
    expect(counted("metadata.model != 'small' and metrics.n >= 0")).toEqual([{ n: 4000 }])
    expect(counted("metadata.model in ['large', 'none'] and metrics.n != 1")).toEqual([{ n: 3999 }])
    // The one is a number that rows have, the other none that integers stand for.
    expect(counted(`metrics.n != ${17 + turn}`)).toEqual([{ n: 5999 }])
    expect(counted(`metrics.n != ${17 + turn}.5`)).toEqual([{ n: 6000 }])
    expect(counted('scores.s != 0.125')).toEqual([{ n: 4628 }])
  }
})

test('the main thread is not held up by what is not small', async () => {
  for (const clauses of [
    // Groups of which nobody knows how many there are.
    'dimensions: metadata.user as u | measures: count(1) as n',
    'dimensions: second(created) as t | measures: count(1) as n',
    // Many rows to print.
    'select: *',
    // Texts of any length, be they few rows'.
    "measures: count(1) as n | filter: metrics.n < 10 and input like '%what%'",
    // Texts to be searched, functions that go row by row, sets of traces.
    "measures: count(1) as n | filter: input ILIKE '%is 17?%'",
    'measures: count(1) as n | filter: len(metadata.user) = 6',
    'select: id | filter: any_span(metrics.n = 3)',
  ]) {
    expect(logs.now(clauses), clauses).toBeUndefined()
    expect((await logs.page(clauses)).rows.length, clauses).toBeGreaterThan(0)
  }
})

test('fresh rows that are no columns yet are left to workers, and seen', async () => {
  await logs.insert([{ id: 'fresh', metrics: { n: 1e6 } }])
  const clauses = 'measures: count(1) as n, max(metrics.n) as m'
  expect(logs.now(clauses)).toBeUndefined()
  expect(await logs.page(clauses)).toMatchObject({ rows: [{ n: 6001, m: 1e6 }] })
  await logs.engine.flush()
  // What was too large for a turn is not tried again: the text differs.
  expect(logs.now(`${clauses} | limit: 1`)).toMatchObject({ rows: [{ n: 6001, m: 1e6 }] })
})

test('updates and deletes count', async () => {
  await logs.insert([
    { id: 'r3', metrics: { n: -1 } },
    { id: 'r4', _object_delete: true },
  ])
  await logs.engine.flush()
  const clauses = 'measures: count(1) as n, min(metrics.n) as m'
  expect(logs.now(clauses)).toMatchObject({ rows: [{ n: 5999, m: -1 }] })
})

test('of the newest rows no others are read, unless some of them were updated', async () => {
  const clauses = 'select: id | limit: 5'
  const newest = [5999, 5998, 5997, 5996, 5995].map((n) => ({ id: `r${n}` }))
  expect(logs.now(clauses)).toMatchObject({ rows: newest, read: 5 })
  await logs.insert([{ id: 'r5998', _object_delete: true }])
  await logs.engine.flush()
  const left = [5999, 5997, 5996, 5995, 5994].map((n) => ({ id: `r${n}` }))
  expect(logs.now(`${clauses} | offset: 0`)?.rows).toEqual(left)
})

test('of rows in order, the best granules are read alone, if they are sure to have the first', async () => {
  logs = await openLogs(1_000_000)
  const count = 3 * granuleRows + 1500
  const shapes = rows(count) as { metrics: { n: number } }[]
  await logs.insert(
    shapes.map((row) => {
      const { n } = row.metrics
      return { ...row, metrics: { n, same: 1, a: n % 2, b: n % 3, c: n % 5, d: n % 7 } }
    }),
  )
  await logs.engine.flush()
  // Of all rows, so many fields are no small work.
  const fields = ['same', 'a', 'b', 'c', 'd'].map((name) => `${name} < 9`)
  const filter = `metadata.model != 'none' and metrics.n >= 0 and ${fields.join(' and ')}`
  const by = (sort: string, of = filter) => `select: id | filter: ${of} | sort: ${sort} | limit: 3`
  const last = [1, 2, 3].map((n) => ({ id: `r${count - n}` }))
  const first = [0, 1, 2].map((n) => ({ id: `r${n}` }))
  expect(logs.now(by('created desc'))).toMatchObject({ rows: last, read: 1500 })
  expect(logs.now(by('metrics.n'))).toMatchObject({ rows: first, read: granuleRows })
  // Rows of the others may tie with these.
  expect(logs.now(by('metrics.same desc, metrics.n'))).toBeUndefined()
  expect((await logs.page(by('metrics.same desc, metrics.n'))).rows).toEqual(first)
  // Too few pass in the granules that are read.
  const early = `${filter} and metrics.n + metrics.same < 4`
  expect(logs.now(by('created desc', early))).toBeUndefined()
  expect((await logs.page(by('created desc', early))).rows).toEqual(first.toReversed())
})

test('of few texts the very rows are read, whatever these hold', async () => {
  const lookUp = "select: * | filter: metadata.user = 'user-17' | sort: created"
  const several = "select: id | filter: metadata.user in ['user-5', 'user-7999', 'nobody']"
  expect(logs.now(lookUp)).toMatchObject({ rows: [{ id: 'r17' }], read: 1 })
  expect(logs.now(several)).toMatchObject({ rows: [{ id: 'r5' }], read: 1 })
  await logs.insert([{ id: 'r17', _object_delete: true }])
  await logs.engine.flush()
  expect(logs.now(`${lookUp} | limit: 9`)).toMatchObject({ rows: [] })
})
