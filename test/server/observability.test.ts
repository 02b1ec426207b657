/** What operators see of a service: numbers that move, and lines of the log that find a request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { type AnyJson, testKey } from '../support/running-service.ts'
import { StreamClient } from '../support/stream-client.ts'

let directory: string
let server: ServeProcess
let source: string
const rowCount = 20_000

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-observed-'))
  server = await serveAssay(directory, {
    ASSAY_BOOTSTRAP_KEY: testKey,
    ASSAY_SLOW_QUERY_MS: '1',
    ASSAY_WARM_UP: '0',
  })
  const { id: project_id } = (await ask('/v1/project', { name: 'p' })).json
  const { id } = (await ask('/v1/experiment', { project_id, name: 'x' })).json
  source = `experiment('${String(id)}')`
  const events = Array.from({ length: rowCount }, (_, i) => ({ id: `r${i}`, user: i }))
  await ask(`/v1/experiment/${String(id)}/insert`, { events })
})

afterAll(async () => {
  server.child.kill('SIGTERM')
  await server.exit
  rmSync(directory, { recursive: true })
})

async function ask(path: string, body?: object, requestId?: string) {
  const response = await fetch(server.url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${testKey}`,
      ...(requestId !== undefined && { 'x-request-id': requestId }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = text.startsWith('{') ? (JSON.parse(text) as AnyJson) : ({} as AnyJson)
  return { status: response.status, headers: response.headers, text, json }
}

/** Lines of the log that have these fields; waits until there is one. */
async function logged(fields: object): Promise<Record<string, unknown>> {
  const lines = () =>
    server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const found = () =>
    lines().find((line) => Object.entries(fields).every(([name, value]) => line[name] === value))
  await expect.poll(found, { timeout: 30_000 }).toBeDefined()
  return found()!
}

test('a query that took long is logged with its plan, under the id of its request', async () => {
  const query = `dimensions: user % 100 as k | measures: count(1) as n | from: ${source} | sort: n`
  const { status, headers } = await ask('/btql', { query }, 'from-a-client')
  expect(status).toBe(200)
  const traceId = headers.get('x-bt-internal-trace-id')
  expect(await logged({ msg: 'slow query', traceId })).toMatchObject({
    query,
    ms: expect.any(Number),
    workerMs: expect.any(Number),
    rowsRead: rowCount,
    rowsSent: 100,
    organizationId: expect.any(String),
    plan: expect.stringMatching(/Sort.*Scan/s),
  })
  expect(await logged({ msg: 'request', traceId })).toMatchObject({
    requestId: 'from-a-client',
    path: '/btql',
    status: 200,
  })
})

test('a query that is an object is logged as its text', async () => {
  const group = {
    op: 'mod',
    left: { op: 'ident', name: ['user'] },
    right: { op: 'literal', value: 99 },
  }
  const { headers } = await ask('/btql', {
    query: {
      dimensions: [{ expr: group, alias: 'k' }],
      measures: [{ btql: 'count(1)' }],
      from: source,
    },
  })
  const traceId = headers.get('x-bt-internal-trace-id')
  expect(await logged({ msg: 'slow query', traceId })).toMatchObject({
    query: `dimensions: user % 99 as k\nmeasures: count(1)\nfrom: ${source}`,
  })
})

test('an error names the request as the log and the headers do', async () => {
  const { headers, json } = await ask('/btql', { query: 'select: |' })
  const traceId = headers.get('x-bt-internal-trace-id')
  expect(json.InternalTraceId).toBe(traceId)
  expect(await logged({ msg: 'request', traceId })).toMatchObject({ status: 400, path: '/btql' })
})

/** The numbers of a moment, by name and labels. */
async function numbers(): Promise<ReadonlyMap<string, number>> {
  const { text } = await ask('/metrics')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end))]
    }),
  )
}

test('the numbers of each kind move with what happens', async () => {
  const before = await numbers()
  const query = `dimensions: user % 7 as k | measures: count(1) as n | from: ${source} | filter: user > `
  for (let i = 0; i < 5; i++) await ask('/btql', { query: `${query}${i}` })
  for (let i = 0; i < 5; i++) await ask('/btql', { query: `${query}7` })
  await ask('/btql', { query: 'nothing' })
  const stream = await StreamClient.open(server)
  stream.send({ query: `select: id | from: ${source} | limit: 1`, live: true })
  await stream.until('current')
  const after = await numbers()
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  const request = (status: number) =>
    `assay_http_requests_total{method="POST",route="/btql",status="${status}"}`
  // Requests and how long they took.
  expect([grown(request(200)), grown(request(400))]).toEqual([10, 1])
  expect(grown('assay_http_request_duration_seconds_count{route="/btql"}')).toBe(11)
  expect(grown('assay_http_request_duration_seconds_sum{route="/btql"}')).toBeGreaterThan(0)
  expect(grown('assay_http_sent_bytes_total')).toBeGreaterThan(500)
  // Plans and answers that were kept.
  expect(grown('assay_plan_cache_misses_total')).toBeGreaterThanOrEqual(1)
  expect(grown('assay_plan_cache_hits_total')).toBeGreaterThanOrEqual(1)
  expect(grown('assay_plan_cache_entries')).toBeGreaterThanOrEqual(1)
  expect(grown('assay_kept_answers_hits_total')).toBeGreaterThanOrEqual(1)
  // Connections.
  expect(grown('assay_websockets_open')).toBe(1)
  expect(grown('assay_live_queries')).toBe(1)
  stream.close()
  // The delay of the event loop, and the process.
  for (const name of ['nodejs_eventloop_lag_seconds', 'process_resident_memory_bytes']) {
    expect(after.get(name)).toBeGreaterThanOrEqual(0)
  }
  expect(after.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
  // Storage, and what becomes of fresh rows.
  expect(after.get('assay_storage_bytes{part="records"}')).toBeGreaterThan(100_000)
  // One that had nothing to flush may have come before.
  const rows = async () => (await numbers()).get('assay_segment_rows')
  await expect.poll(rows, { timeout: 60_000, interval: 500 }).toBe(rowCount)
  const flushed = await numbers()
  expect(flushed.get('assay_maintenance_seconds{kind="flush"}')).toBeGreaterThan(0)
  expect(flushed.get('assay_maintenance_failures{kind="flush"}')).toBe(0)
  expect(flushed.get('assay_maintenance_steps{kind="flush"}')).toBeGreaterThan(0)
  expect([flushed.get('assay_segments'), flushed.get('assay_delta_rows')]).toEqual([1, 0])
})

test('the queue and the threads are told while queries are at work', async () => {
  const [rows, one] = ['[1,2,3,4,5,6,7,8,9,10]', 'measures: count(1) as n']
  const unpivots = Array.from('abcd', (name) => `${rows} as ${name}`).join()
  const query = `${one} | from: ${source} | unpivot: ${unpivots} | filter: a + b + c + d > 39`
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${testKey}` }
  for (let i = 0; i < 3; i++) {
    const body = JSON.stringify({ query: `${query} and user > ${i}` })
    const options = { method: 'POST', headers, body, signal: leaving.signal }
    fetch(`${server.url}/btql`, options).catch(() => undefined)
  }
  const now = async () => {
    const found = await numbers()
    const names = ['queries_open', 'queries_running', 'workers_busy', 'tasks_queued']
    return names.map((name) => found.get(`assay_${name}`))
  }
  await expect.poll(now).toEqual([3, 3, 1, 2])
  leaving.abort()
  await expect.poll(now).toEqual([0, 0, 0, 0])
})
