import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

const bigRows = 400
const bigText = 'y'.repeat(20_000)

let service: RunningService
let experiment: string
let big: string
let firstTransaction: string

beforeAll(async () => {
  service = await RunningService.start()
  const project = await service.project()
  experiment = await service.create('experiment', project, 'small')
  big = await service.create('experiment', project, 'big')
  const row = (id: string, score: number) => ({
    id,
    experiment_id: experiment,
    scores: { s: score },
  })
  const body = { rows: [row('a', 0.5), row('b', 1)] }
  firstTransaction = String((await service.request('/logs3', { body })).json.xact_id)
  await service.insert('experiment', experiment, [{ id: 'b', scores: { s: 0 } }, { id: 'c' }])
  for (let from = 0; from < bigRows; from += 100) {
    const events = Array.from({ length: 100 }, (_, i) => ({ id: `r${from + i}`, input: bigText }))
    await service.insert('experiment', big, events)
  }
})
afterAll(() => service.stop())

const small = (clauses: string) => `${clauses} | from: experiment('${experiment}')`

test('an answer has data, schema, cursor and states', async () => {
  const { status, json, headers } = await service.query(small('select: id, scores.s as s'))
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/json')
  expect(json).toEqual({
    data: [
      { id: 'c', s: null },
      { id: 'b', s: 0 },
      { id: 'a', s: 0.5 },
    ],
    schema: {
      type: 'array',
      items: { type: 'object', properties: { id: expect.any(Object), s: expect.any(Object) } },
    },
    cursor: expect.stringMatching(/^[\w+/]{11}$/),
    freshness_state: expect.any(Object),
    realtime_state: expect.objectContaining({ type: 'on', read_bytes: expect.any(Number) }),
  })
  expect(headers.get('x-bt-cursor')).toBe(json.cursor)
  const { last_processed_xact_id: processed, last_considered_xact_id: considered } =
    json.freshness_state as unknown as Record<string, string>
  expect(processed).toMatch(/^\d{19}$/)
  expect(considered).toBe(processed)
})

test('no rows: no cursor', async () => {
  const { json, headers } = await service.query(small("select: id | filter: id = 'none'"))
  expect(json).toMatchObject({ data: [] })
  expect(json.cursor).toBeUndefined()
  expect(headers.get('x-bt-cursor')).toBeNull()
})

test('JSON lines', async () => {
  const lines = await service.query(small('select: id'), { fmt: 'jsonl' })
  expect(lines.text).toBe('{"id":"c"}\n{"id":"b"}\n{"id":"a"}\n')
  expect(lines.headers.get('x-bt-cursor')).toMatch(/./)
  const none = await service.query(small('select: id | limit: 0'), { fmt: 'jsonl' })
  expect(none).toMatchObject({ status: 200, text: '' })
})

test('a filter with its source apart', async () => {
  const from = `experiment('${experiment}')`
  const { json } = await service.query('scores.s > 0.2', { from })
  expect(json.data).toMatchObject([{ id: 'a' }])
})

test('an earlier version', async () => {
  const query = small('select: id, scores.s as s')
  const { json } = await service.query(query, { version: firstTransaction })
  expect(json.data).toEqual([
    { id: 'b', s: 1 },
    { id: 'a', s: 0.5 },
  ])
  expect((await service.query(query, { version: 'x' })).status).toBe(400)
})

test('the columnstore gives the same answer; an audit log comes when asked for', async () => {
  const query = small('select: id')
  const plain = await service.query(query, { use_columnstore: false })
  const columns = await service.query(query, { use_columnstore: true, audit_log: true })
  expect(columns.json.data).toEqual(plain.json.data)
  expect(plain.json.audit_log).toBeUndefined()
  expect(columns.json.audit_log).toEqual(expect.arrayContaining([expect.any(Object)]))
})

test('a plan instead of an answer', async () => {
  const answer = await service.request('/btql/explain', { body: { query: small('select: id') } })
  expect(answer).toMatchObject({ status: 200, json: { plan: expect.stringMatching(/\w/) } })
})

test('options that are null are absent; options that are unknown are ignored', async () => {
  const more = {
    fmt: null,
    from: null,
    version: null,
    tz_offset: null,
    audit_log: null,
    use_columnstore: null,
    query_source: 'x',
    lint_mode: 'strict',
    brainstore_realtime: true,
  }
  expect((await service.query(small('select: id'), more)).status).toBe(200)
})

