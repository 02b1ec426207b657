import { randomUUID } from 'node:crypto'
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Access } from '../../src/access/access.ts'
import { Engine } from '../../src/engine.ts'
import { AsyncQueries } from '../../src/server/async/async-queries.ts'
import { createLogger } from '../../src/server/logger.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { type AnyJson, RunningService } from '../support/running-service.ts'

const rowCount = 2500
let service: RunningService
let experiment: string

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  experiment = await service.create('experiment', await service.project(), 'e')
  const events = Array.from({ length: rowCount }, (_, i) => ({
    id: `r${i}`,
    input: `{\n "quoted": ${i}}`,
    scores: { s: i / rowCount },
  }))
  await service.insert('experiment', experiment, events)
})
afterAll(() => service.stop())

const rows = (clauses: string) => `${clauses} | from: experiment('${experiment}')`

async function start(query: string, more: object = {}): Promise<string> {
  const { status, json } = await service.request('/btql/async', { body: { query, ...more } })
  expect(status).toBe(200)
  expect(['queued', 'running', 'succeeded']).toContain(json.status)
  return String(json.id)
}

async function ended(id: string): Promise<AnyJson> {
  for (;;) {
    const { json } = await service.request(`/btql/async/${id}`)
    if (!['queued', 'running'].includes(String(json.status))) return json
    await setTimeout(20)
  }
}

/** Of a new member of the same organization. */
async function keyOfMember(email: string): Promise<string> {
  const invite_users = { emails: [email], group_names: ['Owners'] }
  const body = { invite_users }
  await service.request('/v1/organization/members', { method: 'PATCH', body })
  const headers = { 'x-bt-impersonate-user': email }
  const { json } = await service.request('/v1/api_key', { body: { name: 'k' }, headers })
  return String(json.key)
}

const result = (id: string, parameters = '') =>
  service.request(`/btql/async/${id}/result${parameters}`)

test('its result comes page by page, and is that of the query', async () => {
  const query = rows('select: id, input')
  const id = await start(query, { batch_size: 1000 })
  expect(await ended(id)).toMatchObject({ id, status: 'succeeded', row_count: rowCount })
  const found: unknown[] = []
  let cursor = ''
  for (let pages = 1; ; pages++) {
    const { json } = await result(id, cursor === '' ? '' : `?cursor=${cursor}`)
    expect(json.status).toBe('succeeded')
    found.push(...(json.rows as unknown as unknown[]))
    if (json.cursor === undefined) {
      expect(pages).toBe(3)
      break
    }
    cursor = String(json.cursor)
  }
  expect(found).toEqual((await service.query(query)).json.data)
  expect((await result(id, '?limit=2')).json.rows).toEqual(found.slice(0, 2))
})

test('a result without rows', async () => {
  const id = await start(rows("select: id | filter: id = 'none'"))
  await ended(id)
  expect((await result(id)).json).toEqual({ status: 'succeeded', rows: [] })
})

test('a result as a file', async () => {
  const id = await start(rows('select: id | limit: 3'), { format: 'csv' })
  await ended(id)
  const { headers, text } = await result(id)
  expect(headers.get('content-type')).toMatch(/^text\/csv/)
  expect(headers.get('content-disposition')).toBe(`attachment; filename="assay-${id}.csv"`)
  expect(text.split('\r\n')).toHaveLength(5)
})

test('what is wrong with the query is told at once; what goes wrong later, in its status', async () => {
  const bad = await service.request('/btql/async', { body: { query: rows('select: (') } })
  expect(bad.status).toBe(400)
  const id = await start(rows('select: id'), { query_timeout_seconds: 0.000_001 })
  const state = await ended(id)
  expect(state).toMatchObject({ status: 'failed', error: expect.stringMatching(/^QUERY_TIMEOUT/) })
  expect((await result(id)).json).toMatchObject({ status: 'failed', rows: [], error: state.error })
})

