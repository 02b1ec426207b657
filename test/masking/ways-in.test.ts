/** What a rule masks is in no file of the data directory and in no answer, whichever way it came in. */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { spanMessage, tracesMessage } from '../support/otlp-message.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { StreamClient } from '../support/stream-client.ts'

let service: RunningService
let project: string
let dataset: string

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(await freePort()) })
  project = await service.project()
  dataset = await service.create('dataset', project, 'cases')
  await rule({ name: 'addresses', pattern: { type: 'email' }, action: { type: 'replace' } })
  await rule({ name: 'words', fields: ['password'], action: { type: 'keep_last_four' } })
  const path = 'expected.of.person'
  await rule({ name: 'people', project_id: project, path, action: { type: 'hash' } })
})
afterAll(() => service.stop())

async function rule(body: object): Promise<void> {
  const made = await service.request('/v1/masking_rule', { body })
  expect(made.status, made.text).toBe(200)
}

let count = 0
/** An address that is in no other row. */
function address(): string {
  return `secret${++count}person@example.com`
}

/** Whether a file of the service has the text. */
function isOnDisk(text: string): boolean {
  const files = readdirSync(service.directory, { recursive: true, encoding: 'utf8' })
  return files.some((file) => {
    const path = join(service.directory, file)
    return statSync(path).isFile() && readFileSync(path).includes(text)
  })
}

function expectGone(given: string): void {
  expect(isOnDisk(given.slice(0, given.indexOf('@')))).toBe(false)
}

async function rows(from: string, select: string) {
  const { json, text } = await service.query(`select: ${select} | from: ${from}`)
  if (json.data === undefined) throw new Error(text)
  return json.data
}

const logs = (id: string) => `project_logs('${project}') | filter: id = '${id}'`

test('rows of a REST insert, and what is not to be masked stays', async () => {
  const given = address()
  const events = [
    {
      id: 'a',
      input: `write to ${given}`,
      output: 'kept-word',
      metadata: { Password: 'in plain text' },
    },
    { id: 'b', input: given.replace('@', '\u0040'), output: { [given]: 1 } },
  ]
  expect((await service.insert('project_logs', project, events)).status).toBe(200)
  expect(await rows(logs('a'), 'input, output, metadata')).toEqual([
    { input: 'write to [email]', output: 'kept-word', metadata: { Password: '****text' } },
  ])
  expect(await rows(logs('b'), 'output')).toEqual([{ output: { '[email]': 1 } }])
  expectGone(given)
  expect(isOnDisk('kept-word')).toBe(true)
})

test('characters that are spelled as escapes', async () => {
  const given = address()
  const spelled = given.replace('@', '\\u0040').replace('p', '\\u0070')
  const body = `{"events":[{"id":"escaped","input":"to ${spelled}, and 12345678901234567890"}]}`
  const answer = await service.request(`/v1/project_logs/${project}/insert`, { body })
  expect(answer.status).toBe(200)
  expect(await rows(logs('escaped'), 'input')).toEqual([
    { input: 'to [email], and 12345678901234567890' },
  ])
  expectGone(given)
})

test('rows of several objects in one request, by the rules of their project', async () => {
  const given = address()
  const body = {
    rows: [
      { id: 'c', project_id: project, log_id: 'g', input: given },
      { id: 'd', dataset_id: dataset, input: [given], output: { of: { person: 'Anna Berg' } } },
    ],
  }
  expect((await service.request('/logs3', { body })).status).toBe(200)
  expect(await rows(`dataset('${dataset}') | filter: id = 'd'`, 'input, expected')).toEqual([
    {
      input: ['[email]'],
      expected: { of: { person: expect.stringMatching(/^hash:[0-9a-f]{32}$/) } },
    },
  ])
  expectGone(given)
  expect(isOnDisk('Anna Berg')).toBe(false)
})

test('rows of another project are not masked by the rules of this one', async () => {
  const other = await service.project('other')
  const events = [{ id: 'x', expected: { of: { person: 'Otto Lind' } } }]
  await service.insert('project_logs', other, events)
  expect(await rows(`project_logs('${other}')`, 'expected')).toEqual([
    { expected: { of: { person: 'Otto Lind' } } },
  ])
})

test('rows that are uploaded before they are named', async () => {
  const given = address()
  const announced = await service.request('/logs3/overflow', { body: { size_bytes: 100 } })
  const content = { rows: [{ id: 'up', project_id: project, log_id: 'g', input: given }] }
  const { signedUrl, key } = announced.json
  const sent = await fetch(String(signedUrl), { method: 'PUT', body: JSON.stringify(content) })
  expect(sent.status).toBe(200)
  expectGone(given)
  const body = { rows: { type: 'logs3_overflow', key } }
  expect((await service.request('/logs3', { body })).status).toBe(200)
  expect(await rows(logs('up'), 'input')).toEqual([{ input: '[email]' }])
})

test('merges, feedback with a comment, and /v1/insert', async () => {
  const given = address()
  await service.insert('project_logs', project, [{ id: 'm', input: 'x', metadata: { a: 1 } }])
  const merged = [{ id: 'm', _is_merge: true, metadata: { b: given, password: 'long enough' } }]
  expect((await service.insert('project_logs', project, merged)).status).toBe(200)
  const feedback = [{ id: 'm', comment: `ask ${given}`, metadata: { from: given } }]
  const path = `/v1/project_logs/${project}/feedback`
  expect((await service.request(path, { body: { feedback } })).status).toBe(200)
  const anywhere = { dataset: { [dataset]: { events: [{ id: 'any', input: given }] } } }
  expect((await service.request('/v1/insert', { body: anywhere })).status).toBe(200)
  const [row] = (await rows(logs('m'), 'metadata, comments')) as unknown as [object]
  expect(row).toMatchObject({ metadata: { a: 1, b: '[email]', password: '****ough' } })
  expect(JSON.stringify(row)).toContain('ask [email]')
  expectGone(given)
})

