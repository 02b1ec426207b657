/** Bodies that are small to send and would be large to hold: they are refused before they are. */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMoreValues } from '../../src/json/count-values.ts'
import { hasMoreFields, hasMoreParts } from '../../src/otlp/count-fields.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '1' })
  project = await service.project()
  // Threads are there before their memory is measured.
  await service.insert('project_logs', project, [{ id: 'first' }])
})
afterAll(() => service.stop())

const megabyte = 1_000_000
const repeated = (part: string, bytes: number) => {
  const count = Math.floor(bytes / (part.length + 1))
  return `${part},`.repeat(count).slice(0, -1)
}

/** What a message of protocol buffers has at a number, as often as is said. */
function field(number: number, content: Uint8Array, count = 1): Buffer {
  const length: number[] = []
  for (let left = content.length; ; left = Math.floor(left / 128)) {
    length.push((left % 128) + (left >= 128 ? 128 : 0))
    if (left < 128) break
  }
  const one = Buffer.concat([Buffer.from([number * 8 + 2, ...length]), content])
  return Buffer.alloc(one.length * count, one)
}
const nothing = new Uint8Array()

interface Sent {
  readonly path: () => string
  readonly body: () => string | Uint8Array
  readonly type?: string
  /** Of what the error says. */
  readonly says: string
}

const cases: Record<string, Sent> = {
  'rows of an object': {
    path: () => `/v1/project_logs/${project}/insert`,
    body: () => `{"events": [${repeated('{}', 60 * megabyte)}]}`,
    says: 'has more than 100,000 rows',
  },
  'rows of any objects': {
    path: () => '/logs3',
    body: () =>
      `{"rows": [${repeated(`{"project_id":"${project}","log_id":"g"}`, 60 * megabyte)}]}`,
    says: 'has more than 100,000 rows',
  },
  'a bare list of rows': {
    path: () => '/logs',
    body: () => `[${repeated(`{"project_id":"${project}","log_id":"g"}`, 60 * megabyte)}]`,
    says: 'has more than 100,000 rows',
  },
  'fields of a row': {
    path: () => `/v1/project_logs/${project}/insert`,
    body: () =>
      `{"events": [{${Array.from({ length: 1_000_000 }, (_, i) => `"n${i}":0`).join()}}]}`,
    says: 'events[0] has more than 10,000 fields',
  },
  feedback: {
    path: () => `/v1/project_logs/${project}/feedback`,
    body: () => `{"feedback": [${repeated('{}', 60 * megabyte)}]}`,
    says: 'more than 1,000,000 values',
  },
  'events of /v1/insert': {
    path: () => '/v1/insert',
    body: () => `{"project_logs": {"${project}": {"events": [${repeated('{}', 60 * megabyte)}]}}}`,
    says: 'more than 1,000,000 values',
  },
  'zeros in a query': {
    path: () => '/btql',
    body: () => `{"query": "select: 1", "x": [${repeated('0', 15 * megabyte)}]}`,
    says: 'more than 1,000,000 values',
  },
  'objects in objects': {
    path: () => '/v1/project',
    body: () => `{"name": ${'{"a":'.repeat(1_500_000)}0${'}'.repeat(1_500_000)}}`,
    says: 'more than 1,000,000 values',
  },
  'names in an object': {
    path: () => '/v1/project',
    body: () => `{"name": "x", ${repeated('"":0', 15 * megabyte)}}`,
    says: 'more than 1,000,000 values',
  },
  'messages of MCP': {
    path: () => '/mcp',
    body: () => `[${repeated('{}', 15 * megabyte)}]`,
    says: 'more than 1,000,000 values',
  },
  'attachments’ rows': {
    path: () => `/v1/project_logs/${project}/insert`,
    body: () =>
      `{"events": [{"input": ["braintrust_attachment", ${repeated('{}', 60 * megabyte)}]}]}`,
    says: 'more than 1,000,000 values',
  },
  'spans in JSON': {
    path: () => '/otel/v1/traces',
    body: () =>
      `{"resourceSpans": [{"scopeSpans": [{"spans": [${repeated('{}', 60 * megabyte)}]}]}]}`,
    says: 'more than 100,000 spans',
  },
  'resources in JSON': {
    path: () => '/otel/v1/logs',
    body: () => `{"resourceLogs": [${repeated('{}', 60 * megabyte)}]}`,
    says: 'more than 100,000 logRecords',
  },
  'spans in protobuf': {
    path: () => '/otel/v1/traces',
    type: 'application/x-protobuf',
    body: () => field(1, field(2, field(2, nothing, 20 * megabyte))),
    says: 'more than 100,000 spans',
  },
  'scopes in protobuf': {
    path: () => '/otel/v1/logs',
    type: 'application/x-protobuf',
    body: () => field(1, field(2, nothing, 20 * megabyte)),
    says: 'more than 100,000 logRecords',
  },
}