test.each([
  ['?limit=0', 'limit'],
  ['?limit=x', 'limit'],
  ['?cursor=x', 'cursor'],
  [`?cursor=${Buffer.from('3').toString('base64url')}`, 'cursor'],
  [`?cursor=${Buffer.from('999999999').toString('base64url')}`, 'cursor'],
])('a result of %s is refused', async (parameters, path) => {
  const id = await start(rows('select: id'))
  await ended(id)
  const { status, json } = await result(id, parameters)
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code: 'REQUEST_INVALID', path })
})

test.each([
  [{ format: 'xml' }, 'format'],
  [{ batch_size: 0 }, 'batch_size'],
])('%j is refused', async (more, path) => {
  const query = rows('select: id')
  const { status, json } = await service.request('/btql/async', { body: { query, ...more } })
  expect(status).toBe(400)
  expect(json.error.path).toBe(path)
})

test('it can be cancelled, and its result be given up', async () => {
  const id = await start(rows('select: *'))
  await service.request(`/btql/async/${id}/cancel`, { method: 'POST' })
  expect(['canceled', 'succeeded']).toContain((await ended(id)).status)
  await service.request(`/btql/async/${id}`, { method: 'DELETE' })
  expect((await service.request(`/btql/async/${id}`)).status).toBe(404)
})

test('nobody else sees it', async () => {
  const id = await start(rows('select: id'))
  await ended(id)
  const key = await keyOfMember('colleague@example.com')
  for (const path of [`/btql/async/${id}`, `/btql/async/${id}/result`]) {
    expect((await service.request(path, { key })).status).toBe(404)
  }
  const gone = await service.request(`/btql/async/${id}`, { key, method: 'DELETE' })
  expect(gone.status).toBe(404)
  const { json } = await service.request('/btql/async', { key })
  expect(json).toEqual({ queries: [] })
  expect((await result(id)).status).toBe(200)
})

test('results outlive the service', async () => {
  const id = await start(rows('select: id'))
  await ended(id)
  const before = await result(id)
  service = await service.restart()
  expect((await result(id)).json).toEqual(before.json)
  const { json } = await service.request('/btql/async')
  expect(JSON.stringify(json.queries).includes(id)).toBe(true)
})

test('a query that the service had not ended has failed when it is there again', async () => {
  const id = await start(rows('select: id'))
  await ended(id)
  const path = (name: string) => join(service.directory, 'async', `${name}.json`)
  const state = JSON.parse(readFileSync(path(id), 'utf8')) as object
  const cut = randomUUID()
  const running = { ...state, id: cut, status: 'running', ended: null, rowCount: 0, bytes: 0 }
  writeFileSync(path(cut), JSON.stringify(running))
  // As a crash leaves it: rows without anything known of them, and half a text.
  writeFileSync(join(service.directory, 'async', `${randomUUID()}.rows`), 'x')
  writeFileSync(path(randomUUID()), '{"id":')
  service = await service.restart()
  const { json } = await service.request(`/btql/async/${cut}`)
  expect(json).toMatchObject({ status: 'failed', error: 'the service was restarted' })
  const names = readdirSync(join(service.directory, 'async'))
  const known = (await service.request('/btql/async')).json.queries as unknown as AnyJson[]
  expect(new Set(names.map((name) => name.split('.')[0]))).toEqual(
    new Set(known.map((query) => String(query.id))),
  )
})

test('a folder that cannot be written to is told with the way out, and the next one is served', async () => {
  const folder = join(service.directory, 'async')
  renameSync(folder, `${folder}-away`)
  try {
    const body = { query: rows('select: id') }
    const { status, json } = await service.request('/btql/async', { body })
    expect(status).toBe(503)
    expect(json.error.code).toBe('STORAGE_UNAVAILABLE')
    expect(json.Message).toContain('the result cannot be written: it is not there')
    expect(json.Message).toContain('whether the path is right')
  } finally {
    renameSync(`${folder}-away`, folder)
  }
  expect((await ended(await start(rows('select: id')))).status).toBe('succeeded')
})

/** Takes minutes. */
const endless = () => {
  const [rows, numbers] = [`from: experiment('${experiment}')`, '[1,2,3,4,5,6,7,8,9,10]']
  const unpivots = Array.from('abcdef', (name) => `${numbers} as ${name}`).join()
  return `measures: count(1) as n | ${rows} | unpivot: ${unpivots} | filter: a + b + c + d + e + f > 59`
}

