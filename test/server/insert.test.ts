import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let experiment: string
let dataset: string
let count = 0

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

beforeEach(async () => {
  experiment = await service.create('experiment', project, `e${++count}`)
  dataset = await service.create('dataset', project, `d${count}`)
})

async function rows(select = '*', from = `experiment('${experiment}')`) {
  const { status, json, text } = await service.query(`select: ${select} | from: ${from}`)
  if (status !== 200) throw new Error(text)
  return json.data
}

test('what is acknowledged is seen by the next query', async () => {
  const events = [{ id: 'a', input: { q: 1 }, output: [true] }, { input: 'no id' }]
  const { status, json } = await service.insert('experiment', experiment, events)
  expect(status).toBe(200)
  expect(json.row_ids).toEqual(['a', expect.stringMatching(/./)])
  const data = await rows('id, input, output')
  expect(data).toEqual([
    { id: json.row_ids[1], input: 'no id', output: null },
    { id: 'a', input: { q: 1 }, output: [true] },
  ])
})

test('rows of several objects in one request, with one transaction', async () => {
  const answer = await service.request('/logs3', {
    body: {
      api_version: 2,
      rows: [
        { id: '1', experiment_id: experiment, input: 1 },
        { id: '2', dataset_id: dataset, input: 2, expected: 3 },
        { id: `log${count}`, project_id: project, log_id: 'g', input: 4 },
      ],
    },
  })
  expect(answer.status).toBe(200)
  expect(answer.json).toEqual({
    ids: ['1', '2', `log${count}`],
    xact_id: expect.stringMatching(/^\d{19}$/),
  })
  const { xact_id } = answer.json
  expect(await rows('_xact_id')).toEqual([{ _xact_id: xact_id }])
  expect(await rows('_xact_id, expected', `dataset('${dataset}')`)).toEqual([
    { _xact_id: xact_id, expected: 3 },
  ])
})

test('replace, merge and delete', async () => {
  const write = (row: object) =>
    service.request('/logs3', { body: { rows: [{ id: 'r', experiment_id: experiment, ...row }] } })
  await write({ input: { a: 1, b: 2 }, metadata: { x: 1 }, tags: ['t'] })
  await write({ _is_merge: true, input: { b: 3 }, scores: { s: 0.5 } })
  expect(await rows('input, metadata, scores, tags')).toEqual([
    { input: { a: 1, b: 3 }, metadata: { x: 1 }, scores: { s: 0.5 }, tags: ['t'] },
  ])
  await write({ _is_merge: true, _merge_paths: [['input']], input: { c: 1 } })
  expect(await rows('input')).toEqual([{ input: { c: 1 } }])
  await write({ _is_merge: true, _array_delete: [{ path: ['tags'], delete: ['t'] }] })
  expect(await rows('tags')).toEqual([{ tags: [] }])
  await write({ input: 'replaced' })
  expect(await rows('input, metadata')).toEqual([{ input: 'replaced', metadata: null }])
  await write({ _object_delete: true })
  expect(await rows()).toEqual([])
})

test('inserting at the same time loses nothing', async () => {
  const requests = Array.from({ length: 40 }, (_, request) =>
    service.insert(
      'experiment',
      experiment,
      Array.from({ length: 25 }, (_, row) => ({ id: `${request}-${row}`, input: request })),
    ),
  )
  for (const { status } of await Promise.all(requests)) expect(status).toBe(200)
  const { json } = await service.query(
    `measures: count(1) as n, count_distinct(id) as ids, count_distinct(_xact_id) as requests | from: experiment('${experiment}')`,
  )
  expect(json.data).toEqual([{ n: 1000, ids: 1000, requests: 40 }])
})