test.each(Object.entries(cases))(
  'too many %s: 413 with the way out, soon',
  {
    timeout: 60_000,
  },
  async (_, { path, body, type = 'application/json', says }) => {
    const sent = gzipSync(body(), { level: 1 })
    const before = process.memoryUsage().rss
    const start = performance.now()
    const headers = {
      'content-type': type,
      'content-encoding': 'gzip',
      'x-bt-parent': `project_id:${project}`,
    }
    const { status, text } = await service.request(path(), { body: sent, headers })
    expect({ status, text }).toMatchObject({ status: 413, text: expect.stringContaining(says) })
    expect(text).toMatch(
      /several requests|several rows|fewer items|smaller batches|rows of their own/,
    )
    expect(performance.now() - start).toBeLessThan(40_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * megabyte)
  },
)

describe('an item of OTLP with very many values', () => {
  test.each([
    [
      'application/json',
      () =>
        `{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "${'a'.repeat(32)}", "spanId": "${'b'.repeat(16)}", "attributes": [${repeated('{}', 30 * megabyte)}]}]}]}]}`,
    ],
    [
      'application/x-protobuf',
      () => field(1, field(2, field(2, field(9, nothing, 10 * megabyte)))),
    ],
  ])('is rejected by itself, in %s', { timeout: 60_000 }, async (type, body) => {
    const headers = { 'content-type': type, 'x-bt-parent': `project_id:${project}` }
    const before = process.memoryUsage().rss
    const { status, text } = await service.request('/otel/v1/traces', { body: body(), headers })
    expect(status).toBe(200)
    expect(text).toContain('more than 1,000,000 values')
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * megabyte)
  })
})

test('as many rows as a request may have are taken', { timeout: 60_000 }, async () => {
  const events = Array.from({ length: 100_000 }, () => '{}')
  const path = `/v1/project_logs/${project}/insert`
  const { status, json } = await service.request(path, { body: `{"events": [${events}]}` })
  expect([status, json.row_ids?.length]).toEqual([200, 100_000])
  const more = await service.request(path, { body: `{"events": [${events}, {}]}` })
  expect(more.status).toBe(413)
})

test('values are counted, and what stands in texts is none', () => {
  const bytes = (text: string) => Buffer.from(text)
  expect(hasMoreValues(bytes('[1,2,3]'), 3)).toBe(true)
  expect(hasMoreValues(bytes('[1,2,3]'), 4)).toBe(false)
  expect(hasMoreValues(bytes('{"a,{[":",,,,\\",,,[["}'), 2)).toBe(false)
  expect(hasMoreValues(bytes('"unclosed\\'), 2)).toBe(false)
})

test('fields are counted, and texts are no messages', () => {
  expect(hasMoreFields(field(9, nothing, 50), 20)).toBe(true)
  expect(hasMoreFields(field(9, nothing, 50), 50)).toBe(false)
  for (const sign of ['0', ' ', '*', 'x', '2']) {
    expect(hasMoreFields(field(9, Buffer.from(sign.repeat(1000))), 10)).toBe(false)
  }
  expect(hasMoreParts(field(1, field(2, field(2, nothing, 50))), 20)).toBe(true)
  expect(hasMoreParts(field(1, field(2, field(2, nothing, 50))), 52)).toBe(false)
  // What breaks off has been counted until then.
  expect(hasMoreParts(Buffer.concat([field(1, nothing, 50), Buffer.from([7])]), 20)).toBe(true)
})

test('numbers of very many digits take no time', { timeout: 60_000 }, async () => {
  const numbers = Array.from({ length: 100 }, () => '9'.repeat(100_000)).join()
  const record = `{"body":{"arrayValue":{"values":[{"intValue":[${numbers}]}]}}}`
  const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`
  const headers = { 'content-type': 'application/json', 'x-bt-parent': `project_id:${project}` }
  const before = process.cpuUsage().user
  const { status } = await service.request('/otel/v1/logs', { body, headers })
  expect(status).toBe(200)
  // As numbers that are exact, they took some 20 seconds.
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(5)
})