test('spans and logs of OpenTelemetry, over HTTP and gRPC', async () => {
  const given = address()
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const headers = { 'content-type': 'application/json', 'x-bt-parent': `project_id:${project}` }
  const attributes = [{ key: 'braintrust.input', value: { stringValue: `to ${given}` } }]
  const span = { traceId, spanId: 'b7ad6b7169203331', name: 'over HTTP', attributes }
  const traces = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
  expect((await service.request('/otel/v1/traces', { headers, body: traces })).status).toBe(200)
  const logRecords = [
    { body: { stringValue: `log of ${given}` }, timeUnixNano: '1700000000000000000' },
  ]
  const records = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
  expect((await service.request('/otel/v1/logs', { headers, body: records })).status).toBe(200)
  await exportByGrpc(spanMessage({ traceId, spanId: 'b7ad6b7169203332', name: `of ${given}` }))
  const all = JSON.stringify(await rows(`project_logs('${project}')`, '*'))
  expect(all).toContain('to [email]')
  expect(all).toContain('log of [email]')
  expect(all).toContain('of [email]')
  expectGone(given)
})

function exportByGrpc(span: Uint8Array): Promise<void> {
  const client = new Client(`127.0.0.1:${service.otlpGrpcPort}`, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${testKey}`)
  metadata.set('x-bt-parent', `project_id:${project}`)
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes) => bytes,
      tracesMessage(span),
      metadata,
      (error) => {
        client.close()
        if (error) reject(error)
        else resolve()
      },
    )
  })
}

test('a version from before the rule that is restored', async () => {
  const own = await service.create('dataset', project, 'restored')
  const path = 'input.late'
  const late = 'later to be masked'
  await service.insert('dataset', own, [{ id: 'r', input: { late, n: 1 } }])
  const [{ _xact_id: version }] = (await rows(`dataset('${own}')`, '_xact_id')) as unknown as [
    { _xact_id: string },
  ]
  await service.insert('dataset', own, [{ id: 'r', input: { n: 2 } }])
  await rule({ name: 'late', project_id: project, path, action: { type: 'replace', text: '-' } })
  const body = { version }
  expect((await service.request(`/v1/dataset/${own}/restore`, { body })).status).toBe(200)
  expect(await rows(`dataset('${own}')`, 'input')).toEqual([{ input: { late: '-', n: 1 } }])
})

test('attached files that are text, and their names', async () => {
  const given = address()
  const upload = async (text: string) => {
    const body = { key: randomUUID(), filename: `${given}.txt`, content_type: 'text/plain' }
    const { json } = await service.request('/attachment', { body })
    const sent = await fetch(String(json.signedUrl), { method: 'PUT', body: text })
    expect(sent.status).toBe(200)
    const found = await service.request(`/attachment?key=${body.key}`)
    return (await fetch(String(found.json.downloadUrl))).text()
  }
  expect(await upload(`of ${given},\nkept`)).toBe('of [email],\nkept')
  expect(await upload('{"password": "long enough"}\n{"n": 1.0}')).toBe(
    '{"password": "****ough"}\n{"n": 1.0}',
  )
  expectGone(given)
})

test('a live query shows what is stored', async () => {
  const given = address()
  const client = await StreamClient.open(service)
  const query = `select: input | from: project_logs('${project}') | filter: id = 'live'`
  client.send({ query, live: true })
  const seen: string[] = []
  seen.push(JSON.stringify(await client.next()))
  await service.insert('project_logs', project, [{ id: 'live', input: given }])
  while (!seen.at(-1)!.includes('[email]')) seen.push(JSON.stringify(await client.next()))
  client.socket.close()
  expect(seen.join()).not.toContain(given)
})

test('no rule holds any more that is switched off or removed', async () => {
  const own = await service.project('switched')
  const body = { name: 'all', project_id: own, path: 'input', action: { type: 'replace' } }
  const made = await service.request('/v1/masking_rule', { body })
  const of = `/v1/masking_rule/${String(made.json.id)}`
  const inputAfter = async (change?: { method: string; body?: object }) => {
    if (change) expect((await service.request(of, change)).status).toBe(200)
    await service.insert('project_logs', own, [{ id: 'one', input: 'given' }])
    const [row] = (await rows(`project_logs('${own}')`, 'input')) as unknown as [{ input: string }]
    return row.input
  }
  expect(await inputAfter()).toBe('[masked]')
  expect(await inputAfter({ method: 'PATCH', body: { enabled: false } })).toBe('given')
  expect(await inputAfter({ method: 'PATCH', body: { enabled: true } })).toBe('[masked]')
  expect(await inputAfter({ method: 'DELETE' })).toBe('given')
})

test.each([
  [{ action: { type: 'drop' } }, 'path'],
  [{ path: 'id', action: { type: 'hash' } }, 'path'],
  [{ path: 'input..x', action: { type: 'drop' } }, 'path'],
  [{ path: 'metadata', action: { type: 'hash' } }, 'path'],
  [
    { pattern: { type: 'expression', expression: '(' }, action: { type: 'drop' } },
    'pattern.expression',
  ],
  [
    { pattern: { type: 'expression', expression: 'a*' }, action: { type: 'drop' } },
    'pattern.expression',
  ],
])('a rule that cannot hold is refused: %j', async (given, path) => {
  const { status, json } = await service.request('/v1/masking_rule', {
    body: { name: 'n', ...given },
  })
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code: 'REQUEST_INVALID', path })
})
