/** Short answers are given again while nothing that they were made from has changed. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string
let experiment: string
let query: string

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  project = await service.project()
})

afterAll(() => service.stop())

beforeEach(async () => {
  experiment = await service.create('experiment', project, randomUUID())
  await insert({ id: 'a', user: 1 }, { id: 'b', user: 2 })
  query = `dimensions: user | measures: count(1) as n | from: experiment('${experiment}')`
})

const insert = (...events: object[]) => service.insert('experiment', experiment, events)

async function hits(): Promise<number> {
  const { text } = await service.request('/metrics')
  return Number(/^assay_kept_answers_hits_total (\d+)$/m.exec(text)![1])
}

const users = async () => (await service.query(query)).json.data

/** Asks until the answer is kept. */
async function askOften(): Promise<void> {
  for (let i = 0; i < 3; i++) await service.query(query)
}

test('an answer is kept from the second time on, and is the same', async () => {
  const before = await hits()
  const answers = []
  for (let i = 0; i < 4; i++) answers.push(await service.query(query))
  expect((await hits()) - before).toBe(2)
  const [first, ...others] = answers.map(({ json, headers }) => [
    json,
    ...['content-type', 'x-bt-query-plan', 'x-bt-cursor'].map((name) => headers.get(name)),
  ])
  expect(first![0]).toMatchObject({
    data: [
      { user: 1, n: 1 },
      { user: 2, n: 1 },
    ],
  })
  for (const other of others) expect(other).toEqual(first)
})

test('what is written is in the next answer', async () => {
  await askOften()
  await insert({ id: 'c', user: 2 })
  expect(await users()).toContainEqual({ user: 2, n: 2 })
  await askOften()
  await insert({ id: 'a', _is_merge: true, user: 2 })
  expect(await users()).toEqual([{ user: 2, n: 3 }])
  await askOften()
  await insert({ id: 'b', _object_delete: true })
  expect(await users()).toEqual([{ user: 2, n: 2 }])
})

test('while records are written, each answer has all that were acknowledged', async () => {
  for (let i = 0; i < 40; i++) {
    await insert({ id: `more-${i}`, user: 9 })
    for (let ask = 0; ask < 3; ask++) expect(await users()).toContainEqual({ user: 9, n: i + 1 })
  }
})

test('a write elsewhere changes nothing but the version that is told', async () => {
  await askOften()
  const before = await hits()
  const other = await service.create('experiment', project, randomUUID())
  await service.insert('experiment', other, [{ id: 'x' }])
  const { json } = await service.query(query)
  expect(await hits()).toBe(before + 1)
  const { json: newest } = await service.query(
    `select: _xact_id | from: experiment('${other}') | limit: 1`,
  )
  const [{ _xact_id }] = newest.data as unknown as [{ _xact_id: string }]
  expect(json.freshness_state!.last_processed_xact_id).toBe(_xact_id)
})

test('nobody gets an answer that was made for others', async () => {
  await askOften()
  const { access } = service
  const email = `${randomUUID()}@example.com`
  await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: { emails: [email] } },
  })
  const user = access.catalog.named('user', '', email)!
  const { organizationId } = access.authenticate({ token: testKey })
  const owner = { org_id: organizationId, user_id: user.id }
  const { text: key } = await access.issueKey(owner, 'reader')
  const ask = async () => (await service.request('/btql', { key, body: { query } })).status
  expect(await ask()).toBe(403)
  const granted = await service.request('/v1/acl', {
    body: {
      object_type: 'experiment',
      object_id: experiment,
      user_id: user.id,
      permission: 'read',
    },
  })
  for (let i = 0; i < 3; i++) expect(await ask()).toBe(200)
  await service.request(`/v1/acl/${granted.json.id}`, { method: 'DELETE' })
  expect(await ask()).toBe(403)
  expect((await service.query(query)).status).toBe(200)
  await service.request(`/v1/experiment/${experiment}`, { method: 'DELETE' })
  expect((await service.query(query)).status).toBe(403)
})

test('what depends on the time or on chance is answered anew', async () => {
  const before = await hits()
  const source = `from: experiment('${experiment}')`
  for (const clauses of [
    `select: now() as t | ${source} | limit: 1`,
    `select: id | ${source} | filter: created > now() - interval 1 day`,
    `select: id | ${source} | sample: 1`,
  ]) {
    for (let i = 0; i < 3; i++) expect((await service.query(clauses)).status).toBe(200)
  }
  expect(await hits()).toBe(before)
})

test('none is kept by a service that is told to keep none', async () => {
  const forgetful = await RunningService.start({ ASSAY_WORKERS: '1', ASSAY_KEPT_ANSWERS_MB: '0' })
  try {
    const source = await forgetful.create('experiment', await forgetful.project(), 'e')
    await forgetful.insert('experiment', source, [{ id: 'a' }])
    for (let i = 0; i < 4; i++) {
      const { json } = await forgetful.query(
        `measures: count(1) as n | from: experiment('${source}')`,
      )
      expect(json.data).toEqual([{ n: 1 }])
    }
    const { text } = await forgetful.request('/metrics')
    expect(text).toMatch(/^assay_kept_answers_hits_total 0$/m)
  } finally {
    await forgetful.stop()
  }
})
