/** What takes no waiting is answered within the turn; it must be the answer that tasks give. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let experiment: string
let logs: string

beforeAll(async () => {
  service = await RunningService.start()
  logs = await service.project()
  experiment = await service.create('experiment', logs)
  const events = ['record-a', 'record-b', 'record-ü', 'gone-1234'].map((id, i) => {
    return { id, input: { n: i, text: 'x'.repeat(i * 1000) }, mine: [1.0, '12345678901234567890'] }
  })
  await service.insert('experiment', experiment, events)
  await service.insert('experiment', experiment, [{ id: 'gone-1234', _object_delete: true }])
  await service.insert('project_logs', logs, [{ id: 'record-a', output: 'in the logs' }])
})

afterAll(() => service.stop())

/** A query whose steps are written down is run by tasks. */
const generally = { audit_log: true }

/** Without what differs from request to request, and the log of the steps. */
function withoutId(text: string): string {
  return text.replace(/"InternalTraceId":"\w+"/, '').replace(/,"audit_log":\[.*\]\}$/, '}')
}

function withoutTimes({
  status,
  headers,
  text,
}: {
  status: number
  headers: Headers
  text: string
}) {
  const shown = ['content-type', 'x-bt-query-plan', 'x-bt-cursor', 'retry-after', 'vary']
  return {
    status,
    text: withoutId(text),
    headers: shown.map((name) => `${name}: ${headers.get(name)}`),
  }
}

test.each([
  ["id = 'record-a'"],
  ["id = 'record-b'"],
  ["id = 'not-there'"],
  ["id = 'gone-1234'"],
  ["id = 'record-a' | limit: 1"],
  ["id = 'record-a' | limit: 0"],
  ["id = 'record-a' | offset: 1"],
  ["id = 'record-a' and input.n = 1"],
  ["id = 'record-a' and id = 'record-b'"],
  ["id = 'record-a' | sort: created"],
  ["id = 'record-a' | cursor: 'aaaaaaaaaaa'"],
  ["id = 'record-ü'"],
  ["id = 'record-a' and"],
  ["idd = 'record-a'"],
])('%s', async (filter) => {
  for (const source of [`experiment('${experiment}')`, `project_logs('${logs}')`]) {
    const query = `select: * | from: ${source} | filter: ${filter}`
    const plain = withoutTimes(await service.query(query))
    const general = withoutTimes(await service.query(query, generally))
    expect(plain).toEqual(general)
  }
})

test.each([
  [
    "select: * | from: experiment('00000000-0000-4000-8000-000000000000') | filter: id = 'record-a'",
  ],
  ["select: * | from: experiment('nothing') | limit: 1"],
  ['select: * | from: nowhere | limit: 1'],
  ['select: "open'],
  ['select: nothing(1) | frm: x | limit: -1'],
  [''],
])('the fault of %s is told as the general way tells it', async (query) => {
  const plain = withoutTimes(await service.query(query))
  const general = withoutTimes(await service.query(query, generally))
  expect(plain.status).toBeGreaterThanOrEqual(400)
  expect(plain).toEqual(general)
})

test.each([
  ['use_columnstore', true],
  ['use_columnstore', false],
  ['use_columnstore', null],
  ['use_columnstore', 'yes'],
  ['fmt', 'json'],
  ['fmt', null],
  ['fmt', 'nonsense'],
])('with %s %j', async (name, value) => {
  const query = `select: * | from: experiment('${experiment}') | filter: id = 'record-a'`
  const plain = withoutTimes(await service.query(query, { [name]: value }))
  const general = withoutTimes(await service.query(query, { [name]: value, ...generally }))
  expect(plain).toEqual(general)
})

test('answers that are compressed stay what they were while others are made', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 'record-b' : 'record-ü'))
  const headers = { 'accept-encoding': 'gzip' }
  const answers = await Promise.all(
    ids.map((id) => {
      const query = `select: * | from: experiment('${experiment}') | filter: id = '${id}'`
      return service.request('/btql', { body: { query }, headers })
    }),
  )
  for (const [i, { headers, json }] of answers.entries()) {
    expect(headers.get('content-encoding')).toBe('gzip')
    expect(json.data).toEqual([expect.objectContaining({ id: ids[i] })])
  }
})

test('the same text with another id gives another record', async () => {
  for (const id of ['record-a', 'record-b', 'record-a']) {
    const query = `select: * | from: experiment('${experiment}') | filter: id = '${id}'`
    const { json } = await service.query(query)
    expect(json.data).toEqual([expect.objectContaining({ id })])
  }
})

