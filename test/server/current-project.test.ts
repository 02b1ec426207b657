/** `project_logs()` without an id, wherever a request has a query: it is that of the request's project. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnyJson, RunningService } from '../support/running-service.ts'
import { rowsOf, StreamClient } from '../support/stream-client.ts'

let service: RunningService
const projects = new Map<string, string>()

beforeAll(async () => {
  service = await RunningService.start()
  for (const name of ['one', 'two']) {
    const id = await service.project(name)
    projects.set(name, id)
    await service.insert('project_logs', id, [
      { id: `${name}-1`, input: `of ${name}`, metadata: { [`only_${name}`]: 1 } },
    ])
  }
})
afterAll(() => service.stop())

const query = 'select: id | from: project_logs()'

async function ids(body: object): Promise<unknown> {
  const { json } = await service.request('/btql', { body })
  return (json.data as unknown as AnyJson[] | undefined)?.map(({ id }) => id) ?? json.error?.code
}

test('it is named by id or name, and plans of several projects are not mixed up', async () => {
  for (let round = 0; round < 3; round++) {
    for (const [name, id] of projects) {
      expect(await ids({ query, project_id: id })).toEqual([`${name}-1`])
      expect(await ids({ query, project_name: name })).toEqual([`${name}-1`])
    }
    expect(await ids({ query })).toBe('BIND_WRONG_ARGUMENTS')
  }
  expect(await ids({ query, project_name: 'three' })).toBe('ACCESS_DENIED')
  expect(await ids({ query, project_id: randomUUID() })).toBe('ACCESS_DENIED')
  expect(await ids({ query: 'true', from: 'project_logs()', project_name: 'two' })).toEqual([
    'two-1',
  ])
})

test('as text, SQL and a syntax tree, also within another query', async () => {
  const call = { op: 'function', name: { op: 'ident', name: ['project_logs'] }, args: [] }
  const select = [{ alias: 'id', expr: { op: 'ident', name: ['id'] } }]
  for (const given of [
    query,
    'SELECT id FROM project_logs()',
    "SELECT id FROM project_logs(shape => 'summary')",
    'select: id | from: project_logs() summary',
    'select: id | from: (select: id | from: project_logs())',
    'SELECT id FROM (SELECT id FROM project_logs()) AS logs',
    { select, from: call },
    { select, from: { ...call, shape: 'summary' } },
    { select, from: { select, from: call } },
    { select, from: 'project_logs()' },
  ]) {
    expect(await ids({ query: given, project_name: 'two' }), JSON.stringify(given)).toEqual([
      'two-1',
    ])
  }
})

test('what takes a query takes the project', async () => {
  const body = { query, project_name: 'two' }
  const explained = await service.request('/btql/explain', { body })
  expect(explained.status).toBe(200)
  const checked = await service.request('/btql/check', { body })
  expect(checked.json).toMatchObject({
    canonical: {
      btql: expect.stringContaining('project_logs()'),
      sql: expect.stringContaining('project_logs()'),
    },
  })
  const completed = await service.request('/btql/complete', {
    body: { query: 'from: project_logs() | select: metadata.o', project_name: 'two' },
  })
  expect(completed.text).toContain('only_two')
  expect(completed.text).not.toContain('only_one')
  const left = await service.request('/btql/export', { body: { ...body, fmt: 'jsonl' } })
  expect((await service.request(String(left.json.path))).text).toContain('two-1')
  const search = { text: 'of', source: 'project_logs()', project_name: 'two' }
  const found = await service.request('/search', { body: search })
  expect(found.json.data).toMatchObject([{ id: 'two-1' }])
})

test('streams, live queries and queries that nobody waits for do, too', async () => {
  const socket = await StreamClient.open(service)
  socket.send({ query, project_name: 'one', live: true })
  expect(rowsOf(await socket.all('current'))).toEqual([{ id: 'one-1' }])
  await service.insert('project_logs', projects.get('two')!, [{ id: 'two-2' }])
  await service.insert('project_logs', projects.get('one')!, [{ id: 'one-2' }])
  expect(rowsOf(await socket.all('current'))).toEqual([{ id: 'one-2' }])
  socket.close()
  const path = `/btql/stream?query=${encodeURIComponent(query)}&project_id=${projects.get('one')}`
  expect((await service.request(path)).text).toContain('one-1')
  const { json } = await service.request('/btql/async', { body: { query, project_name: 'one' } })
  const result = async () => service.request(`/btql/async/${String(json.id)}/result`)
  let answer = await result()
  while (answer.json.status === ('running' as unknown)) answer = await result()
  expect(answer.text).toContain('one-1')
})
