import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

const limit = 1_000_000

let service: RunningService
let path: string
beforeAll(async () => {
  service = await RunningService.start({ ASSAY_MAX_BODY_BYTES: String(limit) })
  path = `/v1/project_logs/${await service.project()}/insert`
})
afterAll(() => service.stop())

function events(count: number, textLength = 10): string {
  const rows = Array.from({ length: count }, (_, i) => ({
    id: `r${i}`,
    input: 'x'.repeat(textLength),
  }))
  return JSON.stringify({ events: rows })
}

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

const expectedIds = (count: number) => Array.from({ length: count }, (_, i) => `r${i}`)

test.each(['application/json', 'text/plain', 'application/octet-stream', 'a/b; charset=x'])(
  'a body is JSON even if it is called %s',
  async (type) => {
    const answer = await service.request(path, {
      body: events(2),
      headers: { 'content-type': type },
    })
    expect(answer.json).toEqual({ row_ids: expectedIds(2) })
  },
)

test('bodies with and without a length, compressed and not', async () => {
  const text = events(500, 100)
  const gzip = { 'content-encoding': 'gzip' }
  const deflate = { 'content-encoding': 'deflate' }
  const answers = [
    await service.request(path, { body: text }),
    await service.request(path, { body: pieces(text, 1000) }),
    await service.request(path, { body: gzipSync(text), headers: gzip }),
    await service.request(path, { body: deflateSync(text), headers: deflate }),
  ]
  for (const { json } of answers) expect(json).toEqual({ row_ids: expectedIds(500) })
})

test('large bodies that come at the same time, and after each other, keep their own rows', async () => {
  const project = await service.project('large bodies')
  const rowsOf = (client: number, turn: number) =>
    Array.from({ length: 300 + client * 40 }, (_, row) => {
      const id = `${client}-${turn}-${row}`
      return { id, input: `${id} `.repeat(60), metadata: { client, turn } }
    })
  await Promise.all(
    Array.from({ length: 4 }, async (_, client) => {
      for (let turn = 0; turn < 4; turn++) {
        const sent = rowsOf(client, turn)
        const body = JSON.stringify({ events: turn === 2 ? [...sent, { id: 1 }] : sent })
        const answer = await service.request(`/v1/project_logs/${project}/insert`, { body })
        if (turn === 2) expect(answer.status).toBe(400)
        else expect(answer.json).toEqual({ row_ids: sent.map(({ id }) => id) })
      }
    }),
  )
  const { json } = await service.query(
    `select: id, input, metadata | from: project_logs('${project}') | limit: 10000`,
  )
  const sent = [0, 1, 2, 3].flatMap((client) => [0, 1, 3].flatMap((turn) => rowsOf(client, turn)))
  const byId = (rows: readonly { id: string }[]) => new Map(rows.map((row) => [row.id, row]))
  const stored = json.data as unknown as readonly { id: string }[]
  expect(byId(stored)).toEqual(byId(sent))
})

test('a body of the largest size passes; one byte more does not', async () => {
  const base = events(1, 0)
  const text = events(1, limit - base.length)
  expect(text.length).toBe(limit)
  expect((await service.request(path, { body: text })).status).toBe(200)
  for (const body of [`${text} `, pieces(`${text} `, 50_000)]) {
    const { status, json } = await service.request(path, { body })
    expect(status).toBe(413)
    expect(json).toMatchObject({
      Code: 'PayloadTooLargeError',
      Message: expect.stringContaining(`limit of ${limit} bytes`),
      error: { code: 'REQUEST_TOO_LARGE' },
    })
  }
})

test('what a body holds counts, not what it is sent as', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const bomb = gzipSync(Buffer.alloc(200_000_000, ' '))
  expect(bomb.length).toBeLessThan(limit)
  const answer = await service.request(path, { body: bomb, headers })
  expect(answer).toMatchObject({
    status: 413,
    json: { error: { detail: expect.stringContaining('decompressed') } },
  })
})

test.each([
  ['not gzip', Buffer.from('{"events":[]}'), 'gzip'],
  ['cut off', gzipSync(events(100)).subarray(0, 60), 'gzip'],
  ['of an unknown encoding', Buffer.from('x'), 'br'],
])('a compressed body that is %s', async (_, body, encoding) => {
  const headers = { 'content-encoding': encoding }
  const { status, json } = await service.request(path, { body, headers })
  expect(status).toBe(400)
  expect(json.error.code).toBe('REQUEST_INVALID')
})

const head = (rest: string) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testKey}\r\n${rest}\r\n`

test('chunks that are none, and bodies that never end', async () => {
  const broken = await service.raw(`${head('transfer-encoding: chunked\r\n')}zz\r\n{}\r\n0\r\n\r\n`)
  expect(broken).toMatch(/^HTTP\/1.1 400/)
  await service.raw(`${head('content-length: 100\r\n')}{"events"`, 100)
  await service.raw(`${head('transfer-encoding: chunked\r\n')}5\r\n{"eve`, 100)
  const gzip = 'content-encoding: gzip\r\ncontent-length: 100\r\n'
  await service.raw(`${head(gzip)}${gzipSync('{}').toString('latin1').slice(0, 5)}`, 100)
  const closing = 'connection: close\r\ncontent-length: 13\r\n'
  const answer = await service.raw(`${head(closing)}{"events":[]}`, 60_000)
  expect(answer).toContain('{"row_ids":[]}')
})

test('an early refusal is read by a client that is still sending', async () => {
  const refused = await service.request('/v1/experiment/none/insert', {
    body: pieces(events(8000, 100), 10_000),
  })
  expect(refused.status).toBe(403)
  const unknown = await service.request(path, { key: 'wrong', body: pieces(events(8000), 10_000) })
  expect(unknown.status).toBe(401)
})

test('many bodies at once: each is taken, or refused with the time to wait', async () => {
  const text = events(1, limit - 100)
  // As many as are in memory at once depends on how fast they are dealt with.
  const answers = await Promise.all(
    Array.from({ length: 80 }, () => service.request(path, { body: pieces(text, 20_000) })),
  )
  for (const { status, headers } of answers) {
    if (status === 429) expect(headers.get('retry-after')).toBe('1')
    else expect(status).toBe(200)
  }
  expect((await service.request(path, { body: text })).status).toBe(200)
})

test.each([
  ['nothing', '', 'REQUEST_NOT_JSON'],
  ['half', '{"query":"select', 'REQUEST_NOT_JSON'],
  ['two values', '{} {}', 'REQUEST_NOT_JSON'],
  ['an array', '[]', 'REQUEST_INVALID'],
  ['a string', '"x"', 'REQUEST_INVALID'],
  ['null', 'null', 'REQUEST_INVALID'],
  ['NaN', '{"query":NaN}', 'REQUEST_NOT_JSON'],
  ['10,000 arrays', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'REQUEST_INVALID'],
])('a query body of %s', async (_, body, code) => {
  const { status, json } = await service.request('/btql', { body })
  expect(status).toBe(400)
  expect(json.error.code).toBe(code)
})

test('a query body that is not UTF-8', async () => {
  const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
  const { status, json } = await service.request('/btql', { body })
  expect(status).toBe(400)
  expect(json.error.code).toBe('REQUEST_NOT_UTF8')
})
