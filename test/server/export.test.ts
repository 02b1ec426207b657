/** Files that a browser downloads by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, RunningService } from '../support/running-service.ts'

let service: RunningService
let experiment: string

beforeAll(async () => {
  service = await RunningService.start()
  experiment = await service.create('experiment', await service.project())
  await service.insert('experiment', experiment, [
    { id: 'a', input: 'one', scores: { s: 1 } },
    { id: 'b', input: 'two, "2"', scores: { s: 0 } },
  ])
})
afterAll(() => service.stop())

function leave(body: object, key?: string): Promise<Answer> {
  return service.request('/btql/export', { body, ...(key !== undefined && { key }) })
}

const rows = () => `select: id, input | from: experiment('${experiment}') | sort: id`

test('a query that was left is fetched as a file, in each format', async () => {
  for (const [fmt, ending, begins] of [
    ['csv', 'csv', 'id,input\r\na,one\r\nb,"two, ""2"""\r\n'],
    ['jsonl', 'jsonl', '{"id":"a","input":"one"}\n{"id":"b"'],
    ['json', 'json', '{"data":[{"id":"a"'],
    ['parquet', 'parquet', 'PAR1'],
    ['arrow', 'arrows', '\uFFFD\uFFFD\uFFFD\uFFFD'],
  ] as const) {
    const { json } = await leave({ query: rows(), fmt })
    const { status, headers, text } = await service.request(String(json.path))
    expect(`${fmt} ${status}`).toBe(`${fmt} 200`)
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="assay-\\d{8}T\\d{6}Z\\.${ending}"$`),
    )
    expect(text.startsWith(begins), `${fmt}: ${text.slice(0, 100)}`).toBe(true)
  }
})

test('a query with a fault is refused when it is left, with the place of the fault', async () => {
  const { status, json } = await leave({ query: rows().replace('sort: id', 'sort: nowhere.x') })
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ line: 1, column: expect.any(Number) })
})

test('nobody fetches what others have left', async () => {
  await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: { emails: ['ada@example.com'], group_names: ['Owners'] } },
  })
  const [user] = service.access.catalog.list('user')
  const [organization] = service.access.catalog.list('organization')
  const { text: key } = await service.access.issueKey(
    { org_id: organization!.id, user_id: user!.id },
    'ada',
  )
  const { json } = await leave({ query: rows(), fmt: 'csv' }, key)
  expect((await service.request(String(json.path))).status).toBe(404)
  expect((await service.request(String(json.path), { key })).status).toBe(200)
  expect((await service.request('/btql/export/nothing')).status).toBe(404)
})

test('it is what the query finds at the moment of fetching', async () => {
  const { json } = await leave({ query: rows(), fmt: 'csv' })
  await service.insert('experiment', experiment, [{ id: 'c', input: 'three' }])
  expect((await service.request(String(json.path))).text).toContain('c,three')
})

test('a HEAD of what is long leaves no query open', async () => {
  const large = await service.create('experiment', await service.project())
  const events = Array.from({ length: 3000 }, (_, i) => ({ id: `r${i}`, input: 'x'.repeat(1000) }))
  await service.insert('experiment', large, events)
  const { json } = await leave({ query: `select: * | from: experiment('${large}')`, fmt: 'csv' })
  for (const path of [String(json.path), `/v1/experiment/${large}/fetch`]) {
    expect((await service.request(path, { method: 'HEAD' })).status, path).toBe(200)
    await expect
      .poll(async () => (await service.request('/admin/queries')).json.queries, { message: path })
      .toEqual([])
  }
})
