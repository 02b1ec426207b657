/** Requests that a proxy could read in another way than this service, over real sockets. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

const authorization = `authorization: Bearer ${testKey}`
const query = '{"query": "select: 1 as one | from: project_logs(\'none\')"}'
const length = `content-length: ${query.length}`
const chunks = `${query.length.toString(16)}\r\n${query}\r\n0\r\n\r\n`

/** What would be done if it were taken for a request. */
const smuggled =
  `POST /v1/project HTTP/1.1\r\nhost: x\r\n${authorization}\r\ncontent-length: 19\r\n\r\n` +
  '{"name":"smuggled"}'

function request(lines: readonly string[], body: string, start = 'POST /btql HTTP/1.1'): string {
  return `${[start, authorization, ...lines].join('\r\n')}\r\n\r\n${body}${smuggled}`
}

interface Received {
  readonly statuses: readonly string[]
  readonly text: string
  readonly isClosed: boolean
}

/** Sends parts one after the other, and waits until the server closes the connection. */
function send(parts: readonly string[], waitMs: number): Promise<Received> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    let text = ''
    const finish = (isClosed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!)
      resolve({ statuses, text, isClosed })
    }
    const timer = setTimeout(() => finish(false), waitMs)
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => finish(true))
    const sendNext = (index: number) => {
      if (index >= parts.length || socket.destroyed) return
      socket.write(Buffer.from(parts[index]!, 'latin1'), () => setTimeout(sendNext, 30, index + 1))
    }
    sendNext(0)
  })
}

async function expectNothingSmuggled(): Promise<void> {
  const { json } = await service.request('/v1/project?project_name=smuggled')
  expect(json.objects).toEqual([])
}

const ambiguous: readonly (readonly [string, readonly string[], string])[] = [
  ['two lengths', ['host: x', length, 'content-length: 0'], query],
  ['two lengths, the first of them 0', ['host: x', 'content-length: 0', length], query],
  ['the same length twice', ['host: x', length, length], query],
  ['a list of lengths', ['host: x', `${length}, ${query.length}`], query],
  ['a length with a sign', ['host: x', 'content-length: +5'], 'hello'],
  ['a negative length', ['host: x', 'content-length: -5'], 'hello'],
  ['a hexadecimal length', ['host: x', 'content-length: 0x5'], 'hello'],
  ['a length with more behind it', ['host: x', 'content-length: 5 5'], 'hello'],
  ['a fraction', ['host: x', 'content-length: 5.0'], 'hello'],
  ['an empty length', ['host: x', 'content-length:'], query],
  ['a length beyond 64 bits', ['host: x', 'content-length: 18446744073709551621'], 'hello'],
  ['a length of a hundred digits', ['host: x', `content-length: ${'9'.repeat(100)}`], 'hello'],
  ['an unknown encoding', ['host: x', 'transfer-encoding: xchunked'], chunks],
  [
    'an unknown encoding beside a length',
    ['host: x', 'transfer-encoding: xchunked', length],
    query,
  ],
  ['identity', ['host: x', 'transfer-encoding: identity'], query],
  ['identity beside a length', ['host: x', 'transfer-encoding: identity', length], query],
  ['an empty encoding beside a length', ['host: x', 'transfer-encoding:', length], query],
  ['chunks beside a length', ['host: x', 'transfer-encoding: chunked', length], '0\r\n\r\n'],
  ['a length beside chunks', ['host: x', length, 'transfer-encoding: chunked'], '0\r\n\r\n'],
  ['two encodings', ['host: x', 'transfer-encoding: gzip, chunked'], chunks],
  ['chunks that are not last', ['host: x', 'transfer-encoding: chunked, identity'], chunks],
  [
    'the encoding twice',
    ['host: x', 'transfer-encoding: chunked', 'transfer-encoding: identity'],
    chunks,
  ],
  [
    'chunked twice',
    ['host: x', 'transfer-encoding: chunked', 'transfer-encoding: chunked'],
    chunks,
  ],
  ['a mark of quotation', ['host: x', 'transfer-encoding: "chunked"'], chunks],
  ['two hosts', ['host: x', 'host: y', length], query],
  ['the same host twice', ['host: x', 'host: x', length], query],
  ['no host', [length], query],
  ['an empty host', ['host:', length], query],
]

describe.each(['POST', 'GET', 'DELETE'])('with %s', (method) => {
  test.each(ambiguous)('%s: 400, and the connection ends', async (_, lines, body) => {
    const start = `${method} /btql HTTP/1.1`
    const { statuses, isClosed } = await send([request(lines, body, start)], 2000)
    expect({ statuses, isClosed }).toEqual({ statuses: ['400'], isClosed: true })
    await expectNothingSmuggled()
  })
})

test('the refusal says what to send, in JSON', async () => {
  const { text } = await send([request(['host: x', length, length], query)], 2000)
  const [head, body] = text.split('\r\n\r\n')
  expect(head).toMatch(/^connection: close$/im)
  expect(Number(head?.match(/^content-length: (\d+)$/im)?.[1])).toBe(body?.length)
  expect(JSON.parse(body ?? '')).toMatchObject({
    Code: 'BadRequestError',
    error: { code: 'REQUEST_INVALID', hint: 'send one "content-length", a number' },
  })
})

