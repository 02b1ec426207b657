/**
 * Whatever comes over HTTP, gRPC or a WebSocket, the service lives, refuses it with an error that says something,
 * and answers right afterwards. `ASSAY_FUZZ_SECONDS` says for how long, all together.
 */

import { request } from 'node:http'
import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Entries, makeEntries } from '../contract/calls.ts'
import { freePort } from '../support/free-port.ts'
import { type FuzzRequest, FuzzRequests } from '../support/fuzz/fuzz-requests.ts'
import { Mutator } from '../support/fuzz/mutator.ts'
import { field, spanMessage, tracesMessage } from '../support/otlp-message.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { StreamClient } from '../support/stream-client.ts'

const seconds = Number(process.env.ASSAY_FUZZ_SECONDS ?? (isSlow ? 300 : 6))
/** However busy the machine is. */
const longestMs = 60_000
const mostMemory = 2 ** 30
/** What is not done here, and what a service with much to do answers. */
const allowed = new Set([501, 429])

let service: RunningService
let entries: Entries
beforeAll(async () => {
  service = await RunningService.start({
    ASSAY_WORKERS: '1',
    ASSAY_OTLP_GRPC_PORT: String(await freePort()),
    ASSAY_MAX_BODY_BYTES: String(2 ** 20),
  })
  entries = await makeEntries(service)
})
afterAll(() => service.stop())

let checks = 0

/** A record is taken, found and counted as ever. */
async function expectRight(): Promise<void> {
  const id = `check-${checks++}`
  const { status } = await service.insert('dataset', entries.dataset!, [{ id, input: id }])
  expect(status).toBe(200)
  const found = await service.query(
    `select: input | from: dataset('${entries.dataset}') | filter: id = '${id}'`,
  )
  expect(found.json.data).toEqual([{ input: id }])
}

async function untilOver(share: number, work: () => Promise<unknown>): Promise<number> {
  const end = Date.now() + seconds * 1000 * share
  let count = 0
  const loop = async () => {
    while (Date.now() < end) {
      await work()
      if (++count % 500 === 0) await expectRight()
    }
  }
  await Promise.all(Array.from({ length: 4 }, loop))
  await expectRight()
  return count
}

interface Outcome {
  readonly status: number
  readonly text: string
}

function send({ method, path, headers, body }: FuzzRequest): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const call = request(
      service.url + path,
      { method, headers: { authorization: `Bearer ${testKey}`, ...headers }, timeout: longestMs },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        const end = () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
        response.on('end', end)
        response.on('error', end)
      },
    )
    call.on('timeout', () => call.destroy(new Error(`no answer after ${longestMs} ms`)))
    // A connection that is closed while a body comes may not give its answer.
    call.on('error', (error) =>
      /ECONNRESET|EPIPE/.test(String(error)) ? resolve({ status: 0, text: '' }) : reject(error),
    )
    call.end(body)
  })
}

test('every operation of the API document, with changed bodies, headers and parameters', {
  timeout: (seconds + 300) * 1000,
}, async () => {
  const requests = await FuzzRequests.of(service, entries, seed)
  const before = process.memoryUsage.rss()
  const statuses = new Map<number, number>()
  const count = await untilOver(0.7, async () => {
    const one = requests.next()
    const { status, text } = await send(one)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const shown = `${one.method} ${one.path} ${JSON.stringify(one.headers)} ${one.body?.toString('latin1')}`
    if (status >= 500 && !allowed.has(status)) expect.fail(`${status} ${text} for ${shown}`)
    if (status >= 400 && text.length < 10) expect.fail(`${status} without words for ${shown}`)
  })
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`)
  console.log(
    `ASSAY_SEED=${seed}: ${count} requests to ${requests.count} operations; ${counts.join(', ')}`,
  )
  expect(statuses.get(200)).toBeGreaterThan(0)
  expect(process.memoryUsage.rss() - before).toBeLessThan(mostMemory)
})

const grpcPaths = ['trace.v1.TraceService', 'logs.v1.LogsService'].map(
  (name) => `/opentelemetry.proto.collector.${name}/Export`,
)

test('calls of gRPC with changed messages', { timeout: (seconds + 300) * 1000 }, async () => {
  const random = new RandomChoice(seed)
  const span = spanMessage({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
  })
  const mutator = new Mutator(seed, [
    tracesMessage(span),
    field(1, field(2, field(2, field(5, 'm')))),
  ])
  const client = new Client(`127.0.0.1:${service.otlpGrpcPort}`, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${testKey}`)
  metadata.set('x-bt-parent', `project_id:${entries.project}`)
  const codes = new Map<number, number>()
  const count = await untilOver(0.1, async () => {
    const message = mutator.next()
    const code = await new Promise<number>((resolve) => {
      const same = (bytes: Buffer) => bytes
      client.makeUnaryRequest(random.pick(grpcPaths), same, same, message, metadata, (error) =>
        resolve(error?.code ?? 0),
      )
    })
    codes.set(code, (codes.get(code) ?? 0) + 1)
    if (![status.OK, status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED].includes(code)) {
      expect.fail(`code ${code} for ${message.toString('base64')}`)
    }
  })
  client.close()
  console.log(`ASSAY_SEED=${seed}: ${count} calls; ${JSON.stringify([...codes])}`)
})

test('WebSockets with changed messages and frames', {
  timeout: (seconds + 300) * 1000,
}, async () => {
  const random = new RandomChoice(seed)
  const source = `experiment('${entries.experiment}')`
  const messages = [
    { type: 'query', id: '1', query: `select: * | from: ${source}`, live: true },
    {
      type: 'query',
      id: '2',
      query: `measures: count(1) as n | from: ${source}`,
      fmt: 'arrow',
      progress: false,
    },
    {
      type: 'query',
      query: `select: id | from: ${source}`,
      since: '1000196129554423269',
      live: true,
    },
    { type: 'cancel', id: '1' },
    { type: 'authenticate', key: 'x' },
  ]
  const mutator = new Mutator(
    seed,
    messages.map((one) => Buffer.from(JSON.stringify(one))),
  )
  let sent = 0
  const count = await untilOver(0.2, async () => {
    const client = await StreamClient.open(service)
    for (let times = random.below(20); times >= 0; times--, sent++) {
      const bytes = mutator.next()
      if (random.below(30) === 0) client.socket.send(bytes)
      else client.socket.send(bytes.toString())
    }
    // Bytes that are no frame, or the beginning of one.
    const raw = (client.socket as unknown as { _socket?: { write(bytes: Buffer): void } })._socket
    if (random.below(3) === 0) raw?.write(mutator.next().subarray(0, 64))
    else client.send({ type: 'cancel', id: 'none' })
    while (client.waiting > 0) {
      const message = await client.next()
      if (message.type === 'error' && Number(message.status) >= 500)
        expect.fail(JSON.stringify(message))
    }
    client.close()
  })
  console.log(`ASSAY_SEED=${seed}: ${sent} messages in ${count} connections`)
})
