/** Live queries: what they send as records are written, over the WebSocket and as server-sent events. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AnyJson, RunningService, testKey } from '../support/running-service.ts'
import { EventReader, type Message, rowsOf, StreamClient } from '../support/stream-client.ts'

let service: RunningService
let project: string
let experiment: string
let source: string
const clients: StreamClient[] = []

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  project = await service.project()
})

afterAll(() => service.stop())

beforeEach(async () => {
  experiment = await service.create('experiment', project, randomUUID())
  source = `experiment('${experiment}')`
})

afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})

async function live(query: string, more: object = {}, key = testKey): Promise<StreamClient> {
  const client = await StreamClient.open(service, { key })
  clients.push(client)
  client.send({ query, live: true, ...more })
  return client
}

const insert = (...events: object[]) => service.insert('experiment', experiment, events)

/** The rows of the next rounds until there are so many. */
async function rows(client: StreamClient, count: number): Promise<AnyJson[]> {
  const found: AnyJson[] = []
  while (found.length < count) found.push(...rowsOf([await client.until('batch', 'error')]))
  return found
}

test('records that pass are sent as they are written, after those that were there', async () => {
  await insert({ id: 'a', user: 1 }, { id: 'b', user: 5 })
  const client = await live(`select: id | from: ${source} | filter: user > 2`)
  const first = await client.all('current')
  expect(first[1]).toMatchObject({ type: 'schema', live: 'rows' })
  expect(rowsOf(first)).toEqual([{ id: 'b' }])
  expect(first.at(-1)).toMatchObject({ row_count: 1, xact_id: expect.stringMatching(/^\d{19}$/) })
  await insert({ id: 'c', user: 0 }, { id: 'd', user: 3 })
  const second = await client.all('current')
  expect(second.map(({ type }) => type)).toEqual(['batch', 'current'])
  expect(rowsOf(second)).toEqual([{ id: 'd' }])
  // Older rows are beyond the first answer, not beyond what has come since.
  expect([first, second].map((round) => typeof round.at(-1)!.cursor)).toEqual([
    'string',
    'undefined',
  ])
})

test('a limit is one of the first answer only', async () => {
  await insert({ id: 'a' }, { id: 'b' }, { id: 'c' })
  const client = await live(`select: id | from: ${source} | limit: 1`)
  expect(rowsOf(await client.all('current'))).toHaveLength(1)
  await insert({ id: 'd' }, { id: 'e' })
  expect(rowsOf(await client.all('current')).map(({ id }) => id)).toEqual(['e', 'd'])
})

test('a changed record is sent again; one that passes no more, or was deleted, is named', async () => {
  await insert({ id: 'a', user: 1 }, { id: 'b', user: 1 }, { id: 'c', user: 1 }, { id: 'd' })
  const client = await live(`select: id, user | from: ${source} | filter: user < 10`)
  await client.until('current')
  await insert({ id: 'a', _is_merge: true, user: 2 })
  expect(rowsOf(await client.all('current'))).toEqual([{ id: 'a', user: 2 }])
  await insert({ id: 'b', _is_merge: true, user: 99 })
  const moved = await client.all('current')
  expect(moved[0]).toEqual({
    type: 'removed',
    object_type: 'experiment',
    object_id: experiment,
    ids: ['b'],
  })
  expect(rowsOf(moved)).toEqual([])
  await insert({ id: 'c', _object_delete: true }, { id: 'd', _is_merge: true, user: 4 })
  const both = await client.all('current')
  expect(both.find(({ type }) => type === 'removed')!.ids).toEqual(['c'])
  expect(rowsOf(both)).toEqual([{ id: 'd', user: 4 }])
})

test('more changes than can be told one by one are told by the whole answer', async () => {
  const all = Array.from({ length: 6000 }, (_, i) => ({ id: `r${i}`, user: 1 }))
  await insert(...all)
  const client = await live(`select: id | from: ${source} | filter: user = 1 | limit: 10`)
  await client.until('current')
  await insert(...all.map(({ id }) => ({ id, _is_merge: true, user: 2 })), { id: 'new', user: 1 })
  const again = await client.all('current')
  expect(again[0]).toMatchObject({ type: 'schema', replaces: true })
  expect(rowsOf(again)).toEqual([{ id: 'new' }])
})

test('groups are sent anew when they have changed, and not when they have not', async () => {
  await insert({ id: 'a', user: 1 })
  const client = await live(
    `dimensions: user | measures: count(1) as n | from: ${source} | filter: user < 10`,
  )
  const first = await client.all('current')
  expect(first[1]).toMatchObject({ type: 'schema', live: 'answer' })
  expect(rowsOf(first)).toEqual([{ user: 1, n: 1 }])
  await insert({ id: 'b', user: 99 })
  expect((await client.all('current')).map(({ type }) => type)).toEqual(['current'])
  await insert({ id: 'c', user: 1 }, { id: 'd', user: 2 })
  const second = await client.all('current')
  expect(second[0]).toMatchObject({ type: 'schema', replaces: true })
  expect(rowsOf(second)).toEqual([
    { user: 1, n: 2 },
    { user: 2, n: 1 },
  ])
  await insert({ id: 'c', _object_delete: true })
  expect(rowsOf(await client.all('current'))[0]).toEqual({ user: 1, n: 1 })
})

