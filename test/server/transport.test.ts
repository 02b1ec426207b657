/** What any HTTP client may rely on, whichever server there is: heads, bodies and connections over real sockets. */
import { request as nodeRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'
import { rowsOf, StreamClient } from '../support/stream-client.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

const authorization = `authorization: Bearer ${testKey}`
const get = (path: string, ...lines: string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'host: x', ...lines].join('\r\n')}\r\n\r\n`
const statusesIn = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

test('what a client writes into headers and names may come back in the headers of its answer', async () => {
  const names = 'x-zürich, x-\u2019, x-\u{1f600}'
  const asked = ['OPTIONS /btql HTTP/1.1', 'host: x', `access-control-request-headers: ${names}`]
  const received = await service.raw(`${asked.join('\r\n')}\r\n\r\n`, 500)
  expect(statusesIn(received)).toEqual([200])
  expect(received).toMatch(/^access-control-allow-headers: x-z.*rich, x-.*, x-.*\r$/m)
  const source = await service.create('experiment', await service.project('headers'))
  for (const name of ['Zürich \u2019', 'a\\u0001\\u007f', '\u{1f600}']) {
    const query = `select: metadata."${name}" as n | from: experiment('${source}') | filter: metadata."${name}" = 1`
    expect((await service.query(query)).status).toBe(200)
  }
})

test('the first of several lines of a header counts', async () => {
  const lines = ['x-request-id: one', 'x-request-id: two']
  expect(await service.raw(get('/version', ...lines), 500)).toMatch(/^x-request-id: one\r$/im)
})

test('a client that would like to have HTTP/2 is answered by HTTP/1.1', async () => {
  const lines = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABk']
  expect(statusesIn(await service.raw(get('/version', ...lines), 500))).toEqual([200])
  const body = '{"query": "select: 1 as one | from: project_logs(\'none\')"}'
  const head = ['POST /btql HTTP/1.1', 'host: x', authorization, ...lines].join('\r\n')
  const received = await service.raw(
    `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    500,
  )
  expect(statusesIn(received)).toEqual([403])
})

test('headers that are too long are refused, and the connection ends', async () => {
  const received = await service.raw(`GET /version HTTP/1.1\r\nx: ${'a'.repeat(600_000)}`, 3000)
  expect([[], [431]]).toContainEqual(statusesIn(received))
})

