import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService

afterEach(() => service.stop())

async function startWith(environment: Record<string, string>): Promise<string> {
  service = await RunningService.start({ ASSAY_WORKERS: '1', ...environment })
  const experiment = await service.create('experiment', await service.project())
  // Compressed, what repeats would be sent before anybody could be slow to read it.
  const input = () => randomBytes(15_000).toString('base64')
  const events = Array.from({ length: 1000 }, (_, i) => {
    return { id: `record-${i}`, input: input(), user: i }
  })
  await service.insert('experiment', experiment, events)
  return `experiment('${experiment}')`
}

/** A query of which only the first bytes are read. */
async function startExport(source: string) {
  const response = await service.fetch('/btql', { body: { query: `select: * | from: ${source}` } })
  const reader = response.body!.getReader()
  await reader.read()
  return reader
}

test('a key that makes too many requests is told when to come again', async () => {
  service = await RunningService.start({ ASSAY_MAX_REQUESTS_PER_MINUTE_PER_KEY: '3' })
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) statuses.push((await service.request('/v1/project')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  const { headers, json } = await service.request('/v1/project')
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(json.Code).toBe('TooManyRequestsError')
  expect(json.Message).toMatch(/^this key may make 3 requests a minute; try again in \d+ s$/)
  // What needs no key is not counted.
  expect((await service.request('/healthz')).status).toBe(200)
})

test('a key that has as many queries as it may gets 429 until one has ended', async () => {
  const source = await startWith({ ASSAY_MAX_QUERIES_PER_KEY: '1' })
  const count = `measures: count(1) as n | from: ${source} | filter: input like '%x%'`
  const reader = await startExport(source)
  const refused = await service.query(count)
  expect([refused.status, refused.json.error!.code]).toEqual([429, 'LIMIT_RATE'])
  await reader.cancel()
  await expect.poll(async () => (await service.query(count)).status).toBe(200)
})

test('a query that would hold more than its budget names it, and the next one is served', async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1', ASSAY_QUERY_MEMORY_MB: '1' })
  const experiment = await service.create('experiment', await service.project())
  const source = `experiment('${experiment}')`
  for (let batch = 0; batch < 4; batch++) {
    const events = Array.from({ length: 10_000 }, (_, i) => ({ id: `${batch}-${i}`, user: i }))
    await service.insert('experiment', experiment, events)
  }
  const { status, json } = await service.query(
    `dimensions: id | measures: count(1) as n | from: ${source}`,
  )
  expect([status, json.error!.code]).toEqual([400, 'LIMIT_MEMORY'])
  expect(json.Message).toContain('the query would hold more than its budget of 1 MiB')
  expect(json.Message).toContain('--query-memory-mb')
  const small = await service.query(`measures: count(1) as n | from: ${source}`)
  expect(small.json.data).toEqual([{ n: 40_000 }])
})

test('the longest time of the server bounds what a query asks for', async () => {
  const source = await startWith({ ASSAY_MAX_QUERY_SECONDS: '1' })
  const reader = await startExport(source)
  const open = async () => (await service.request('/admin/queries')).json.queries
  await expect.poll(open).toEqual([])
  const readAll = async () => {
    while (!(await reader.read()).done);
  }
  await expect(readAll()).rejects.toThrow()
  const answer = await service.query(`measures: count(1) as n | from: ${source}`, {
    query_timeout_seconds: 600,
  })
  expect(answer.status).toBe(200)
})

test('queries that wait while others read slowly are served', async () => {
  const source = await startWith({ ASSAY_MAX_RUNNING_QUERIES: '1' })
  const readers = [await startExport(source), await startExport(source)]
  const like = `measures: count(1) as n | from: ${source} | filter: input like '%x%'`
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.query(like)))
  expect(answers.map(({ json }) => json.data)).toEqual(answers.map(() => [{ n: 1000 }]))
  for (const reader of readers) await reader.cancel()
})

test('headers tell how long the request and its query took', async () => {
  const source = await startWith({})
  for (const filter of ["id = 'record-1'", 'user > 10']) {
    const { headers } = await service.query(
      `select: * | from: ${source} | filter: ${filter} | limit: 1`,
    )
    for (const name of ['x-bt-api-duration-ms', 'x-bt-brainstore-duration-ms']) {
      expect(headers.get(name)).toMatch(/^\d+$/)
    }
  }
})

test('what a client calls its request is in the answer and the errors have our own id', async () => {
  service = await RunningService.start()
  const ask = (id: string) => service.request('/v1/nothing', { headers: { 'x-request-id': id } })
  const named = await ask('client-1.a:b_c')
  expect(named.headers.get('x-request-id')).toBe('client-1.a:b_c')
  const traceId = named.headers.get('x-bt-internal-trace-id')
  expect(named.json.InternalTraceId).toBe(traceId)
  expect(traceId).toMatch(/^[0-9a-f]{32}$/)
  for (const unsafe of ['a b', '{"x":1}', 'x'.repeat(200)]) {
    const { headers } = await ask(unsafe)
    expect(headers.get('x-request-id')).toBe(headers.get('x-bt-internal-trace-id'))
  }
})
