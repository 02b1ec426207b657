/** Who reads live queries: with which rights, together with whom, and how slowly. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type AnyJson, RunningService, testKey } from '../support/running-service.ts'
import { type Message, rowsOf, StreamClient } from '../support/stream-client.ts'

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

/** A new member of the organization, who may read what is given. */
async function reader(...places: readonly (readonly [type: string, id: string])[]) {
  const { access } = service
  const invite_users = { emails: [`${randomUUID()}@example.com`] }
  const invited = await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users },
  })
  expect(invited.status).toBe(200)
  const [user] = access.catalog.list('user')
  const [organization] = access.catalog.list('organization')
  const owner = { org_id: organization!.id, user_id: user!.id }
  const { text: key } = await access.issueKey(owner, 'reader')
  const grants: string[] = []
  for (const [object_type, object_id] of places) {
    const body = { object_type, object_id, user_id: user!.id, permission: 'read' }
    grants.push(String((await service.request('/v1/acl', { body })).json.id))
  }
  return { key, grants }
}

test('who loses the right to read is told what anybody is told who never had it', async () => {
  const { key, grants } = await reader(['experiment', experiment])
  const query = `select: id | from: ${source}`
  const client = await live(query, {}, key)
  await client.until('current')
  // Changes that have nothing to do with it change nothing.
  await service.create('experiment', project, randomUUID())
  await insert({ id: 'a' })
  expect(rowsOf(await client.all('current'))).toEqual([{ id: 'a' }])
  await service.request(`/v1/acl/${grants[0]!}`, { method: 'DELETE' })
  const { status, message } = await client.until('error')
  const refused = await service.request('/btql', { key, body: { query } })
  expect({ status, message }).toEqual({ status: refused.status, message: refused.json.Message })
  expect(refused.status).toBe(403)
})

test('who may read one prompt is told of that one, and nothing of the others', async () => {
  const project_id = await service.project(randomUUID())
  const make = async (slug: string) => {
    const body = { project_id, name: slug, slug }
    return String((await service.request('/v1/prompt', { body })).json.id)
  }
  const change = (id: string, name: string) =>
    service.request(`/v1/prompt/${id}`, { method: 'PATCH', body: { name } })
  const [own, hidden] = [await make('own'), await make('hidden')]
  const { key } = await reader(['prompt', own])
  const rowsOfIt = await live(`select: id, name | from: project_prompts('${project_id}')`, {}, key)
  const count = await live(
    `measures: count(1) as n | from: project_prompts('${project_id}')`,
    {},
    key,
  )
  expect(rowsOf(await rowsOfIt.all('current'))).toEqual([{ id: own, name: 'own' }])
  expect(rowsOf(await count.all('current'))).toEqual([{ n: 1 }])
  await change(hidden, 'changed')
  await make('another')
  await service.request(`/v1/prompt/${hidden}`, { method: 'DELETE' })
  await change(own, 'new name')
  const seen: Message[] = []
  while (rowsOf(seen).length === 0) seen.push(...(await rowsOfIt.all('current')))
  expect(rowsOf(seen)).toEqual([{ id: own, name: 'new name' }])
  expect(JSON.stringify(seen)).not.toContain(hidden)
  expect(seen.filter(({ type }) => type === 'removed')).toEqual([])
  await service.request(`/v1/prompt/${own}`, { method: 'DELETE' })
  expect((await rowsOfIt.until('error')).status).toBe(403)
})

test('one run answers all who ask the same of what they all may read', async () => {
  const own = await service.project(randomUUID())
  const one = await service.create('experiment', own, 'one')
  const two = await service.create('experiment', own, 'two')
  await service.insert('experiment', two, [{ id: 'a' }])
  const query = `measures: count(1) as n | from: project('${own}')`
  const all = await reader(['project', own])
  const part = await reader(['experiment', one], ['project', own])
  const clients: StreamClient[] = []
  for (const key of [testKey, testKey, testKey, all.key, all.key]) {
    clients.push(await live(query, {}, key))
  }
  const experimentOnly = await live(
    `measures: count(1) as n | from: experiment('${one}')`,
    {},
    part.key,
  )
  for (const client of clients) expect(rowsOf(await client.all('current'))).toEqual([{ n: 1 }])
  expect(rowsOf(await experimentOnly.all('current'))).toEqual([{ n: 0 }])
  const before = await roundsSoFar()
  await service.insert('experiment', one, [{ id: 'b' }])
  for (const client of clients) expect(rowsOf(await client.all('current'))).toEqual([{ n: 2 }])
  expect(rowsOf(await experimentOnly.all('current'))).toEqual([{ n: 1 }])
  expect((await roundsSoFar()) - before).toBe(2)
})

test('whoever leaves takes no answer away from those who ask the same', async () => {
  const query = `measures: count(1) as n | from: ${source}`
  const staying = await live(query)
  const leaving = await live(query)
  for (const client of [staying, leaving]) await client.until('current')
  await Promise.all([
    insert({ id: 'a' }),
    ...[20, 60, 100, 120].map(async (ms) => {
      const other = await live(query)
      await other.until('current')
      setTimeout(() => other.close(), ms)
    }),
  ])
  leaving.close()
  let n: unknown = 0
  while (n !== 1) n = rowsOf(await staying.all('current'))[0]?.n ?? n
})

/** How often live queries have run again. */
async function roundsSoFar(): Promise<number> {
  const { text } = await service.request('/metrics')
  return Number(/^assay_live_rounds_total (\d+)$/m.exec(text)?.[1])
}

/** Lets the clock of the service, which runs in this process, go on by so much at once. */
function passTime(ms: number): void {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
}

/** More than sockets hold on their way, in bodies that the service takes. */
async function insertMuch(): Promise<void> {
  const events = Array.from({ length: 24 }, () => ({ input: 'x'.repeat(500_000) }))
  for (let i = 0; i < 2; i++) expect((await insert(...events)).status).toBe(200)
}

test('a reader that takes too long over what has come is told so', async () => {
  const client = await live(`select: * | from: ${source}`)
  const other = await live(`measures: count(1) as n | from: ${source}`)
  await client.until('current')
  client.socket.pause()
  await insertMuch()
  let n: unknown = 0
  while (n !== 48) n = rowsOf(await other.all('current'))[0]?.n ?? n
  passTime(31_000)
  try {
    client.socket.resume()
    const messages = await client.all('error')
    expect(rowsOf(messages).length).toBeGreaterThan(0)
    expect(messages.at(-1)).toMatchObject({ status: 429, error: { code: 'LIMIT_SLOW_READER' } })
  } finally {
    vi.restoreAllMocks()
  }
  // It may ask again.
  client.send({ query: `select: id | from: ${source} | limit: 1`, live: true })
  expect(rowsOf(await client.all('current'))).toHaveLength(1)
})

test('who takes nothing and says nothing for two minutes is cut off, and nobody else', async () => {
  const silent = await live(`select: * | from: ${source}`)
  const well = await live(`select: id | from: ${source}`)
  for (const client of [silent, well]) await client.until('current')
  silent.socket.pause()
  passTime(121_000)
  try {
    well.send({ type: 'cancel', id: 'none' })
    const open = async () => {
      const { json } = await service.request('/admin/queries')
      return (json.queries as unknown as AnyJson[]).length
    }
    await expect.poll(open, { timeout: 60_000, interval: 500 }).toBe(1)
  } finally {
    vi.restoreAllMocks()
  }
  await insert({ id: 'late' })
  expect(rowsOf(await well.all('current'))).toEqual([{ id: 'late' }])
  silent.socket.resume()
  expect((await silent.closed()).code).toBe(1006)
})