test('sorted pages and conditions on traces are answers that are replaced', async () => {
  await insert({ id: 'a', user: 1, root_span_id: 't', span_id: 'a' })
  const sorted = await live(`select: id | from: ${source} | sort: user desc | limit: 1`)
  const traces = await live(`select: id | from: ${source} | filter: any_span(user = 7)`)
  expect(rowsOf(await sorted.all('current'))).toEqual([{ id: 'a' }])
  expect(rowsOf(await traces.all('current'))).toEqual([])
  await insert({ id: 'b', user: 7, root_span_id: 't', span_id: 'b' })
  expect(rowsOf(await sorted.all('current'))).toEqual([{ id: 'b' }])
  expect(rowsOf(await traces.all('current')).map(({ id }) => id)).toEqual(['b', 'a'])
})

test('no record that was acknowledged is missed or sent twice', async () => {
  const writers = 4
  const turns = 25
  const seen: string[] = []
  let client: StreamClient | undefined
  const write = async (writer: number) => {
    for (let turn = 0; turn < turns; turn++) {
      const { status } = await insert({ id: `${writer}-${turn}-0` }, { id: `${writer}-${turn}-1` })
      expect(status).toBe(200)
      // It is opened while records are being written.
      if (writer === 0 && turn === 5) client = await live(`select: id | from: ${source}`)
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  const all = writers * turns * 2
  for (const { id } of await rows(client!, all)) seen.push(String(id))
  expect(new Set(seen).size).toBe(all)
  expect(seen).toHaveLength(all)
  expect(client!.waiting).toBeLessThanOrEqual(1)
})

test('rows in segments and in memory make no difference', async () => {
  const client = await live(`select: id | from: ${source}`)
  await client.until('current')
  const large = Array.from({ length: 3000 }, (_, i) => ({ id: `r${i}`, input: 'x'.repeat(100) }))
  await insert(...large)
  await insert({ id: 'last' })
  expect(new Set((await rows(client, 3001)).map(({ id }) => id)).size).toBe(3001)
  await insert({ id: 'r7', _is_merge: true, user: 1 })
  expect(await rows(client, 1)).toEqual([{ id: 'r7' }])
})

test('from a version on, a live query goes on where it was', async () => {
  await insert({ id: 'a' })
  const client = await live(`select: id | from: ${source}`)
  const { xact_id: since } = await client.until('current')
  client.close()
  await insert({ id: 'b' })
  await insert({ id: 'a', _object_delete: true })
  const again = await live(`select: id | from: ${source}`, { since })
  const messages = await again.all('current')
  expect(rowsOf(messages)).toEqual([{ id: 'b' }])
  expect(messages.find(({ type }) => type === 'removed')!.ids).toEqual(['a'])
})

test('Arrow: each round is a stream of its own', async () => {
  await insert({ id: 'a' })
  const client = await live(`select: id | from: ${source}`, { fmt: 'arrow' })
  await client.until('current')
  const first = client.binary.splice(0)
  await insert({ id: 'b' })
  await client.until('current')
  const { tableFromIPC } = await import('apache-arrow')
  const ids = (parts: Buffer[]) => [...tableFromIPC(Buffer.concat(parts)).getChild('id')!]
  expect([ids(first), ids(client.binary)]).toEqual([['a'], ['b']])
})

test('a key that is revoked ends its connections', async () => {
  const { access } = service
  const { organizationId, userId } = access.authenticate({ token: testKey })
  const owner = { org_id: organizationId, user_id: userId! }
  const { text, key } = await access.issueKey(owner, 'short-lived')
  const client = await live(`select: id | from: ${source}`, {}, text)
  await client.until('current')
  await service.request(`/v1/api_key/${key.id}`, { method: 'DELETE' })
  expect((await client.until('error')).error).toMatchObject({ code: 'ACCESS_UNAUTHENTICATED' })
  expect((await client.closed()).code).toBe(4401)
})

test('what is in a source that is added or leaves is in the next answer', async () => {
  const own = await service.project(randomUUID())
  const one = await service.create('experiment', own, 'one')
  await service.insert('experiment', one, [{ id: 'a' }])
  const query = `measures: count(1) as n | from: project('${own}')`
  const client = await live(query)
  expect(rowsOf(await client.all('current'))).toEqual([{ n: 1 }])
  const two = await service.create('experiment', own, 'two')
  await service.insert('experiment', two, [{ id: 'b' }, { id: 'c' }])
  let last: Message[] = []
  while (rowsOf(last)[0]?.n !== (3 as unknown)) last = await client.all('current')
  expect(last[0]).toMatchObject({ type: 'schema', replaces: true })
})

test('a deleted source ends what reads it', async () => {
  const client = await live(`select: id | from: ${source}`)
  await client.until('current')
  await service.request(`/v1/experiment/${experiment}`, { method: 'DELETE' })
  expect((await client.until('error')).message).toContain('Missing read access')
})

test('live queries are listed, and can be cancelled there', async () => {
  const client = await live(`select: id | from: ${source}`)
  const { query_id } = await client.until('schema')
  await client.until('current')
  const list = async () => {
    const { json } = await service.request('/admin/queries')
    return (json.queries as unknown as AnyJson[]).map(({ id, state }) => ({ id, state }))
  }
  expect(await list()).toEqual([{ id: query_id, state: 'live' }])
  const { text } = await service.request('/metrics')
  expect(text).toMatch(/^assay_live_queries 1$/m)
  const { status } = await service.request(`/admin/queries/${query_id}`, { method: 'DELETE' })
  expect(status).toBe(200)
  expect((await client.until('error')).error).toMatchObject({ code: 'QUERY_CANCELLED' })
  expect(await list()).toEqual([])
})

test('what cannot be live is refused with the way out', async () => {
  for (const [more, told] of [
    [{ version: '1000' }, 'a version never changes'],
    [{ live: false, since: '1000' }, '"since" is for live queries'],
    [{ since: 'x' }, '"x" is not a version'],
  ] as const) {
    const client = await live(`select: id | from: ${source}`, more)
    expect((await client.until('error')).message).toContain(told)
  }
})

test('the end of the service is told', async () => {
  const other = await RunningService.start()
  const id = await other.create('experiment', await other.project())
  const client = await StreamClient.open(other)
  client.send({ query: `select: id | from: experiment('${id}')`, live: true })
  await client.until('current')
  const events = new EventReader(
    await other.fetch('/btql/stream', {
      body: { query: `select: id | from: experiment('${id}')`, live: true },
    }),
  )
  await events.until('current')
  await other.stop()
  expect(await client.until('error')).toMatchObject({ status: 503 })
  expect((await client.closed()).code).toBe(1001)
  expect((await events.until('error')).data.status).toBe(503)
  expect(await events.next()).toBeUndefined()
})

async function events(query: string, more = '', headers: Record<string, string> = {}) {
  const path = `/btql/stream?live=true&query=${encodeURIComponent(query)}${more}`
  const response = await service.fetch(path, { headers })
  return { response, reader: new EventReader(response) }
}

test('server-sent events tell the same, and go on from the last one that came', async () => {
  await insert({ id: 'a', input: 'two\nlines' })
  const query = `select: id, input | from: ${source}`
  const { response, reader } = await events(query)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('cache-control')).toContain('no-transform')
  expect((await reader.until('schema')).data.live).toBe('rows')
  expect((await reader.until('batch')).data.rows).toEqual([{ id: 'a', input: 'two\nlines' }])
  const { id } = await reader.until('current')
  await insert({ id: 'b' }, { id: 'c' })
  expect(rowsOf([(await reader.until('batch')).data as unknown as Message])).toHaveLength(2)
  await reader.cancel()
  const again = await events(query, '', { 'last-event-id': id! })
  expect(
    rowsOf([(await again.reader.until('batch')).data as unknown as Message]).map((row) => row.id),
  ).toEqual(['c', 'b'])
  await again.reader.cancel()
})

test('events of a query that is not live end with it; faults have a status', async () => {
  await insert({ id: 'a' })
  const query = `select: id | from: ${source}`
  const response = await service.fetch('/btql/stream', {
    body: { query },
    headers: { accept: 'text/event-stream' },
  })
  const reader = new EventReader(response)
  const { json } = await service.query(query)
  expect((await reader.until('end')).data).toMatchObject({ row_count: 1, cursor: json.cursor })
  expect(await reader.next()).toBeUndefined()
  const faulty = await service.request('/btql/stream', { body: { query: 'select: |' } })
  expect(faulty.status).toBe(400)
  const none = await service.request('/btql/stream')
  expect([none.status, none.json.Message]).toEqual([400, expect.stringContaining('"query"')])
  expect((await service.request('/btql/stream', { body: { query, fmt: 'arrow' } })).status).toBe(
    400,
  )
  const head = await service.request(`/btql/stream?live=true&query=${encodeURIComponent(query)}`, {
    method: 'HEAD',
  })
  expect(head.status).toBe(200)
})

test('a stream of events on which nothing happens stays open', { timeout: 60_000 }, async () => {
  const { reader } = await events(`select: id | from: ${source}`)
  await reader.until('current')
  const next = reader.until('batch')
  await expect.poll(() => reader.comments, { timeout: 30_000 }).toBeGreaterThan(2)
  await insert({ id: 'late' })
  expect((await next).data.rows).toEqual([{ id: 'late' }])
  await reader.cancel()
  await expect.poll(async () => (await service.request('/admin/queries')).json.queries).toEqual([])
})
