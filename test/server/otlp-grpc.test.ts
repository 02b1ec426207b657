import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { context, trace } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService } from '../../src/cli/service.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/server/logger.ts'
import { freePort } from '../support/free-port.ts'
import { deepMessage, field, spanMessage, tracesMessage } from '../support/otlp-message.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start({
    ASSAY_OTLP_GRPC_PORT: String(await freePort()),
    ASSAY_MAX_BODY_BYTES: String(2 ** 20),
  })
  project = await service.project('called')
})
afterAll(() => service.stop())

const traceId = '0af7651916cd43dd8448eb211c80319c'

function metadataOf(members: Record<string, string>): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(members)) metadata.set(name, value)
  return metadata
}

const signedIn = () => ({
  authorization: `Bearer ${testKey}`,
  'x-bt-parent': `project_id:${project}`,
})

interface Outcome {
  readonly code: number
  readonly details: string
  readonly answer: Buffer | undefined
  /** What is told besides the code: whether to try again is in it. */
  readonly status: string
}

/** A call of any bytes, as no exporter makes it. */
function call(
  message: Uint8Array,
  members: Record<string, string>,
  path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  port = service.otlpGrpcPort,
): Promise<Outcome> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes) => bytes,
      message,
      metadataOf(members),
      (error: ServiceError | null, answer?: Buffer) => {
        client.close()
        const [told] = error?.metadata.get('grpc-status-details-bin') ?? []
        resolve({
          code: error?.code ?? status.OK,
          details: error?.details ?? '',
          answer,
          status: told === undefined ? '' : Buffer.from(told).toString('latin1'),
        })
      },
    )
  })
}

async function rows(from: string, select: string) {
  return (await service.query(`select: ${select} | from: ${from}`)).json.data
}

test('the exporter of traces, gzipped', async () => {
  const exporter = new OTLPTraceExporter({
    url: `http://127.0.0.1:${service.otlpGrpcPort}`,
    compression: 'gzip' as never,
    metadata: metadataOf({ ...signedIn(), 'x-bt-parent': 'project_name:exported' }),
  })
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const tracer = provider.getTracer('my-library')
  const root = tracer.startSpan('answer', { attributes: { 'braintrust.input_json': '"why?"' } })
  tracer.startSpan('chat', {}, trace.setSpan(context.active(), root)).end()
  root.end()
  await provider.forceFlush()
  await provider.shutdown()
  const source = `project_logs('exported') | sort: span_attributes.name`
  expect(await rows(source, 'span_attributes.name, input, is_root')).toEqual([
    { name: 'answer', input: 'why?', is_root: true },
    { name: 'chat', input: null, is_root: false },
  ])
})

test('the exporter of logs', async () => {
  const exporter = new OTLPLogExporter({
    url: `http://127.0.0.1:${service.otlpGrpcPort}`,
    metadata: metadataOf({ ...signedIn(), 'x-bt-parent': 'project_name:logged' }),
  })
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor(exporter)] })
  provider.getLogger('my-library').emit({ body: 'retrying', attributes: { attempt: 2 } })
  await provider.forceFlush()
  await provider.shutdown()
  expect(await rows(`project_logs('logged')`, 'output, metadata')).toEqual([
    { output: 'retrying', metadata: { attempt: 2 } },
  ])
})

