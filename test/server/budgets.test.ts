/** Who has no key, and who declares much and sends little, takes nothing from the others. */
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string
const sockets: Socket[] = []

beforeAll(async () => {
  const port = String(await freePort())
  service = await RunningService.start({ ASSAY_OTLP_GRPC_PORT: port, ASSAY_TRUST_PROXY: '1' })
  project = await service.project()
})
afterAll(() => service.stop())
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Begins requests, and keeps them open; gives what was answered to each. */
async function begin(count: number, head: string, body = ''): Promise<() => string[]> {
  const { hostname, port } = new URL(service.url)
  const received = Array.from({ length: count }, () => '')
  await Promise.all(
    received.map(
      (_, i) =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(Number(port), hostname)
          sockets.push(socket)
          socket.on('error', reject)
          socket.on('data', (data) => {
            received[i] += data.toString()
          })
          socket.write(`${head}\r\nhost: x\r\n\r\n${body}`, () => resolve())
        }),
    ),
  )
  return () => received.map((text) => text.slice(9, 12))
}

async function expectAllServed(): Promise<void> {
  const query = { query: `select: id | from: project_logs('${project}') | limit: 1` }
  const requests = Array.from({ length: 25 }, (_, i) => [
    service.request('/btql', { body: query }),
    service.insert('project_logs', project, [{ id: `r${i}`, input: 'x'.repeat(100_000) }]),
  ])
  const answers = await Promise.all(requests.flat())
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
}

const mebibyte = 2 ** 20
const keyed = `authorization: Bearer ${testKey}`

test('seventy connections without a key that declare 16 MiB each', async () => {
  for (const path of [
    '/session',
    '/btql',
    '/logs3',
    '/api/apikey/login',
    '/attachment/content/x',
  ]) {
    const method = path.startsWith('/attachment') ? 'PUT' : 'POST'
    const answers = await begin(
      70,
      `${method} ${path} HTTP/1.1\r\ncontent-length: ${16 * mebibyte}`,
      '{"api_key": "',
    )
    await expectAllServed()
    // Refused from the headers, without the body.
    const status = { '/btql': '401', '/logs3': '401' }[path] ?? (method === 'PUT' ? '403' : '413')
    await expect.poll(() => [path, new Set(answers())]).toEqual([path, new Set([status])])
  }
})

test('what signs in is short, and few of an address are open at once', async () => {
  const head = 'POST /session HTTP/1.1\r\nx-forwarded-for: 203.0.113.1\r\ncontent-length: 60000'
  const answers = await begin(100, head, '{')
  await expect.poll(() => answers().filter((status) => status === '429').length).toBe(36)
  await expectAllServed()
  const elsewhere = await service.request('/session', {
    body: { api_key: testKey },
    key: null,
    headers: { 'x-forwarded-for': '203.0.113.2' },
  })
  expect(elsewhere.status).toBe(200)
})

test('a key that declares much more than there is room for', async () => {
  const before = process.memoryUsage().rss
  const length = 400 * mebibyte
  await begin(100, `POST /logs3 HTTP/1.1\r\n${keyed}\r\ncontent-length: ${length}`, '{"rows": [')
  await expectAllServed()
  const metrics = await service.request('/metrics')
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * mebibyte)
  expect(metrics.status).toBe(200)
})

test('calls of gRPC whose messages do not come', async () => {
  const client = connectHttp2(`http://127.0.0.1:${service.otlpGrpcPort}`)
  client.on('error', () => undefined)
  for (let i = 0; i < 100; i++) {
    client
      .request({
        ':method': 'POST',
        ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
        'content-type': 'application/grpc',
        te: 'trailers',
        ...(i % 2 === 0 && { authorization: `Bearer ${testKey}` }),
      })
      .on('error', () => undefined)
      .write(Buffer.from([0, 1, 0, 0, 0]))
  }
  await expectAllServed()
  client.destroy()
})

test('bodies that come byte by byte take no more than their bytes', async () => {
  const text = JSON.stringify({ events: [{ id: 'drip', input: 'y'.repeat(3000) }] })
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname).setNoDelay(true)
  sockets.push(socket)
  let received = ''
  socket.on('data', (data) => {
    received += data.toString()
  })
  socket.write(
    `POST /v1/project_logs/${project}/insert HTTP/1.1\r\nhost: x\r\n${keyed}\r\ncontent-length: ${text.length}\r\n\r\n`,
  )
  for (let i = 0; i < text.length; i += 7) {
    await new Promise((resolve) => socket.write(text.slice(i, i + 7), resolve))
  }
  await expect.poll(() => received).toContain('{"row_ids":["drip"]}')
})
