/** Guesses of passwords and keys, many at once: the guesser is slowed, and the owner gets in. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { networkOf } from '../../src/access/guess-limits.ts'
import { type Answer, RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
const email = 'ada@example.com'
const password = 'correct horse battery'

beforeAll(async () => {
  // So that a test can come from many addresses.
  service = await RunningService.start({ ASSAY_TRUST_PROXY: '1' })
  const invite_users = { emails: [email], group_names: ['Engineers'] }
  await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
  const headers = { 'x-bt-impersonate-user': email }
  const { json } = await service.request('/v1/api_key', { body: { name: 'first' }, headers })
  const key = String(json.key)
  await service.request('/session/password', { method: 'PUT', body: { password }, key })
})
afterAll(() => service.stop())

function signIn(address: string, body: object, headers: Record<string, string> = {}) {
  return service.request('/session', {
    body,
    key: null,
    headers: { 'x-forwarded-for': address, ...headers },
  })
}

const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort()
const count = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length

describe('passwords', () => {
  test('of sixty guesses at once ten are looked at, and the owner gets in elsewhere', async () => {
    const guesses = Array.from({ length: 60 }, (_, i) =>
      signIn('203.0.113.1', { email, password: `guess number ${i}` }),
    )
    const statuses = statusesOf(await Promise.all(guesses))
    expect([count(statuses, 401), count(statuses, 429)]).toEqual([10, 50])
    expect((await signIn('203.0.113.2', { email, password })).status).toBe(200)
  })

  test('one who was slowed is told for how long, which is seconds', async () => {
    const { status, headers } = await signIn('203.0.113.1', { email, password })
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(15)
  })

  test('whoever has a session of the account gets in from where it is guessed', async () => {
    const begun = await signIn('203.0.113.2', { email, password })
    const cookie = begun.headers.get('set-cookie')!.split(';')[0]!
    expect((await signIn('203.0.113.1', { email, password }, { cookie })).status).toBe(200)
    const other = await service.request('/session', { body: { api_key: testKey }, key: null })
    const foreign = other.headers.get('set-cookie')!.split(';')[0]!
    const answer = await signIn('203.0.113.1', { email, password }, { cookie: foreign })
    expect(answer.status).toBe(429)
  })

  test('one address cannot guess for one account after the other', async () => {
    const guesses = Array.from({ length: 60 }, (_, i) =>
      signIn('203.0.113.3', { email: `user${i}@example.com`, password: 'password 123' }),
    )
    const statuses = statusesOf(await Promise.all(guesses))
    expect(count(statuses, 401)).toBeLessThanOrEqual(30)
    expect(count(statuses, 401) + count(statuses, 429)).toBe(60)
  })

  test('from many addresses a hundred are looked at, and the owner gets in where it did before', {
    timeout: 60_000,
  }, async () => {
    let looked = 0
    for (let network = 0; network < 20; network++) {
      const guesses = Array.from({ length: 10 }, (_, i) =>
        signIn(`2001:db8:0:${network}::${i}`, { email, password: `guess number ${i}` }),
      )
      looked += count(statusesOf(await Promise.all(guesses)), 401)
    }
    expect(looked).toBeGreaterThan(50)
    expect(looked).toBeLessThan(130)
    expect((await signIn('203.0.113.2', { email, password })).status).toBe(200)
  })

  test('the current one cannot be guessed by who has a session, which keeps nobody out', async () => {
    const begun = await signIn('203.0.113.2', { email, password })
    const cookie = begun.headers.get('set-cookie')!.split(';')[0]!
    const headers = { cookie, 'x-assay-change-token': String(begun.json.change_token) }
    const guesses = Array.from({ length: 30 }, (_, i) =>
      service.request('/session/password', {
        method: 'PUT',
        key: null,
        headers,
        body: { password: 'mine from now on', current_password: `guess number ${i}` },
      }),
    )
    const statuses = statusesOf(await Promise.all(guesses))
    expect([count(statuses, 400), count(statuses, 429)]).toEqual([10, 20])
    expect((await signIn('203.0.113.2', { email, password })).status).toBe(200)
  })
})

test('keys: after three thousand wrong ones an address has to wait, but for keys in use', {
  timeout: 60_000,
}, async () => {
  const ask = async (key: string, address: string) => {
    const headers = { 'x-forwarded-for': address }
    return (await service.request('/v1/project?limit=1', { key, headers })).status
  }
  const guesser = '203.0.113.9'
  await service.request('/v1/project?limit=1')
  const statuses: number[] = []
  for (let i = 0; i < 4000; i += 100) {
    const keys = Array.from({ length: 100 }, (_, k) => `sk-guess-${i + k}`)
    statuses.push(...(await Promise.all(keys.map((key) => ask(key, guesser)))))
    if (statuses.includes(429)) break
  }
  expect(statuses).toContain(429)
  expect(count(statuses, 401)).toBeGreaterThanOrEqual(3000)
  expect(await ask(testKey, guesser)).toBe(200)
  expect(await ask('sk-wrong', '203.0.113.10')).toBe(401)
})

test('an address of IPv6 stands for its network', () => {
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('2001:db8::1')).toBe(networkOf('2001:0db8:0000:0000:ffff:0000:0000:0002'))
  expect(networkOf('2001:db8:0:1::1')).not.toBe(networkOf('2001:db8::1'))
  expect(networkOf('0000:0000:0000:0000:0000:ffff:7f00:0001')).toBe('7f00:1')
  expect(networkOf('::ffff:127.0.0.1')).toBe('7f00:1')
  expect(networkOf('0:0:0:0:0:ffff:127.0.0.1')).toBe('7f00:1')
  expect(networkOf('::ffff:10.0.0.1')).not.toBe(networkOf('::ffff:10.0.0.2'))
  expect(networkOf('2001:db8:0:1::192.0.2.1')).toBe(networkOf('2001:db8:0:1::'))
  expect(networkOf('no address')).toBe('no address')
})