describe('a call', () => {
  const good = (spanId: string) => spanMessage({ traceId, spanId })

  test('of which a part cannot be stored says which', async () => {
    const spanId = '00000000000000aa'
    const deep = { k: deepMessage(2000) }
    const message = tracesMessage(
      good(spanId),
      spanMessage({ traceId, spanId: '00000000000000ab', name: 'deep', attributes: deep }),
    )
    const { code, answer } = await call(message, signedIn())
    expect(code).toBe(status.OK)
    expect(answer?.toString()).toContain('span 00000000000000ab "deep": cannot be read')
    const source = `project_logs('${project}') | filter: id = '${spanId}'`
    expect(await rows(source, 'id')).toEqual([{ id: spanId }])
  })

  test.each<[what: string, code: number, message: () => Uint8Array, more: Record<string, string>]>([
    ['without a key', status.UNAUTHENTICATED, () => tracesMessage(), { authorization: '' }],
    [
      'with a key that is unknown',
      status.UNAUTHENTICATED,
      () => tracesMessage(),
      { authorization: 'Bearer sk-unknown-key' },
    ],
    [
      'for what may not be written',
      status.PERMISSION_DENIED,
      () => tracesMessage(good('00000000000000ac')),
      { 'x-bt-parent': 'experiment_id:nope' },
    ],
    [
      'for nothing',
      status.INVALID_ARGUMENT,
      () => tracesMessage(good('00000000000000ad')),
      { 'x-bt-parent': '' },
    ],
    [
      'with bytes that are no request',
      status.INVALID_ARGUMENT,
      () => Buffer.from([0x0a, 0xff]),
      {},
    ],
    [
      'with a message that is too large',
      status.RESOURCE_EXHAUSTED,
      () => field(1, 'x'.repeat(2 ** 20)),
      {},
    ],
  ])('%s is refused', async (_, code, message, more) => {
    const outcome = await call(message(), { ...signedIn(), ...more })
    expect(outcome.code).toBe(code)
    // Who is told to try again would do so in vain.
    expect(outcome.status).not.toContain('RetryInfo')
  })

  test('that is too large once it is decompressed is refused', async () => {
    const exporter = new OTLPTraceExporter({
      url: `http://127.0.0.1:${service.otlpGrpcPort}`,
      compression: 'gzip' as never,
      metadata: metadataOf(signedIn()),
    })
    const provider = new BasicTracerProvider({ spanProcessors: [] })
    const span = provider.getTracer('t').startSpan('s', { attributes: { k: 'x'.repeat(2 ** 22) } })
    span.end()
    const result = await new Promise<{ error?: Error }>((resolve) => {
      exporter.export([span as never], resolve)
    })
    expect(String(result.error)).toContain('RESOURCE_EXHAUSTED')
    await exporter.shutdown()
  })

  test('of metrics is not served', async () => {
    const path = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'
    expect((await call(new Uint8Array(), signedIn(), path)).code).toBe(status.UNIMPLEMENTED)
  })

  test('is among the metrics, and leaves no memory taken', async () => {
    await call(tracesMessage(), signedIn())
    const { text } = await service.request('/metrics')
    expect(text).toMatch(/assay_http_requests_total\{.*TraceService\/Export",status="200"\} [1-9]/)
    expect(text).toMatch(/^assay_http_body_bytes 0$/m)
  })
})

test('too many calls are told when to come again', async () => {
  const limited = await RunningService.start({
    ASSAY_OTLP_GRPC_PORT: String(await freePort()),
    ASSAY_MAX_REQUESTS_PER_MINUTE_PER_KEY: '1',
  })
  const headers = { authorization: `Bearer ${testKey}` }
  const outcomes = []
  for (let i = 0; i < 2; i++) {
    outcomes.push(await call(tracesMessage(), headers, undefined, limited.otlpGrpcPort))
  }
  expect(outcomes.map(({ code }) => code)).toEqual([status.OK, status.RESOURCE_EXHAUSTED])
  expect(outcomes[1]?.status).toContain('google.rpc.RetryInfo')
  await limited.stop()
})

describe('the port', () => {
  test('is not taken when it is off', async () => {
    const other = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: 'off' })
    expect(other.otlpGrpcPort).toBeUndefined()
    await other.stop()
  })

  test('that was chosen and is taken keeps the service from starting, and says so', async () => {
    const start = RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(service.otlpGrpcPort) })
    await expect(start).rejects.toMatchObject({
      code: 'SERVER_CANNOT_LISTEN',
      message: `cannot listen on 127.0.0.1:${service.otlpGrpcPort} for OTLP over gRPC`,
    })
  })

  test('that nobody chose is done without where it is taken', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'assay-server-'))
    const config = readConfig({ port: '0', dataDir, workers: '0', logLevel: 'silent' }, {})
    const otlpGrpcPort = { number: service.otlpGrpcPort!, isChosen: false }
    const other = await startService({ ...config, otlpGrpcPort }, createLogger('silent'))
    expect(other.otlpGrpcPort).toBeUndefined()
    expect((await fetch(`${other.url}/healthz`)).status).toBe(200)
    await other.close()
    rmSync(dataDir, { recursive: true })
  })

  test('is free again once the service has stopped, with a connection open', async () => {
    const port = await freePort()
    const first = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(port) })
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
    await new Promise((resolve) => client.waitForReady(Date.now() + 5000, resolve))
    await first.stop()
    client.close()
    const second = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: String(port) })
    expect(second.otlpGrpcPort).toBe(port)
    await second.stop()
  })
})