test('values come back as they went in', async () => {
  const id = `${'💧"\\\u0001'.repeat(100)}__proto__`
  const input = '{"__proto__":{"x":1},"constructor":2,"":3,"big":123456789012345678901,"f":1e-7}'
  const body = `{"events":[{"id":${JSON.stringify(id)},"input":${input},"metadata":{"\\u0000":"\\ud800"}}]}`
  const answer = await service.request(`/v1/experiment/${experiment}/insert`, { body })
  expect(answer.json).toEqual({ row_ids: [id] })
  const { text } = await service.query(
    `select: id, input.big as big, input from: experiment('${experiment}')`.replace(
      ' from',
      ' | from',
    ),
  )
  expect(text).toContain('123456789012345678901')
  expect(text).toContain('"__proto__":{"x":1}')
  expect(text).toContain(JSON.stringify(id))
})

test('one bad row, and nothing of its request is written', async () => {
  const events = [{ id: 'good' }, { id: 'bad', tags: 'not an array' }]
  const { status, json } = await service.insert('experiment', experiment, events)
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code: 'REQUEST_INVALID', path: 'events[1].tags' })
  expect(await rows()).toEqual([])
})

test('no rows at all', async () => {
  expect((await service.insert('experiment', experiment, [])).json).toEqual({ row_ids: [] })
  const answer = await service.request('/logs3', { body: { rows: [] } })
  expect(answer).toMatchObject({ status: 200, json: { ids: [] } })
})

test.each([
  ['cut off', '{"events":[{"id":"a"', 400],
  ['no JSON', 'hello', 400],
  ['nothing', '', 400],
  ['without events', '{"rows":[]}', 400],
  ['events that are no array', '{"events":{"id":"a"}}', 400],
  ['a row that is no object', '{"events":[1]}', 400],
  ['an id that is no string', '{"events":[{"id":1}]}', 400],
  ['scores that are no object', '{"events":[{"scores":1}]}', 400],
  ['NaN', '{"events":[{"input":NaN}]}', 400],
  ['Infinity', '{"events":[{"input":-Infinity}]}', 400],
  ['10,000 levels', `{"events":[{"input":${'['.repeat(10_000)}${']'.repeat(10_000)}}]}`, 400],
  ['an overflow', '{"events":[{"input":1e999}]}', 200],
])('a body with %s', async (_, body, expected) => {
  const { status, json } = await service.request(`/v1/experiment/${experiment}/insert`, { body })
  expect(status).toBe(expected)
  if (status === 400) expect(json.error.code).toMatch(/^REQUEST_/)
})

test('a body that is not UTF-8', async () => {
  const body = Buffer.concat([
    Buffer.from('{"events":[{"input":"'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"}]}'),
  ])
  const { status, json } = await service.request(`/v1/experiment/${experiment}/insert`, { body })
  expect(status).toBe(400)
  expect(json.error.code).toBe('REQUEST_NOT_UTF8')
})

test('objects that are not there, or of another type', async () => {
  for (const path of [
    '/v1/experiment/none/insert',
    `/v1/experiment/${dataset}/insert`,
    `/v1/dataset/${project}/insert`,
    `/v1/project_logs/${experiment}/insert`,
    `/v1/experiment/${'x'.repeat(2000)}/insert`,
  ]) {
    expect((await service.request(path, { body: { events: [] } })).status).toBe(403)
  }
  const body = { rows: [{ experiment_id: 'none' }] }
  const { status, json } = await service.request('/logs3', { body })
  expect(status).toBe(403)
  expect(json.Message).toContain('experiment id none, or the experiment does not exist')
})

test('the oldest clients send a bare list, and datasets with the name that their records had', async () => {
  const project_id = await service.project()
  const { json } = await service.request('/v1/dataset', { body: { project_id, name: 'oldest' } })
  const rows = [{ id: 'r', dataset_id: json.id, input: 1, output: 2 }]
  expect((await service.request('/logs', { body: JSON.stringify(rows) })).json).toEqual(['r'])
  const found = await service.query(`select: input, expected | from: dataset('${String(json.id)}')`)
  expect(found.json.data).toEqual([{ input: 1, expected: 2 }])
})
