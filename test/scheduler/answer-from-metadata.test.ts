import { rm } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { Gate } from '../../src/access/gate.ts'
import { Engine } from '../../src/engine.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const running: { engine: Engine; directory: string }[] = []

afterEach(async () => {
  for (const { engine, directory } of running.splice(0)) {
    await engine.close()
    await rm(directory, { recursive: true })
  }
})

/** Rows `from … to` with a number and a time that grow; every tenth has no score. */
function rows(from: number, to: number): object[] {
  return Array.from({ length: to - from }, (_, i) => {
    const n = from + i
    const created = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
    return { id: `r${n}`, created, metrics: { n }, ...(n % 10 > 0 && { scores: { s: n / 1e6 } }) }
  })
}

async function openLogs() {
  const directory = await makeTemporaryDirectory('metadata')
  const maintenance = { automatic: false, limits: { rows: 20_000 } }
  const engine = await Engine.open({ dataDirectory: directory, workers: 0, maintenance })
  running.push({ engine, directory })
  const { id: organizationId } = await engine.catalog.createOrganization('test')
  const view = new Gate(engine.catalog, { userId: 'owner', organizationId, keyId: 'none' })
  const { entry: project } = await view.findOrCreateProject({ name: 'p' })
  const object = { type: 'project_logs', id: project.id } as const
  const insert = async (events: readonly object[]) => {
    const body = Buffer.from(JSON.stringify({ events }))
    return (await engine.insert({ body, form: 'events', object, view })).transactionId
  }
  /** The one row of the answer, and how many rows were read for it. */
  const ask = async (clauses: string, version?: string) => {
    const query = `from: project_logs('${project.id}') | ${clauses}`
    const given = version === undefined ? {} : { version }
    const result = await engine.query({ query, view, auditLog: true, ...given })
    let answer = ''
    for await (const { bytes } of result.rows) answer += Buffer.from(bytes).toString()
    const read = (result.finish().auditLog ?? [])
      .filter(({ event }) => event === 'scan')
      .reduce((sum, { rowsRead }) => sum + Number(rowsRead), 0)
    return { ...(JSON.parse(answer) as object), read }
  }
  return { engine, insert, ask }
}

const all = 'measures: count(1) as n, min(metrics.n) as a, max(metrics.n) as b, max(created) as c'

test('counts and extremes of all rows read none', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 30_000))
  await engine.flush()
  const c = '2026-01-01T08:19:59Z'
  expect(await ask(all)).toEqual({ n: 30_000, a: 0, b: 29_999, c, read: 0 })
})

test('a range reads the granules at its ends alone', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 40_000))
  await engine.flush()
  const range = "created >= '2026-01-01T01:00:00Z' and metrics.n < 30000"
  const answer = await ask(`${all} | filter: ${range}`)
  expect(answer).toMatchObject({ n: 26_400, a: 3600, b: 29_999 })
  expect(answer.read).toBeLessThanOrEqual(2 * 8192)
  expect(answer.read).toBeGreaterThan(0)
})

test('what was written, updated or deleted since is in the answer, and not in that of a version', async () => {
  const { engine, insert, ask } = await openLogs()
  const first = await insert(rows(0, 20_000))
  await engine.flush()
  await insert([
    { id: 'r19999', metrics: { n: 5 } },
    { id: 'r0', _object_delete: true },
    { id: 'new', metrics: { n: 100_000 } },
  ])
  for (const state of ['delta', 'segments']) {
    if (state === 'segments') await engine.flush()
    expect(
      await ask('measures: count(1) as n, min(metrics.n) as a, max(metrics.n) as b'),
    ).toMatchObject({ n: 20_000, a: 1, b: 100_000 })
    expect(await ask(all, first)).toMatchObject({ n: 20_000, a: 0, b: 19_999 })
  }
})

test('a field of which some rows have no value passes no condition unread', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert(rows(0, 20_000))
  await engine.flush()
  expect(await ask('measures: count(1) as n | filter: scores.s >= 0')).toEqual({
    n: 18_000,
    read: 20_000,
  })
})

test('values of several kinds are read', async () => {
  const { engine, insert, ask } = await openLogs()
  await insert([...rows(0, 10_000), { id: 'text', metrics: { n: 'many' } }])
  await engine.flush()
  expect(await ask('measures: count(1) as n, max(metrics.n) as b')).toMatchObject({
    n: 10_001,
    b: 'many',
  })
})
