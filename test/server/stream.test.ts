/** `/btql/stream` as a WebSocket: answers in messages, several at a time, and who may ask. */
import { randomBytes } from 'node:crypto'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type AnyJson, RunningService, testKey } from '../support/running-service.ts'
import { EventReader, rowsOf, StreamClient } from '../support/stream-client.ts'

let service: RunningService
let source: string
const clients: StreamClient[] = []

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  const experiment = await service.create('experiment', await service.project())
  source = `experiment('${experiment}')`
  // Noise, so that what is sent is as large as it looks.
  const events = Array.from({ length: 2000 }, (_, i) => ({
    id: `r${i}`,
    user: i,
    input: randomBytes(12_000).toString('base64'),
  }))
  for (let i = 0; i < events.length; i += 500) {
    await service.insert('experiment', experiment, events.slice(i, i + 500))
  }
}, 120_000)

afterAll(() => service.stop())

afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})

async function connect(options = {}): Promise<StreamClient> {
  const client = await StreamClient.open(service, options)
  clients.push(client)
  return client
}

async function ready(options = {}): Promise<StreamClient> {
  const client = await connect(options)
  expect(await client.next()).toEqual({ type: 'ready' })
  return client
}

const open = async (): Promise<AnyJson[]> => {
  const { json } = await service.request('/admin/queries')
  return json.queries as unknown as AnyJson[]
}

test('an answer comes as schema, batches and end, with what POST /btql answers', async () => {
  const query = `select: id, user | from: ${source} | limit: 100`
  const client = await ready()
  client.send({ id: 'a', query })
  const messages = await client.all('end', 'error')
  const { json } = await service.query(query)
  expect(messages.map(({ id }) => id)).toEqual(messages.map(() => 'a'))
  expect(messages[0]).toMatchObject({
    type: 'schema',
    format: 'json',
    query_id: expect.any(String),
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    schema: json.schema,
  })
  expect(rowsOf(messages)).toEqual(json.data)
  const { cursor, freshness_state } = json
  expect(messages.at(-1)).toMatchObject({ type: 'end', row_count: 100, cursor, freshness_state })
})

test('progress is told while a query runs, and audit events where they are asked for', async () => {
  const client = await ready()
  client.send({ query: `select: * | from: ${source}`, audit_log: true })
  const messages = await client.all('end', 'error')
  const progress = messages.filter(({ type }) => type === 'progress')
  expect(progress.length).toBeGreaterThan(0)
  for (const { share } of progress) expect(share).toBeLessThanOrEqual(1)
  expect(progress.at(-1)!.rows_sent).toBeGreaterThan(0)
  const steps = messages.filter(({ type }) => type === 'audit').map((message) => message.event)
  expect(steps).toContainEqual(expect.objectContaining({ event: 'snapshot' }))
  expect(steps).toContainEqual(expect.objectContaining({ event: 'print' }))
  expect(rowsOf(messages)).toHaveLength(2000)
  client.send({ query: `select: * | from: ${source}`, progress: false })
  const quiet = await client.all('end', 'error')
  expect(new Set(quiet.map(({ type }) => type))).toEqual(new Set(['schema', 'batch', 'end']))
})

test('Arrow comes in binary messages, which end to end are a stream', async () => {
  const client = await ready()
  client.send({ query: `select: id, user | from: ${source} | limit: 5`, fmt: 'arrow' })
  const messages = await client.all('end', 'error')
  const sizes = messages.filter(({ type }) => type === 'batch').map(({ bytes }) => bytes)
  expect(sizes).toEqual(client.binary.map(({ length }) => length))
  const table = tableFromIPC(Buffer.concat(client.binary))
  expect(table.numRows).toBe(5)
  expect(table.schema.fields.map(({ name }) => name)).toEqual(['id', 'user'])
})

test('one connection runs several queries, and each answer is whole', async () => {
  const client = await ready()
  const count = (least: number) =>
    `measures: count(1) as n | from: ${source} | filter: user >= ${least}`
  for (let i = 0; i < 16; i++) client.send({ id: `${i}`, query: count(i) })
  const counts = new Map<string, unknown>()
  for (let ended = 0; ended < 16; ) {
    const message = await client.until('batch', 'end', 'error')
    if (message.type === 'batch') counts.set(message.id!, (message.rows as AnyJson[])[0]!.n)
    else ended++
  }
  expect([...counts].sort(([a], [b]) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 16 }, (_, i) => [`${i}`, 2000 - i]),
  )
})