test.each([
  [{}, 'query', 'REQUEST_INVALID'],
  [{ query: null }, 'query', 'REQUEST_INVALID'],
  [{ query: 3 }, 'query', 'REQUEST_INVALID'],
  [{ query: { selct: [] } }, 'query', 'REQUEST_INVALID'],
  [{ query: [] }, 'query', 'REQUEST_INVALID'],
  [{ query: 'x', fmt: 'xml' }, 'fmt', 'BIND_INVALID_OPTION'],
  [{ query: 'x', fmt: 1 }, 'fmt', 'REQUEST_INVALID'],
  [{ query: 'x', tz_offset: '60' }, 'tz_offset', 'REQUEST_INVALID'],
  [{ query: 'x', version: 3 }, 'version', 'REQUEST_INVALID'],
  [{ query: 'x', use_columnstore: 'yes' }, 'use_columnstore', 'REQUEST_INVALID'],
  [{ query: 'x', audit_log: 1 }, 'audit_log', 'REQUEST_INVALID'],
])('%j is refused at %s', async (body, path, code) => {
  const { status, json } = await service.request('/btql', { body })
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code, path })
})

test('a fault in a query is shown in its text', async () => {
  const query = `select: id, (scores.s\nfrom: experiment('${experiment}')`
  const { status, json } = await service.query(query)
  expect(status).toBe(400)
  expect(json).toMatchObject({ Code: 'BadRequestError', Path: '/btql', Service: 'api' })
  expect(json.error).toMatchObject({
    code: expect.stringMatching(/^PARSE_/),
    line: expect.any(Number),
    column: expect.any(Number),
  })
  expect(json.Message).toContain('^')
})

test.each([
  ['10 MB', 'x'.repeat(10_000_000)],
  [
    '10,000 parentheses',
    `select: ${'('.repeat(10_000)}1${')'.repeat(10_000)} | from: experiment('x')`,
  ],
  ['10,000 nots', `filter: ${'not '.repeat(10_000)}true`],
  ['nothing', ''],
  ['garbage', '\u0000\ud800💧'],
])('a query of %s', async (_, query) => {
  const { status, json } = await service.query(query)
  expect(status).toBe(400)
  expect(json.error.code).toMatch(/^PARSE_/)
})

test('an object that is not there', async () => {
  const { status, json } = await service.query("select: * | from: experiment('none')")
  expect(status).toBe(403)
  expect(json.Message).toContain(
    'Missing read access to experiment id none, or the experiment does not exist',
  )
})

test('a large answer comes compressed or not, whole either way', async () => {
  const query = `select: id, input | from: experiment('${big}')`
  const body = JSON.stringify({ query })
  const plain = await service.request('/btql', { body, headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  const refused = { 'accept-encoding': 'gzip;q=0' }
  const notGzip = await service.fetch('/btql', { body, headers: refused })
  expect(notGzip.headers.get('content-encoding')).toBeNull()
  await notGzip.body?.cancel()
  const gzip = await service.request('/btql', { body, headers: { 'accept-encoding': 'gzip' } })
  expect(gzip.headers.get('content-encoding')).toBe('gzip')
  expect(gzip.text).toBe(plain.text)
  expect(gzip.json.data).toHaveLength(bigRows)
  expect(gzip.json.cursor).toMatch(/./)
})

test('a page of JSON lines has its cursor in the header', async () => {
  const query = `select: id, input | from: experiment('${big}') | limit: 200`
  const page = await service.query(query, { fmt: 'jsonl' })
  expect(page.text.split('\n')).toHaveLength(201)
  expect(page.headers.get('x-bt-cursor')).toMatch(/./)
})

test('a client that leaves takes nothing with it', async () => {
  const query = `select: id, input | from: experiment('${big}')`
  for (const encoding of ['identity', 'gzip']) {
    for (let i = 0; i < 5; i++) {
      const controller = new AbortController()
      const headers = { 'accept-encoding': encoding }
      const options = { body: { query }, headers }
      const response = await service.fetch('/btql', options, controller.signal)
      await response.body?.getReader().read()
      controller.abort()
    }
    const early = new AbortController()
    const asked = service.fetch('/btql', { body: { query } }, early.signal)
    setTimeout(() => early.abort(), 1)
    await asked.catch(() => undefined)
  }
  expect((await service.query(small('select: id'))).status).toBe(200)
})

test('a slow reader gets everything and holds up nobody', async () => {
  const body = JSON.stringify({ query: `select: id, input | from: experiment('${big}')` })
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /btql HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testKey}\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  )
  let received = 0
  let isServed = false
  const goOn = () => {
    if (isServed) socket.resume()
  }
  const done = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      received += data.length
      if (data.toString('latin1').endsWith('0\r\n\r\n')) resolve()
      socket.pause()
      setTimeout(goOn, 2)
    })
  })
  await expect.poll(() => received).toBeGreaterThan(0)
  // It reads no further until another has been served.
  expect((await service.query(small('select: id'))).status).toBe(200)
  isServed = true
  socket.resume()
  await done
  socket.destroy()
  expect(received).toBeGreaterThan(bigRows * bigText.length)
})
