/** Signing in at the web page: by key or password, with a cookie that proves little by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, RunningService, testKey } from '../support/running-service.ts'

let service: RunningService

beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

interface SignedIn {
  readonly cookie: string
  readonly token: string
}

function post(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return service.request('/session', { body, key: null, headers })
}

function signedIn({ headers, json }: Answer): SignedIn {
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  return { cookie, token: String(json.change_token) }
}

/** As the page asks: with the cookie, and the token for what is no GET. */
function ask({ cookie, token }: SignedIn, path: string, options: object = {}): Promise<Answer> {
  return service.request(path, {
    key: null,
    headers: { cookie, 'x-assay-change-token': token },
    ...options,
  })
}

describe('a session', () => {
  test('has the rights of the key that began it, and is told by GET', async () => {
    const answer = await post({ api_key: testKey })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^assay_session=sk-[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/,
    )
    const session = signedIn(answer)
    const told = await ask(session, '/session')
    expect(told.json).toMatchObject({
      organization: { name: 'default' },
      change_token: session.token,
    })
    expect((await ask(session, '/v1/project')).status).toBe(200)
    expect((await ask(session, '/v1/project', { body: { name: 'page' } })).status).toBe(200)
  })

  test('is marked as secure where the page is', async () => {
    const answer = await post({ api_key: testKey }, { 'x-forwarded-proto': 'https' })
    expect(answer.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  test('changes nothing for another site, which has the cookie but not the token', async () => {
    const session = signedIn(await post({ api_key: testKey }))
    for (const token of ['', 'x', session.cookie]) {
      const { status } = await ask({ ...session, token }, '/v1/project', {
        body: { name: 'forged' },
      })
      expect(status).toBe(403)
    }
    const { json } = await ask(session, '/v1/project?project_name=forged')
    expect(json.objects).toEqual([])
    expect((await post({ api_key: testKey }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  test('ends with signing out, and with the key that began it', async () => {
    const session = signedIn(await post({ api_key: testKey }))
    const ended = await ask(session, '/session', { method: 'DELETE' })
    expect(ended.headers.get('set-cookie')).toMatch(/^assay_session=; .*Max-Age=0/)
    expect((await ask(session, '/session')).status).toBe(401)
    expect((await ask(session, '/v1/project')).status).toBe(401)

    const { json: key } = await service.request('/v1/api_key', { body: { name: 'short-lived' } })
    const other = signedIn(await post({ api_key: String(key.key) }))
    expect((await ask(other, '/session')).status).toBe(200)
    await service.request(`/v1/api_key/${String(key.id)}`, { method: 'DELETE' })
    expect((await ask(other, '/session')).status).toBe(401)
  })

  test('is no API key', async () => {
    const { cookie } = signedIn(await post({ api_key: testKey }))
    const text = cookie.slice(cookie.indexOf('=') + 1)
    expect((await service.request('/v1/project', { key: text })).status).toBe(401)
    expect((await post({ api_key: text })).status).toBe(401)
  })

  test.each([
    [{ api_key: 'sk-wrong' }, 401],
    [{ email: 'nobody@example.com', password: 'whatever it is' }, 401],
    [{ email: 'nobody@example.com' }, 400],
    [{}, 400],
  ])('is not begun by %j', async (body, status) => {
    const answer = await post(body)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

describe('a password', () => {
  const email = 'ada@example.com'
  const password = 'correct horse battery'
  let session: SignedIn

  async function invite() {
    const invite_users = { emails: [email], group_names: ['Engineers'] }
    await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
    const { json } = await service.request('/v1/api_key', {
      body: { name: 'first' },
      headers: { 'x-bt-impersonate-user': email },
    })
    return signedIn(await post({ api_key: String(json.key) }))
  }

  const set = (body: object) => ask(session, '/session/password', { method: 'PUT', body })

  test('is set by who is signed in, ends other sessions, and signs in', async () => {
    session = await invite()
    const other = session
    const answer = await set({ password })
    expect(answer.status).toBe(200)
    session = signedIn(answer)
    expect((await ask(other, '/session')).status).toBe(401)
    const begun = await post({ email: 'Ada@Example.com', password })
    expect(begun.json).toMatchObject({ user: { email }, organization: { name: 'default' } })
  })

  test('is changed by who knows it', async () => {
    expect((await set({ password: 'another long one', current_password: 'guess' })).status).toBe(
      400,
    )
    expect((await set({ password: 'short', current_password: password })).status).toBe(400)
    const changed = await set({ password: 'another long one', current_password: password })
    expect(changed.status).toBe(200)
    session = signedIn(changed)
    expect((await post({ email, password })).status).toBe(401)
    expect((await post({ email, password: 'another long one' })).status).toBe(200)
  })

  test('is of one organization', async () => {
    const body = { email, password: 'another long one', org_name: 'other' }
    expect((await post(body)).status).toBe(401)
    expect((await post({ ...body, org_name: 'default' })).status).toBe(200)
  })

  test('is gone with the member, and does not come back', async () => {
    const remove_users = { emails: [email] }
    await service.request('/v1/organization/members', { method: 'PATCH', body: { remove_users } })
    expect((await ask(session, '/session')).status).toBe(401)
    await invite()
    expect((await post({ email, password: 'another long one' })).status).toBe(401)
  })

  test('cannot be guessed often, whether there is the address or not', async () => {
    for (const address of ['eve@example.com', email]) {
      const statuses: number[] = []
      for (let i = 0; i < 12; i++) {
        const { status } = await post({ email: address, password: `guess number ${i}` })
        statuses.push(status)
      }
      expect(statuses[0]).toBe(401)
      expect(statuses.at(-1)).toBe(429)
    }
  })

  test('is nowhere in an answer or the trail', async () => {
    const { status, text } = await service.request('/v1/audit_trail?limit=1000')
    expect(status).toBe(200)
    expect(text).toContain('session')
    expect(text).not.toMatch(/"(hash|salt)"/)
  })
})