test('a body that nobody wants is passed over, and the next request answered', async () => {
  const body = 'x'.repeat(300_000)
  const put = (path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const received = await service.raw(put('/version') + put('/nothing') + get('/v1'), 1500)
  expect(statusesIn(received)).toEqual([200, 404, 200])
})

test('a body may be waited for with 100 Continue', async () => {
  const body = Buffer.from('{"name": "continued"}')
  const answer = await new Promise<{ status: number | undefined; continued: boolean }>(
    (resolve, reject) => {
      let continued = false
      const asked = nodeRequest(`${service.url}/v1/project`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${testKey}`,
          expect: '100-continue',
          'content-length': body.length,
        },
      })
      asked.on('continue', () => {
        continued = true
        asked.end(body)
      })
      asked.on('response', (response) => {
        response.resume()
        resolve({ status: response.statusCode, continued })
      })
      asked.on('error', reject)
      asked.flushHeaders()
    },
  )
  expect(answer).toEqual({ status: 200, continued: true })
})

describe('a long answer', () => {
  const texts = Array.from({ length: 40 }, (_, i) => `${i} ${'abcdefghij'.repeat(20_000)}`)
  let query: string
  beforeAll(async () => {
    const id = await service.create('experiment', await service.project('long'))
    for (const [i, input] of texts.entries()) {
      await service.insert('experiment', id, [{ id: `${i}`, input }])
    }
    query = `select: input | from: experiment('${id}') | sort: id`
  })

  test.each(['json', 'jsonl', 'parquet'])('comes whole in the format %s', async (fmt) => {
    const whole = await (await service.fetch('/btql', { body: { query, fmt } })).arrayBuffer()
    const again = await (await service.fetch('/btql', { body: { query, fmt } })).arrayBuffer()
    expect(whole.byteLength).toBe(again.byteLength)
    if (fmt === 'parquet') return
    for (const text of texts) expect(Buffer.from(whole).includes(text)).toBe(true)
  })

  test('comes whole to who reads with pauses, on a connection that goes on', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    const body = JSON.stringify({ query })
    const head = ['POST /btql HTTP/1.1', 'host: x', authorization, `content-length: ${body.length}`]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    const chunks: Buffer[] = []
    let bytes = 0
    let pauses = 0
    const isWhole = () => Buffer.concat(chunks.slice(-2)).toString().endsWith('\r\n0\r\n\r\n')
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`closed after ${bytes} bytes`)))
      socket.on('data', (data) => {
        chunks.push(data)
        bytes += data.length
        if (bytes > pauses * 1_000_000) {
          pauses++
          socket.pause()
          setTimeout(() => socket.resume(), 20)
        }
        if (isWhole()) resolve()
      })
    })
    const answer = Buffer.concat(chunks)
    for (let i = 0; i < texts.length; i++) expect(answer.includes(`"${i} abc`)).toBe(true)
    chunks.length = 0
    socket.write(get('/version'))
    await expect.poll(() => statusesIn(Buffer.concat(chunks).toString())).toEqual([200])
    socket.destroy()
  })

  test('comes whole over a WebSocket', async () => {
    const client = await StreamClient.open(service)
    client.send({ query })
    const rows = rowsOf(await client.all('end', 'error'))
    expect(rows.map(({ input }) => input).toSorted()).toEqual(texts.toSorted())
    client.close()
  })
})

test('a WebSocket whose message is too long is closed, and others go on', async () => {
  const [long, other] = await Promise.all([StreamClient.open(service), StreamClient.open(service)])
  long.send({ query: 'x'.repeat(2 ** 20) })
  expect([1006, 1009]).toContain((await long.closed()).code)
  other.send({ query: "select: 1 as one | from: project_logs('none')" })
  expect((await other.all('error', 'end')).at(-1)).toMatchObject({ type: 'error', status: 403 })
  other.close()
})

test('Node’s server tells what is no request so in JSON, behind the answers before it', async ({
  skip,
}) => {
  if (service.httpServer !== 'node') return skip('uWebSockets.js has words of its own')
  const received = await service.raw(`${get('/version')}${get('/v1')}hello\r\n\r\n`, 500)
  expect(statusesIn(received)).toEqual([200, 200, 400])
  for (const [text, status, code] of [
    ['hello\r\n\r\n', 400, 'REQUEST_INVALID'],
    ['GET /version HTTP/1.0\r\nhost: x\r\n\r\n', 400, 'REQUEST_INVALID'],
    ['GET http://x/version HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'REQUEST_INVALID'],
    [get('/version', `x: ${'a'.repeat(20_000)}`), 431, 'REQUEST_HEADERS_TOO_LARGE'],
  ] as const) {
    const [head, body] = (await service.raw(text, 2000)).split('\r\n\r\n')
    expect(statusesIn(head!)).toEqual([status])
    expect(head).toMatch(/^connection: close$/im)
    expect(JSON.parse(body!)).toMatchObject({ Service: 'api', error: { code } })
  }
})

test.each(['127.0.0.1', '::1'])('two services cannot share a port of %s', async (host) => {
  const first = await RunningService.start({ ASSAY_HOST: host })
  try {
    expect((await first.request('/version')).status).toBe(200)
    const { port } = new URL(first.url)
    const second = RunningService.start({ ASSAY_HOST: host }, Number(port))
    await expect(second).rejects.toMatchObject({
      code: 'SERVER_CANNOT_LISTEN',
      hint: expect.stringContaining('the port is taken'),
    })
  } finally {
    await first.stop()
  }
})
