/** Keys and tokens that end by themselves. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnyJson, RunningService, testKey } from '../support/running-service.ts'
import { EventReader, StreamClient } from '../support/stream-client.ts'

let service: RunningService
let project: string
beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

async function key(expiry: object): Promise<AnyJson> {
  const { json } = await service.request('/v1/api_key', { body: { name: randomUUID(), ...expiry } })
  return json
}

/** Resolves once the service refuses the key. */
async function expired(text: string): Promise<void> {
  while ((await service.request('/v1/project', { key: text })).status !== 401);
}

const past = '2020-01-01T00:00:00Z'

test('a key opens everything until it expires, and nothing from then on', async () => {
  const { key: text, id, expires_at } = await key({ token_expires_in_seconds: 3600 })
  expect(Date.parse(String(expires_at)) - Date.now()).toBeGreaterThan(3_500_000)
  expect((await service.request('/v1/project', { key: String(text) })).status).toBe(200)
  const listed = (await service.request('/v1/api_key')).json.objects as unknown as AnyJson[]
  expect(listed.find((one) => one.id === id)).toMatchObject({ expires_at })

  const old = await key({ expires_at: past, token_expires_in_seconds: 3600 })
  expect(old.expires_at).toBe('2020-01-01T00:00:00.000Z')
  const routes = service.routes.filter(({ access, path }) => access === 'key' && path !== '/mcp')
  expect(routes.length).toBeGreaterThan(150)
  for (const { method, path } of routes) {
    const url = path.replaceAll(/:\w+/g, randomUUID())
    const { status } = await service.request(url, { method, key: String(old.key) })
    expect([method, path, status]).toEqual([method, path, 401])
  }
  for (const [path, body] of [
    ['/session', { api_key: old.key }],
    ['/api/apikey/login', { token: old.key }],
  ] as const) {
    expect((await service.request(path, { body, key: null })).status).toBe(401)
  }
  service = await service.restart()
  expect((await service.request('/v1/project', { key: String(old.key) })).status).toBe(401)
})

test('tokens of service accounts expire too, also those that come with the account', async () => {
  const service_accounts = [{ name: 'ci', token_name: 'first', expires_at: past }]
  const { json } = await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: { service_accounts } },
  })
  const [account] = json.added_users as unknown as AnyJson[]
  expect((await service.request('/ping', { key: String(account?.api_key) })).status).toBe(401)
  const made = await service.request('/v1/service_token', {
    body: { name: 't', service_account_id: account?.id, token_expires_in_seconds: 60 },
  })
  expect((await service.request('/ping', { key: String(made.json.key) })).status).toBe(200)
  const { json: list } = await service.request('/v1/service_token')
  const tokens = list.objects as unknown as AnyJson[]
  expect(tokens.map(({ expires_at }) => expires_at)).toContain(made.json.expires_at)
})

test('what is open ends with the key: sessions, live queries, links to files', async () => {
  const { key: made } = await key({ token_expires_in_seconds: 1.5 })
  const text = String(made)
  const signedIn = await service.request('/session', { body: { api_key: text }, key: null })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const session = () => service.request('/v1/project', { key: null, headers: { cookie } })
  expect((await session()).status).toBe(200)

  const query = `select: id | from: project_logs('${project}')`
  const socket = await StreamClient.open(service, { key: text })
  socket.send({ query, live: true })
  const events = new EventReader(
    await fetch(`${service.url}/btql/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${text}`, accept: 'text/event-stream' },
      body: JSON.stringify({ query, live: true }),
    }),
  )
  await socket.until('current')
  await events.until('current')

  const body = { key: randomUUID(), filename: 'f', content_type: 'text/plain' }
  const uploaded = await service.request('/attachment', { body, key: text })
  const link = new URL(String(uploaded.json.signedUrl))
  const left = await service.request('/btql/export', { body: { query }, key: text })

  expect((await socket.until('error')).error).toMatchObject({ code: 'ACCESS_UNAUTHENTICATED' })
  expect((await socket.closed()).code).toBe(4401)
  expect(JSON.stringify(await events.until('error'))).toContain('ACCESS_UNAUTHENTICATED')
  await expired(text)
  expect((await session()).status).toBe(401)
  const put = { method: 'PUT', body: 'x', key: null }
  expect((await service.request(`${link.pathname}${link.search}`, put)).status).toBe(403)
  expect((await service.request(String(left.json.path), { key: text })).status).toBe(401)
})

test('what is no time, or is too far away, is refused at its place', async () => {
  for (const [field, value] of [
    ['expires_at', 'tomorrow'],
    ['token_expires_in_seconds', -1],
    ['token_expires_in_seconds', '60'],
    ['token_expires_in_seconds', 1e15],
  ] as const) {
    const { status, json } = await service.request('/v1/api_key', {
      body: { name: 'k', [field]: value },
    })
    expect([status, json.error?.path]).toEqual([400, field])
  }
  const far = await key({ token_expires_in_seconds: 250_000_000_000 })
  expect((await service.request('/v1/project', { key: String(far.key) })).status).toBe(200)
  expect((await service.request('/v1/project', { key: testKey })).status).toBe(200)
})