test('a connection has so many queries at a time, each under its own id', async () => {
  const client = await ready()
  client.socket.pause()
  for (let i = 0; i < 16; i++) client.send({ id: `${i}`, query: `select: * | from: ${source}` })
  client.send({ id: '3', query: `select: * | from: ${source}` })
  client.send({ id: '17', query: `select: * | from: ${source}` })
  client.socket.resume()
  const conflict = await client.until('error')
  expect(conflict).toMatchObject({ status: 400, error: { code: 'REQUEST_CONFLICT', path: 'id' } })
  expect(conflict.id).toBeUndefined()
  expect(await client.until('error')).toMatchObject({ status: 429, error: { code: 'LIMIT_RATE' } })
})

test('faults of a query have their place, and the connection serves on', async () => {
  const client = await ready()
  client.send({ id: '1', query: `select: nothing( | from: ${source}` })
  const { status, message, error } = await client.until('error')
  const { json } = await service.query(`select: nothing( | from: ${source}`)
  expect({ status, message, error }).toEqual({
    status: 400,
    message: json.Message,
    error: json.error,
  })
  client.send({ query: `select: id | from: ${source} | limit: 1`, unheard_of: 1 })
  expect((await client.until('end')).warnings).toContainEqual(
    expect.objectContaining({ code: 'unknownOption' }),
  )
  for (const [sent, told] of [
    [{ query: 1 }, '"query" must be a string or an object'],
    [{ query: `select: * | from: ${source}`, fmt: 'csv' }, '"csv" is not a format of streams here'],
    [{ query: 'x', live: 'yes' }, '"live" must be true or false'],
    [{ type: 'hello' }, '"hello" is no message'],
  ] as const) {
    client.send(sent)
    expect((await client.until('error')).message).toContain(told)
  }
  client.socket.send('{')
  expect((await client.until('error')).error).toMatchObject({ code: 'REQUEST_NOT_JSON' })
  client.send({ query: `measures: count(1) as n | from: ${source}` })
  expect(rowsOf(await client.all('end', 'error'))).toEqual([{ n: 2000 }])
})

test('what was begun ends when the client says so, and when it leaves', async () => {
  const client = await ready()
  client.send({ id: 'long', query: `select: * | from: ${source}` })
  await client.until('batch')
  client.send({ type: 'cancel', id: 'long' })
  expect(await client.until('end', 'error')).toMatchObject({
    id: 'long',
    status: 499,
    error: { code: 'QUERY_CANCELLED' },
  })
  await expect.poll(open).toEqual([])
  client.send({ id: 'long', query: `select: * | from: ${source}` })
  await client.until('batch')
  client.close()
  await expect.poll(open).toEqual([])
})

/** Ends all queries that run, as their time may be over, or a file not be readable, in the middle of an answer. */
async function cancelAll(): Promise<void> {
  for (const { id } of await open()) {
    await service.request(`/admin/queries/${String(id)}`, { method: 'DELETE' })
  }
}

const breaksOff = { type: 'error', status: 499, error: { code: 'QUERY_CANCELLED' } }

test.each(['json', 'arrow'])('%s that breaks off ends with an error, and no end', async (fmt) => {
  const client = await ready()
  client.send({ query: `select: * | from: ${source}`, fmt })
  await client.until('batch')
  client.socket.pause()
  await cancelAll()
  client.socket.resume()
  const rest = await client.all('end', 'current', 'error')
  expect(rest.at(-1)).toMatchObject(breaksOff)
  if (fmt === 'json') return
  const endOfStream = Buffer.from('ffffffff00000000', 'hex')
  expect(Buffer.concat(client.binary).subarray(-8).equals(endOfStream)).toBe(false)
})

test('events that break off end with an error, and no end', async () => {
  const body = { query: `select: * | from: ${source}` }
  const headers = { accept: 'text/event-stream', 'accept-encoding': 'identity' }
  const reader = new EventReader(await service.fetch('/btql/stream', { body, headers }))
  await reader.until('batch')
  await cancelAll()
  const names: string[] = []
  for (let event = await reader.next(); event; event = await reader.next()) {
    names.push(event.event)
    if (event.event === 'error') expect(event.data).toMatchObject(breaksOff)
  }
  expect(names).not.toContain('end')
  expect(names.at(-1)).toBe('error')
})

