import { context, trace } from '@opentelemetry/api'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('traced')
})
afterAll(() => service.stop())

const traceId = '0af7651916cd43dd8448eb211c80319c'

function bodyOf(...spans: object[]): object {
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] }
}

function parentAttribute(stringValue: string): object {
  return { key: 'braintrust.parent', value: { stringValue } }
}

const json = { 'content-type': 'application/json' }

async function rows(from: string, select = 'id') {
  return (await service.query(`select: ${select} | from: ${from}`)).json.data
}

test.each(['UTF-8', 'Latin-1'])('a parent has its name in a header as %s', async (encoding) => {
  const name = `Zürich ${encoding}`
  const bytes = Buffer.from(name, encoding === 'UTF-8' ? 'utf8' : 'latin1')
  const parent = `project_name:${bytes.toString('latin1')}`
  const { status } = await service.request('/otel/v1/traces', {
    headers: { ...json, 'x-bt-parent': parent },
    body: bodyOf({ traceId, spanId: 'b7ad6b7169203331', name: 'in Zürich' }),
  })
  expect(status).toBe(200)
  expect(await rows(`project_logs('${name}')`, 'span_attributes.name as n')).toEqual([
    { n: 'in Zürich' },
  ])
})

test('the exporter of OpenTelemetry, with gzipped protocol buffers', async () => {
  const exporter = new OTLPTraceExporter({
    url: `${service.url}/otel/v1/traces`,
    compression: 'gzip' as never,
    headers: { authorization: `Bearer ${testKey}`, 'x-bt-parent': `project_id:${project}` },
  })
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const tracer = provider.getTracer('my-library', '1.2')
  const root = tracer.startSpan('answer', {
    attributes: { 'braintrust.input_json': '{"q":"¿?"}', n: 2 ** 40 },
  })
  const inside = trace.setSpan(context.active(), root)
  const chat = tracer.startSpan('chat', { attributes: { 'gen_ai.usage.input_tokens': 5 } }, inside)
  chat.recordException(new Error('no answer'))
  chat.end()
  root.end()
  await provider.forceFlush()
  await provider.shutdown()

  const data = await rows(
    `project_logs('${project}')`,
    'span_attributes.name, input, metadata.n, metrics.prompt_tokens, span_parents, is_root, root_span_id, context.scope.name as library',
  )
  const root_span_id = root.spanContext().traceId
  const library = 'my-library'
  expect(data).toEqual([
    {
      name: 'answer',
      input: { q: '¿?' },
      n: 2 ** 40,
      prompt_tokens: null,
      span_parents: null,
      is_root: true,
      root_span_id,
      library,
    },
    {
      name: 'chat',
      input: null,
      n: null,
      prompt_tokens: 5,
      span_parents: [root.spanContext().spanId],
      is_root: false,
      root_span_id,
      library,
    },
  ])
})

test('the exporter of logs: events of models become part of their spans, others are rows in them', async () => {
  const exporter = new OTLPLogExporter({
    url: `${service.url}/otel/v1/logs`,
    headers: { authorization: `Bearer ${testKey}`, 'x-bt-parent': `project_name:logged` },
  })
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor(exporter)] })
  const logger = provider.getLogger('my-library', '1.2')
  const spanId = 'b7ad6b7169203331'
  const inside = trace.setSpanContext(context.active(), { traceId, spanId, traceFlags: 1 })
  const system = { 'gen_ai.system': 'openai' }
  logger.emit({
    eventName: 'gen_ai.user.message',
    body: { content: 'why?' },
    attributes: system,
    context: inside,
  })
  logger.emit({
    eventName: 'gen_ai.choice',
    body: { index: 0, message: { content: 'because' } },
    attributes: system,
    context: inside,
  })
  logger.emit({
    body: 'retrying\nfor the second time',
    severityNumber: SeverityNumber.WARN,
    severityText: 'WARN',
    attributes: { attempt: 2 },
    timestamp: [1_700_000_000, 0],
    context: inside,
  })
  logger.emit({ body: { of: 'no span' }, severityNumber: SeverityNumber.ERROR })
  await provider.forceFlush()
  await provider.shutdown()
  await service.request('/v1/traces', {
    headers: { ...json, 'x-bt-parent': 'project_name:logged' },
    body: bodyOf({ traceId, spanId, parentSpanId: '00f067aa0ba902b7', name: 'chat' }),
  })

  const data = await rows(
    `project_logs('logged') | sort: span_attributes.name`,
    "span_attributes.name, span_attributes.type, input, output, error, metadata, root_span_id = '" +
      `${traceId}' as traced, span_parents, created < '2023-11-15' as early`,
  )
  expect(data).toEqual([
    {
      name: 'chat',
      type: 'task',
      input: [{ role: 'user', content: 'why?' }],
      output: [{ index: 0, message: { content: 'because' } }],
      error: null,
      metadata: { provider: 'openai' },
      traced: true,
      span_parents: ['00f067aa0ba902b7'],
      early: false,
    },
    {
      name: 'retrying',
      type: 'log',
      input: null,
      output: 'retrying\nfor the second time',
      error: null,
      metadata: { attempt: 2, severity: 'WARN' },
      traced: true,
      span_parents: [spanId],
      early: true,
    },
    {
      name: '{"of":"no span"}',
      type: 'log',
      input: null,
      output: { of: 'no span' },
      error: '{"of":"no span"}',
      metadata: { severity: 17 },
      traced: false,
      span_parents: null,
      early: false,
    },
  ])
})

