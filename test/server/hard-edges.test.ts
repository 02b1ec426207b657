/** Clients that do not keep to the rules, or are very many: the others are served all the while. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveAssay } from '../support/assay-process.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start({ ASSAY_MAX_BODY_BYTES: '1000000' })
})
afterAll(() => service.stop())

const authorization = `authorization: Bearer ${testKey}`

async function expectServed(url = service.url): Promise<void> {
  const response = await fetch(`${url}/healthz`)
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
}

/** Resolves when the server has ended the connection. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.resume()
  })
}

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.off('error', reject)
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a length that is none', `POST /btql HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n`],
  ['a negative length', `POST /btql HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n`],
  [
    'a length and chunks',
    `POST /btql HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks that are none',
    `POST /btql HTTP/1.1\r\nhost: x\r\n${authorization}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc`,
  ],
  ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(100_000)}`],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
])('%s is refused, and nothing of it is taken for a request', async (_, text) => {
  const received = await service.raw(text, 500)
  expect(received).not.toMatch(/^HTTP\/1.1 2/)
  expect(received.split('HTTP/1.1').length).toBeLessThanOrEqual(2)
  await expectServed()
})

test('a connection serves on after a HEAD', async () => {
  const socket = await open(service.url)
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  for (const method of ['HEAD', 'GET', 'HEAD', 'GET']) {
    const before = received.length
    socket.write(`${method} /healthz HTTP/1.1\r\nhost: x\r\n\r\n`)
    await expect.poll(() => received.length).toBeGreaterThan(before)
  }
  expect(received.match(/content-length: 15\r\n/gi)).toHaveLength(4)
  expect(received.match(/"ok"/g)).toHaveLength(2)
  socket.destroy()
})

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const statusesIn = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

test('requests that come together and need not wait are answered in their order', async () => {
  const received = await service.raw(
    get('/version') +
      get('/nothing') +
      'HEAD /healthz HTTP/1.1\r\nhost: x\r\n\r\nOPTIONS /btql HTTP/1.1\r\nhost: x\r\n\r\n' +
      get('/admin/queries') +
      get('/healthz'),
    1000,
  )
  expect(statusesIn(received)).toEqual(['200', '404', '200', '200', '401', '200'])
})

test('what comes behind a request that has to wait is never answered in its place', async () => {
  const body = '{"query": "select: 1 as one | from: project_logs(\'no\')"}'
  const query =
    `POST /btql HTTP/1.1\r\nhost: x\r\n${authorization}\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  const received = await service.raw(query + get('/healthz'), 1000)
  expect(['', '403', '403,200']).toContain(statusesIn(received).join())
  await expectServed()
})

test('a body that grows a thousandfold is refused before it has grown', async () => {
  const bomb = gzipSync(Buffer.alloc(300 * 2 ** 20))
  expect(bomb.length).toBeLessThan(400_000)
  const before = process.memoryUsage().arrayBuffers
  const headers = { 'content-encoding': 'gzip' }
  const bodies = Array.from({ length: 8 }, () => service.request('/logs3', { body: bomb, headers }))
  for (const { status } of await Promise.all(bodies)) expect([413, 429]).toContain(status)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20)
  await expectServed()
})

test('headers and bodies that do not come are not waited for', { timeout: 120_000 }, async () => {
  const silent = await open(service.url)
  const halfHeaders = await open(service.url)
  halfHeaders.write('POST /btql HTTP/1.1\r\nhost: x\r\n')
  const slowBody = await open(service.url)
  slowBody.write(
    `POST /btql HTTP/1.1\r\nhost: x\r\n${authorization}\r\ncontent-length: 100000\r\n\r\n{`,
  )
  const drip = setInterval(() => slowBody.write(' '), 1000)
  await Promise.all([silent, halfHeaders, slowBody].map(closed))
  clearInterval(drip)
  await expectServed()
})

/** What the process, and those it starts, may open. */
const openFiles = Number(execFileSync('sh', ['-c', 'ulimit -n']).toString().trim()) || 1024

test('ten thousand connections without a whole request, and one more that is served', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'assay-edges-'))
  const server = await serveAssay(directory)
  try {
    const count = Math.min(10_000, openFiles - 1000)
    const sockets: Socket[] = []
    for (let i = 0; i < count; i += 500) {
      const more = Array.from({ length: Math.min(500, count - i) }, () => open(server.url))
      for (const socket of await Promise.all(more)) {
        socket.on('error', () => undefined)
        socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n')
        sockets.push(socket)
      }
    }
    await expectServed(server.url)
    for (const socket of sockets) socket.destroy()
    await expectServed(server.url)
  } finally {
    server.child.kill('SIGTERM')
    expect(await server.exit).toBe(0)
    rmSync(directory, { recursive: true })
  }
})