test('one id after the other is answered as the general way does it', async () => {
  const ids = [
    'record-a',
    'record-b',
    'not-there',
    'gone-1234',
    '2026-01-01',
    '',
    'record-ü',
    "a''b",
  ]
  for (const id of [...ids, ...ids]) {
    for (const more of ['', ' | limit: 1', " and output = 'x'", ` or id = '${id}'`]) {
      const query = `select: * | from: experiment('${experiment}') | filter: id = '${id}'${more}`
      const plain = withoutTimes(await service.query(query))
      expect(plain, query).toEqual(withoutTimes(await service.query(query, generally)))
    }
  }
})

test('a record is seen as soon as it is acknowledged, and in its newest version', async () => {
  const query = `select: * | from: experiment('${experiment}') | filter: id = 'fresh-12'`
  expect((await service.query(query)).json.data).toEqual([])
  for (const output of ['one', 'two']) {
    await service.insert('experiment', experiment, [{ id: 'fresh-12', output }])
    const { data } = (await service.query(query)).json
    expect(data).toEqual([expect.objectContaining({ output })])
  }
})

test('a record that was asked for is seen as it is now: written, merged, deleted, and made again', async () => {
  const query = `select: * | from: experiment('${experiment}') | filter: id = 'often-34'`
  const asked = async () => {
    const answers = [await service.query(query), await service.query(query)]
    const [first, second] = answers.map(({ json }) => json.data)
    expect(second).toEqual(first)
    return first
  }
  const write = (event: object) =>
    service.insert('experiment', experiment, [{ id: 'often-34', ...event }])
  expect(await asked()).toEqual([])
  await write({ output: 'one', metadata: { a: 1 } })
  expect(await asked()).toMatchObject([{ output: 'one', metadata: { a: 1 } }])
  await write({ _is_merge: true, metadata: { b: 2 } })
  expect(await asked()).toMatchObject([{ output: 'one', metadata: { a: 1, b: 2 } }])
  await write({ _object_delete: true })
  expect(await asked()).toEqual([])
  await write({ output: 'two' })
  expect(await asked()).toMatchObject([{ output: 'two', metadata: null }])
  // The same id in another object is another record.
  await service.insert('project_logs', logs, [{ id: 'often-34', output: 'three' }])
  expect(await asked()).toMatchObject([{ output: 'two' }])
})

test('whoever may not read the object gets the error of the general way', async () => {
  const query = "select: * | from: experiment('no-such-experiment') | filter: id = 'record-a'"
  expect((await service.query(query)).status).toBe(403)
})

test('a body that comes in parts, or compressed, is answered as well', async () => {
  const query = `select: * | from: experiment('${experiment}') | filter: id = 'record-b'`
  const body = JSON.stringify({ query })
  const whole = await service.request('/btql', { body })
  async function* parts() {
    for (const letter of Buffer.from(body)) yield Uint8Array.of(letter)
  }
  expect((await service.request('/btql', { body: parts() })).text).toBe(whole.text)
  const { gzipSync } = await import('node:zlib')
  const headers = { 'content-encoding': 'gzip' }
  const zipped = await service.request('/btql', { body: gzipSync(body), headers })
  expect(zipped.text).toBe(whole.text)
})

test('many requests on one connection are answered in their order', async () => {
  const request = (id: string) => {
    const query = `select: * | from: experiment('${experiment}') | filter: id = '${id}'`
    const body = JSON.stringify({ query })
    return (
      `POST /btql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-test-0123456789\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    )
  }
  const ids = ['record-a', 'record-b', 'not-there', 'record-a']
  const received = await service.raw(ids.map(request).join(''), 1000)
  const answers = received.split('HTTP/1.1 200 OK').slice(1)
  expect(answers.map((answer) => /"id":"(.*?)"/.exec(answer)?.[1])).toEqual([
    'record-a',
    'record-b',
    undefined,
    'record-a',
  ])
})

test.each([
  ['a comment', { comment: 'Too vague.' }, { comments: [{ comment: { text: 'Too vague.' } }] }],
  ['a score', { scores: { helpful: 0.75 } }, { scores: { helpful: 0.75 } }],
  ['what was expected', { expected: { answer: 42 } }, { expected: { answer: 42 } }],
])('%s is in the next look-up of a record that was looked up before', async (_, said, seen) => {
  const query = `select: * | from: project_logs('${logs}') | filter: id = 'record-a'`
  for (let i = 0; i < 3; i++) await service.query(query)
  const body = { feedback: [{ id: 'record-a', ...said }] }
  expect((await service.request(`/v1/project_logs/${logs}/feedback`, { body })).status).toBe(200)
  expect((await service.query(query)).json.data).toMatchObject([seen])
})