test('log records that are sent again change nothing, and what is rejected is counted', async () => {
  const record = { timeUnixNano: '1700000000000000000', body: { stringValue: 'once' } }
  const nowhere = { ...record, attributes: [parentAttribute('experiment_id:nope')] }
  const send = () =>
    service.request('/v1/logs', {
      headers: { ...json, 'x-bt-parent': 'project_name:logged twice' },
      body: { resourceLogs: [{ scopeLogs: [{ logRecords: [record, nowhere] }] }] },
    })
  await send()
  const { status, json: answer } = await send()
  expect(status).toBe(200)
  expect(answer.partialSuccess).toMatchObject({ rejectedLogRecords: '1' })
  expect(await rows(`project_logs('logged twice')`, 'output')).toEqual([{ output: 'once' }])
})

test('each span may name its parent, and a project of a new name is made', async () => {
  const experiment = await service.create('experiment', project, 'e')
  const answer = await service.request('/v1/traces', {
    headers: { ...json, 'x-bt-parent': `experiment_id:${experiment}` },
    body: bodyOf(
      {
        traceId,
        spanId: '0000000000000001',
        attributes: [parentAttribute('project_name:brand new')],
      },
      { traceId, spanId: '0000000000000002' },
    ),
  })
  expect([answer.status, answer.json]).toEqual([200, {}])
  expect(await rows(`project_logs('brand new')`)).toEqual([{ id: '0000000000000001' }])
  expect(await rows(`experiment('${experiment}')`)).toEqual([{ id: '0000000000000002' }])
})

test('spans that belong nowhere are rejected, the others are stored', async () => {
  const answer = await service.request('/otel/v1/traces', {
    headers: json,
    body: bodyOf(
      { traceId, spanId: '0000000000000003', attributes: [parentAttribute('experiment_id:nope')] },
      {
        traceId,
        spanId: '0000000000000004',
        attributes: [parentAttribute('project_name:brand new')],
      },
      { traceId, spanId: '' },
    ),
  })
  expect(answer.status).toBe(200)
  expect(answer.json.partialSuccess).toMatchObject({ rejectedSpans: '2' })
  expect(answer.json.partialSuccess?.errorMessage).toContain('experiment id nope')
})

test('a request of which nothing can be stored is an error', async () => {
  const body = bodyOf({ traceId, spanId: '0000000000000005' })
  const answer = (headers: Record<string, string>) =>
    service.request('/v1/traces', { headers: { ...json, ...headers }, body })
  expect((await answer({})).status).toBe(400)
  expect((await answer({ 'x-bt-parent': 'experiment_id:nope' })).status).toBe(403)
  expect((await answer({ 'x-bt-parent': 'garbage' })).status).toBe(400)
})

test('spans become part of a span that was exported by an SDK', async () => {
  const spanId = '00f067aa0ba902b7'
  const rootSpanId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const slug = Buffer.concat([
    Buffer.from([4, 2, 2, 3]),
    Buffer.from(spanId, 'hex'),
    Buffer.from([4]),
    Buffer.from(rootSpanId, 'hex'),
    Buffer.from(JSON.stringify({ object_id: project })),
  ]).toString('base64')
  await service.request('/v1/traces', {
    headers: { ...json, 'x-bt-parent': slug },
    body: bodyOf({ traceId, spanId: '0000000000000006' }),
  })
  const data = await rows(
    `project_logs('${project}') | filter: id = '0000000000000006'`,
    'root_span_id, span_parents',
  )
  expect(data).toEqual([{ root_span_id: rootSpanId, span_parents: [spanId] }])
})

test('what is no OTLP request is refused', async () => {
  const send = (type: string, body: string | Uint8Array) =>
    service.request('/v1/traces', {
      headers: { 'content-type': type, 'x-bt-parent': `project_id:${project}` },
      body,
    })
  expect((await send('application/x-protobuf', Buffer.from([0x0a, 0xff]))).status).toBe(400)
  expect((await send('application/json', '{')).status).toBe(400)
  expect((await send('text/plain', '{}')).status).toBe(400)
  // Messages that contain each other a thousand times over.
  let message = Buffer.from([0x0a, 0x00])
  for (let i = 0; i < 5000; i++) {
    const value = Buffer.concat([Buffer.from([0x2a]), length(message.length), message])
    message = Buffer.concat([Buffer.from([0x0a]), length(value.length), value])
  }
  const deep = [0x12, 0x2a, 0x4a, 0x12, 0x12, 0x0a].reduce(
    (inner: Buffer, tag) => Buffer.concat([Buffer.from([tag]), length(inner.length), inner]),
    message,
  )
  expect((await send('application/x-protobuf', deep)).status).toBeLessThan(500)
})

function length(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest & 0x7f) | 0x80)
  }
}
