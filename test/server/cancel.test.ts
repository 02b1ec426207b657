/** Whoever leaves takes the work along, wherever on the threads a query has come to. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'
import { StreamClient } from '../support/stream-client.ts'

let service: RunningService
let from: string

/** Of each record an unpivot makes so many rows, and two of them the square of it. */
const elements = 250
const records = 9600

/** Of which queries take as many as they need to take so long, so that what is left of one is more than it may go on for. */
const longMs = 1500

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '2', ASSAY_WARM_UP: '0' })
  const experiment = await service.create('experiment', await service.project())
  from = `from: experiment('${experiment}') | unpivot: metadata.list as a`
  const list = Array.from({ length: elements }, (_, i) => i)
  for (let i = 0; i < records; i += 600) {
    const events = Array.from({ length: 600 }, (_, j) => ({
      id: `r${i + j}`,
      user: i + j,
      metadata: { list },
    }))
    expect((await service.insert('experiment', experiment, events)).status).toBe(200)
  }
})

afterAll(() => service.stop())

/** Threads that are at work on queries. */
async function busy(): Promise<number> {
  const { text } = await service.request('/metrics')
  return Number(/^assay_workers_busy (\d+)$/m.exec(text)![1])
}

/** Queries that were given up while workers were at it, and for how long these went on, so far. */
async function left(): Promise<readonly [count: number, seconds: number]> {
  const { text } = await service.request('/metrics')
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1])
  return [value('assay_left_queries_total'), value('assay_left_queries_work_seconds_total')]
}

async function idle(): Promise<number> {
  const since = performance.now()
  while ((await busy()) > 0) await wait(20)
  return performance.now() - since
}

/** Where other work takes the processor from one of the two times that are compared. */
const aFewTimes = { retry: 2 }

/** A quarter of a million groups, or rows, of numbers and of texts. */
const manyNumbers = 'user * 1000 + a as k'
const manyTexts = 'concat(id, to_string(a)) as k'

test.each([
  ['groups', (rows: string) => `dimensions: ${manyNumbers} | measures: count(1) as n | ${rows}`],
  [
    'groups that are grouped again',
    (rows: string) =>
      `dimensions: n | measures: count(1) as m | from: (dimensions: ${manyTexts} | measures: count(1) as n | ${rows})`,
  ],
  [
    'groups in order',
    (rows: string) =>
      `select: * | from: (dimensions: ${manyNumbers} | measures: sum(a) as s | ${rows}) | sort: s desc, k`,
  ],
  ['rows in order', (rows: string) => `select: id, a | ${rows} | sort: a desc, id`],
  [
    'percentiles',
    (rows: string) =>
      `dimensions: user | measures: percentile(a * user, 0.5) as p, percentile(a, 0.9) as q | ${rows}`,
  ],
  [
    'lists of values',
    (rows: string) =>
      `dimensions: a | measures: array_agg(concat(id, to_string(a))) as l | ${rows}`,
  ],
  [
    'different values',
    (rows: string) => `measures: count_distinct(concat(id, to_string(a))) as n | ${rows}`,
  ],
])('%s', aFewTimes, async (_, queryOf) => {
  let body = {}
  let took = 0
  for (let users = records / 16; took < longMs && users <= records; users *= 2) {
    body = { query: queryOf(`${from} | filter: user < ${users}`), fmt: 'jsonl' }
    const started = performance.now()
    expect((await service.request('/btql', { body })).status).toBe(200)
    took = performance.now() - started
  }
  for (const share of [0.2, 0.4]) {
    const leaving = new AbortController()
    const asked = service.fetch('/btql', { body }, leaving.signal).then((answer) => answer.text())
    asked.catch(() => undefined)
    await wait(took * share)
    leaving.abort()
    expect(await idle()).toBeLessThan(took * 0.4)
  }
})

/** A loaded machine takes its time, but not the minutes of what is cancelled. */
const patient = { timeout: 60_000, interval: 100 }

/** Would take minutes. */
const endless = () =>
  `measures: count(1) as n | ${from}, metadata.list as b, metadata.list as c | filter: a + b + c > 700`

test('a query that is cancelled, or over its time, ends on the threads, too', async () => {
  const body = { query: endless(), query_timeout_seconds: 1 }
  const [countBefore, secondsBefore] = await left()
  const { status, json } = await service.request('/btql', { body })
  expect([status, json.error!.code]).toEqual([504, 'QUERY_TIMEOUT'])
  await expect.poll(busy, patient).toBe(0)
  const [count, seconds] = await left()
  expect(count).toBe(countBefore + 1)
  expect(seconds).toBeGreaterThan(secondsBefore)

  const cancelled = service.query(endless())
  await expect.poll(busy, patient).toBeGreaterThan(0)
  const list = (await service.request('/admin/queries')).json.queries as unknown as { id: string }[]
  await service.request(`/admin/queries/${list[0]!.id}`, { method: 'DELETE' })
  expect((await cancelled).status).toBe(499)
  await expect.poll(busy, patient).toBe(0)

  const stream = await StreamClient.open(service)
  stream.send({ id: '1', query: endless() })
  await expect.poll(busy, patient).toBeGreaterThan(0)
  stream.send({ type: 'cancel', id: '1' })
  expect((await stream.until('error')).status).toBe(499)
  await expect.poll(busy, patient).toBe(0)
  stream.send({ id: '2', query: endless() })
  await expect.poll(busy, patient).toBeGreaterThan(0)
  stream.close()
  await expect.poll(busy, patient).toBe(0)

  const { id } = (await service.request('/btql/async', { body: { query: endless() } })).json
  await expect.poll(busy, patient).toBeGreaterThan(0)
  await service.request(`/btql/async/${String(id)}/cancel`, { method: 'POST' })
  await expect.poll(busy, patient).toBe(0)
})

test('what is made of few records may be much, and holds up nobody', async () => {
  const query = `${endless()} and id = 'r1'`
  const later = `measures: count(1) as n | from: (select: * | ${from} | limit: 1) | unpivot: metadata.list as x, metadata.list as y, metadata.list as z | filter: x + y + z > 746`
  for (const asked of [query, later]) {
    const leaving = new AbortController()
    const options = { body: { query: asked } }
    const answer = service.fetch('/btql', options, leaving.signal).then(({ status }) => status)
    const health = service.request('/healthz').then(({ status }) => `healthz ${status}`)
    expect(await Promise.race([health, answer])).toBe('healthz 200')
    leaving.abort()
    await answer.catch(() => undefined)
    await expect.poll(busy, patient).toBe(0)
  }
})

test('one that waits for a thread never begins once its client has left', async () => {
  const endlessOnes = [new AbortController(), new AbortController()]
  for (const { signal } of endlessOnes) {
    service.fetch('/btql', { body: { query: endless() } }, signal).catch(() => undefined)
  }
  await expect.poll(busy, patient).toBe(2)
  const waiting = new AbortController()
  const body = { query: `dimensions: user | measures: count(1) as n | ${from}` }
  service.fetch('/btql', { body }, waiting.signal).catch(() => undefined)
  const open = async () =>
    ((await service.request('/admin/queries')).json.queries as unknown as object[]).length
  await expect.poll(open, patient).toBe(3)
  waiting.abort()
  await expect.poll(open, patient).toBe(2)
  for (const one of endlessOnes) one.abort()
  await expect.poll(busy, patient).toBe(0)
  expect(await open()).toBe(0)
})