test('a reader that takes nothing is waited for, and others are served', async () => {
  const slow = await ready()
  slow.send({ id: '1', query: `select: * | from: ${source}` })
  slow.send({ id: '2', query: `select: * | from: ${source}` })
  slow.socket.pause()
  const states = async () => (await open()).map(({ state }) => state)
  await expect.poll(states).toEqual(['sending', 'sending'])
  const before = (await open()).map(({ progress }) => progress!.rows_sent)
  const other = await ready()
  for (let asked = 0; asked < 20; asked++) {
    other.send({ query: `measures: count(1) as n | from: ${source}` })
    expect(rowsOf(await other.all('end', 'error'))).toEqual([{ n: 2000 }])
  }
  // What it does not take is not made.
  expect((await open()).map(({ progress }) => progress!.rows_sent)).toEqual(before)
  slow.socket.resume()
  const rows = new Map([
    ['1', 0],
    ['2', 0],
  ])
  for (let ended = 0; ended < 2; ) {
    const { type, id, row_count } = await slow.until('batch', 'end', 'error')
    if (type === 'batch') rows.set(id!, rows.get(id!)! + Number(row_count))
    else {
      expect(type).toBe('end')
      ended++
    }
  }
  expect([...rows.values()]).toEqual([2000, 2000])
})

test('a key comes with the request, or with the first message', async () => {
  const client = await connect({ key: null })
  client.send({ type: 'authenticate', key: testKey })
  expect(await client.next()).toEqual({ type: 'ready' })
  client.send({ query: `measures: count(1) as n | from: ${source}` })
  expect(rowsOf(await client.all('end', 'error'))).toEqual([{ n: 2000 }])
  await expect(connect({ key: 'sk-wrong' })).rejects.toThrow('401')
  for (const message of [{ type: 'authenticate', key: 'sk-wrong' }, { query: 'select: 1' }]) {
    const stranger = await connect({ key: null })
    stranger.send(message)
    expect((await stranger.next()).error).toMatchObject({ code: 'ACCESS_UNAUTHENTICATED' })
    expect((await stranger.closed()).code).toBe(4401)
  }
})

test('who brings no key is not waited for', { timeout: 60_000 }, async () => {
  const client = await connect({ key: null })
  expect((await client.closed()).code).toBe(4401)
})

test('a session lets pages of this service in, and of no other', async () => {
  const signedIn = await service.request('/session', { key: null, body: { api_key: testKey } })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const client = await ready({ key: null, headers: { cookie, origin: service.url } })
  client.send({ query: `measures: count(1) as n | from: ${source}` })
  expect(rowsOf(await client.all('end', 'error'))).toEqual([{ n: 2000 }])
  for (const origin of ['https://elsewhere.example', 'null', '']) {
    const headers = { cookie, ...(origin !== '' && { origin }) }
    await expect(connect({ key: null, headers })).rejects.toThrow('403')
    // A browser can be made to send such a header, too.
    const basic = { ...headers, authorization: 'Basic eDp5' }
    await expect(connect({ key: null, headers: basic })).rejects.toThrow('403')
  }
  // Signing out ends what the session has begun.
  await service.request('/session', {
    method: 'DELETE',
    key: null,
    headers: {
      cookie,
      'x-assay-change-token': String(signedIn.json.change_token),
    },
  })
  expect((await client.closed()).code).toBe(4401)
})

test('limits of requests count queries of a connection, too', async () => {
  const limited = await RunningService.start({ ASSAY_MAX_REQUESTS_PER_MINUTE_PER_KEY: '2' })
  try {
    const client = await StreamClient.open(limited)
    const types: string[] = []
    for (let i = 0; i < 3; i++) {
      client.send({ query: 'select: 1' })
      const { error } = await client.until('error')
      types.push((error as { code: string }).code)
    }
    expect(types.at(-1)).toBe('LIMIT_RATE')
    expect(types.slice(0, 2)).not.toContain('LIMIT_RATE')
    client.close()
  } finally {
    await limited.stop()
  }
})

test('a message that is too long, or no text, ends the connection and nothing else', async () => {
  const long = await ready()
  long.send({ query: 'x'.repeat(2 ** 20) })
  await long.closed()
  const binary = await ready()
  binary.socket.send(Buffer.from('{}'))
  expect((await binary.closed()).code).toBe(1003)
  expect((await service.request('/healthz')).status).toBe(200)
})

test('metrics count open connections', async () => {
  await ready()
  const { text } = await service.request('/metrics')
  expect(Number(/^assay_websockets_open (\d+)$/m.exec(text)![1])).toBeGreaterThan(0)
})