test('a request for a WebSocket is held to the same', async () => {
  const upgrade = [
    'host: x',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  const start = 'GET /btql/stream HTTP/1.1'
  for (const lines of [
    [...upgrade, 'content-length: 0', length],
    [...upgrade, length],
    [...upgrade, 'host: y'],
  ]) {
    const { statuses, isClosed } = await send([request(lines, query, start)], 2000)
    expect({ statuses, isClosed }).toEqual({ statuses: ['400'], isClosed: true })
  }
  await expectNothingSmuggled()
})

describe('a request in chunks', () => {
  const head = request(['host: x', 'transfer-encoding: chunked'], '').slice(0, -smuggled.length)

  test.each([
    ['an end of line in the place of data', chunks.replace('}\r\n0', '}XX0')],
    ['bare ends of lines', chunks.replaceAll('\r\n', '\n')],
    ['a sign', `+${chunks}`],
    ['a prefix', `0x${chunks}`],
    ['a size of no digits', `:\r\n${chunks}`],
    ['a size beyond 64 bits', `10000000000000000${chunks}`],
  ])('with %s is the last of its connection', async (_, body) => {
    for (const parts of [
      [head + body + smuggled],
      [head + body, smuggled],
      [head, body, smuggled],
    ]) {
      const { statuses } = await send(parts, 700)
      expect(statuses.length).toBeLessThanOrEqual(1)
    }
    await expectNothingSmuggled()
  })

  test.each([
    ['that are as they should be', chunks],
    ['with an extension', chunks.replace('\r\n', ';a=b\r\n')],
    ['with a trailer', `${chunks.slice(0, -2)}x: y\r\n\r\n`],
  ])('is the last over uWebSockets.js: chunks %s', async (_, body) => {
    const next = 'GET /version HTTP/1.1\r\nhost: x\r\n\r\n'
    const { statuses } = await send([head, body, next], 700)
    if (service.httpServer === 'node') expect(statuses).toEqual(['403', '200'])
    else expect(statuses.length).toBeLessThanOrEqual(1)
  })

  test('is answered, whatever is asked for', async () => {
    const isLast = service.httpServer !== 'node'
    const { statuses, text, isClosed } = await send([head + chunks], isLast ? 2000 : 500)
    expect({ statuses, isClosed }).toEqual({ statuses: ['403'], isClosed: isLast })
    expect(/^connection: close\r$/im.test(text)).toBe(isLast)
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const parts = [
        `${method} /version HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
      ]
      const answer = await send(parts, isLast ? 2000 : 500)
      expect({ method, ...answer }).toMatchObject({ statuses: ['200'], isClosed: isLast })
    }
  })

  test('is answered if the answer is long', async () => {
    const project = await service.project('long')
    await service.insert('project_logs', project, [{ id: '1', input: 'x'.repeat(3_000_000) }])
    const body = JSON.stringify({ query: `select: input | from: project_logs('${project}')` })
    const isLast = service.httpServer !== 'node'
    const { text, isClosed } = await send(
      [`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
      isLast ? 10_000 : 2000,
    )
    expect(isClosed).toBe(isLast)
    expect(text.length).toBeGreaterThan(3_000_000)
    await expectNothingSmuggled()
  })
})

/** Node's parser takes these, which say where the request ends as all others do. */
const passedOver = [
  request(['host: x', length], query, 'POST  /btql  HTTP/1.1'),
  `\r\n${request(['host: x', length], query)}`,
]

test('lines that are no headers are never answered as a request, and the connection ends', {
  timeout: 30_000,
}, async () => {
  const texts = [
    request(['host: x', 'x: a', ` ${length}`], query),
    request(['host: x', 'content-length:', ` ${query.length}`], query),
    request(['host: x', `content-length : ${query.length}`], query),
    request(['host: x', 'transfer-encoding : chunked'], chunks),
    request(['host: x', `x: a\n${length}`], query),
    request(['host: x', `x: a\r${length}`], query),
    request(['host: x', 'x: a\0b', length], query),
    request(['host: x', 'x\0: ab', length], query),
    request(['host: x', 'x', length], query),
    request(['host: x', length], query).replaceAll('\r\n', '\n'),
    request(['host: x', length], query, 'POST /btql HTTP/1.0'),
    request(['host: x', length], query, 'POST /btql'),
    request(['host: x', length], query, 'POST\t/btql\tHTTP/1.1'),
    request(['host: x', length], query, 'POST http://y/btql HTTP/1.1'),
    ...(service.httpServer === 'node' ? [] : passedOver),
  ]
  const answers = await Promise.all(texts.map((text) => send([text, smuggled], 20_000)))
  for (const [i, { statuses, isClosed }] of answers.entries()) {
    expect({ text: texts[i], isClosed }).toMatchObject({ isClosed: true })
    for (const status of statuses) expect(['400', '431', '505']).toContain(status)
  }
  await expectNothingSmuggled()
})

test('a length with zeros before it, and in any case of letters, is one', async () => {
  const lines = ['Host: x', `CONTENT-Length:\t00${query.length} `]
  const text = `${['POST /btql HTTP/1.1', authorization, ...lines].join('\r\n')}\r\n\r\n${query}`
  const { statuses, isClosed } = await send([text, text], 500)
  expect({ statuses, isClosed }).toEqual({ statuses: ['403', '403'], isClosed: false })
})