test.runIf(process.platform === 'linux')(
  'a disk that is full ends the query with an error that says so, and nothing of it stays',
  async () => {
    // The next one waits behind as many as run at a time, until its file is one that takes nothing.
    const before = [await start(endless()), await start(endless())]
    const id = await start(rows('select: *'))
    const path = join(service.directory, 'async', `${id}.rows`)
    symlinkSync('/dev/full', path)
    for (const one of before) await service.request(`/btql/async/${one}`, { method: 'DELETE' })
    const state = await ended(id)
    expect(state).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(
        /^STORAGE_UNAVAILABLE: the result .*: no space left on the disk/,
      ),
      row_count: 0,
      bytes: 0,
    })
    expect((await result(id)).json).toMatchObject({ status: 'failed', rows: [] })
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined()
    expect((await ended(await start(rows('select: id')))).status).toBe('succeeded')
  },
)

test('a query ends with the key that began it, and all of a member with the membership', async () => {
  const email = 'asks@example.com'
  const members = (body: object) =>
    service.request('/v1/organization/members', { method: 'PATCH', body })
  await members({ invite_users: { emails: [email], group_names: ['Viewers'] } })
  const asMember = { headers: { 'x-bt-impersonate-user': email } }
  const keyOf = async () =>
    (await service.request('/v1/api_key', { body: { name: 'k' }, ...asMember })).json
  const begin = async (key: string, query: string) =>
    String((await service.request('/btql/async', { key, body: { query } })).json.id)
  const stateOf = async (id: string) => (await service.request(`/btql/async/${id}`, asMember)).json
  const first = await keyOf()
  const running = await begin(String(first.key), endless())
  await service.request(`/v1/api_key/${String(first.id)}`, { method: 'DELETE' })
  expect(await stateOf(running)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('ACCESS_UNAUTHENTICATED'),
  })
  const second = await keyOf()
  const done = await begin(String(second.key), rows('select: id'))
  await expect.poll(async () => (await stateOf(done)).status).toBe('succeeded')
  await members({ remove_users: { emails: [email] } })
  await expect
    .poll(() => readdirSync(join(service.directory, 'async')).join())
    .not.toMatch(new RegExp(`${running}|${done}`))
})

test('results go when they are old, and the oldest when they are too many', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'assay-async-'))
  const engine = await Engine.open({ dataDirectory: directory, workers: 0 })
  const gate = await ownerGate(engine.catalog)
  const { entry: project } = await gate.findOrCreate('project', { name: 'p' })
  const { entry } = await gate.findOrCreate('experiment', { project_id: project.id, name: 'e' })
  const body = Buffer.from(JSON.stringify({ events: [{ id: 'a', input: 'x'.repeat(1000) }] }))
  const object = { type: 'experiment', id: entry.id } as const
  await engine.insert({ body, form: 'events', object, view: gate })
  let now = 0
  const queries = await AsyncQueries.open({
    engine,
    access: new Access(engine.catalog),
    dataDirectory: directory,
    logger: createLogger('silent'),
    now: () => now,
    lifetimeMs: 1000,
    totalBytes: 5000,
  })
  const run = async () => {
    const query = `select: * | from: experiment('${entry.id}')`
    const request = { query, view: gate, format: 'jsonl', separator: '\n' } as const
    const { id } = await queries.start({ request, format: 'jsonl', batchSize: 1 }, gate)
    while (queries.state(id, gate).ended === null) await setTimeout(5)
    return id
  }
  const ids: string[] = []
  for (; now < 4; now++) ids.push(await run())
  const left = () => queries.list(gate).map(({ id }) => id)
  await vi.waitFor(() => expect(left()).not.toContain(ids[0]))
  expect(left()).toContain(ids[3])
  now = 2000
  const last = await run()
  await vi.waitFor(() => expect(left()).toEqual([last]))
  await queries.close()
  await engine.close()
  rmSync(directory, { recursive: true })
})
