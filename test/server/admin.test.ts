import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let experiment: string

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  experiment = await service.create('experiment', await service.project())
  const events = Array.from({ length: 2000 }, (_, i) => ({
    id: `r${i}`,
    input: 'x'.repeat(20_000),
  }))
  await service.insert('experiment', experiment, events)
})

afterAll(() => service.stop())

/** A query of which only the first bytes are read: it goes on until it is cancelled. */
async function startExport() {
  const query = `select: * | from: experiment('${experiment}')`
  const response = await service.fetch('/btql', { body: { query } })
  const reader = response.body!.getReader()
  await reader.read()
  return reader
}

test('a query that runs is listed with who asked, what, and how far it is', async () => {
  const reader = await startExport()
  const list = async () => (await service.request('/admin/queries')).json.queries
  await expect.poll(list).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: expect.any(String),
      api_key_id: expect.any(String),
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      query: `select: * | from: experiment('${experiment}')`,
      started: expect.stringMatching(/^\d{4}-.*Z$/),
      state: 'sending',
      progress: {
        rows_to_read: expect.any(Number),
        rows_read: expect.any(Number),
        rows_sent: expect.any(Number),
      },
      worker_ms: expect.any(Number),
      memory_bytes: expect.any(Number),
    },
  ])
  await reader.cancel()
  await expect.poll(list).toEqual([])
})

test.each([
  ['DELETE', ''],
  ['POST', '/cancel'],
])('%s cancels a query, whose answer then breaks off', async (method, suffix) => {
  const reader = await startExport()
  const { json } = await service.request('/admin/queries')
  const { id } = (json.queries as unknown as { id: string }[])[0]!
  const answer = await service.request(`/admin/queries/${id}${suffix}`, { method })
  expect(answer.json).toEqual({ cancelled: id })
  const readAll = async () => {
    while (!(await reader.read()).done);
  }
  await expect(readAll()).rejects.toThrow()
  const list = async () => (await service.request('/admin/queries')).json.queries
  await expect.poll(list).toEqual([])
})

test('a query that is not there cannot be cancelled', async () => {
  const answer = await service.request('/admin/queries/x', { method: 'DELETE' })
  expect(answer.status).toBe(404)
  expect(answer.json.Message).toBe(
    'There is no query x of yours; it may have ended; GET /admin/queries lists those that run',
  )
})

test('the list and the numbers need a key', async () => {
  for (const path of ['/admin/queries', '/metrics']) {
    expect((await service.request(path, { key: null })).status).toBe(401)
  }
})

test('the numbers tell of requests, queries, workers, plans, storage and the event loop', async () => {
  await service.query(`measures: count(1) as n | from: experiment('${experiment}')`)
  const { status, headers, text } = await service.request('/metrics')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length),
    )
  expect(
    value('assay_http_requests_total{method="POST",route="/btql",status="200"}'),
  ).toBeGreaterThan(0)
  expect(value('assay_http_request_duration_seconds_count{route="/btql"}')).toBeGreaterThan(0)
  expect(value('assay_workers')).toBe(1)
  expect(value('assay_workers_busy')).toBe(0)
  expect(value('assay_queries_queued')).toBe(0)
  expect(value('assay_plan_cache_misses_total')).toBeGreaterThan(0)
  expect(value('assay_segment_rows') + value('assay_delta_rows')).toBe(2000)
  expect(value('assay_storage_bytes{part="records"}')).toBeGreaterThan(100_000)
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds')
  expect(text).not.toContain(experiment)
})
