import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

test('health, version and greeting need no key', async () => {
  const health = await service.request('/healthz', { key: null })
  expect(health).toMatchObject({ status: 200, json: { status: 'ok' } })
  const { json } = await service.request('/version', { key: null })
  expect(json).toEqual({ version: '0.2.0', logs3_payload_max_bytes: 512 * 2 ** 20 })
  const greeting = await service.request('/v1', { key: null })
  expect(greeting.text).toBe('Hello, World!')
  expect(greeting.headers.get('content-type')).toBe('text/plain; charset=utf-8')
})

test.each(['/btql', '/btql/explain', '/logs3', '/v1/project', '/v1/experiment/x/insert'])(
  '%s needs a key',
  async (path) => {
    for (const key of [null, 'wrong', 'x'.repeat(3000)]) {
      const answer = await service.request(path, { body: '{', key })
      expect(answer.status).toBe(401)
      expect(answer.json).toEqual({
        Code: 'UnauthorizedError',
        Message: expect.stringContaining('no valid API key'),
        InternalTraceId: expect.stringMatching(/^[0-9a-f]{32}$/),
        Path: path,
        Service: 'api',
        error: {
          code: 'ACCESS_UNAUTHENTICATED',
          hint: expect.any(String),
          detail: expect.any(String),
        },
      })
    }
  },
)

test('the key may come in x-bt-auth-token', async () => {
  const headers = { 'x-bt-auth-token': testKey }
  const answer = await service.request('/v1/project', { key: null, headers })
  expect(answer.status).toBe(200)
})

test('every answer carries its trace id and how long it took', async () => {
  const { headers, json } = await service.request('/nowhere')
  expect(headers.get('x-bt-internal-trace-id')).toBe(json.InternalTraceId)
  expect(headers.get('x-bt-api-duration-ms')).toMatch(/^\d+$/)
})

test('unknown paths and wrong methods', async () => {
  const nowhere = await service.request('/nowhere')
  expect(nowhere).toMatchObject({
    status: 404,
    json: { Code: 'NotFoundError', error: { code: 'ROUTE_NOT_FOUND' } },
  })
  for (const path of ['/', '/v1/', '/v1/project/a/b', '/btql/explain/x', '/%', '/v1/__proto__']) {
    expect((await service.request(path, { method: 'POST' })).status).not.toBe(500)
  }
  const wrong = await service.request('/btql', { method: 'DELETE' })
  expect(wrong).toMatchObject({ status: 405, json: { error: { code: 'ROUTE_WRONG_METHOD' } } })
  expect(wrong.headers.get('allow')).toBe('POST')
  expect((await service.request('/btql')).status).toBe(405)
})

test('repeated and trailing slashes do not matter', async () => {
  for (const path of ['//version', '/version/', '///version//']) {
    expect((await service.request(path)).json.version).toBe('0.2.0')
  }
  expect((await service.request('//v1//project')).status).toBe(200)
})

test('HEAD answers as GET without the body', async () => {
  const raw = await service.raw(
    'HEAD /version HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    300,
  )
  expect(raw).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(raw).toMatch(/content-length: \d\d/i)
  expect(raw).toMatch(/\r\n\r\n$/)
})

test('a browser may ask from anywhere', async () => {
  const headers = { 'access-control-request-headers': 'authorization, x-bt-org-name' }
  const preflight = await service.request('/btql', { method: 'OPTIONS', headers, key: null })
  expect(preflight.status).toBe(200)
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('x-bt-org-name')
  const answer = await service.request('/v1/project')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('access-control-expose-headers')).toContain('x-bt-cursor')
})

test('what is not HTTP is turned away', async () => {
  expect(await service.raw('nonsense\r\n\r\n', 300)).not.toContain('200 OK')
  await service.raw(`GET /version HTTP/1.1\r\nx: ${'y'.repeat(1_000_000)}`, 300)
  expect((await service.request('/healthz')).status).toBe(200)
})
