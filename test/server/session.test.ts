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
    const behindProxy = await RunningService.start({ ASSAY_TRUST_PROXY: '1' })
    try {
      const { headers } = await behindProxy.request('/session', {
        body: { api_key: testKey },
        key: null,
        headers: { 'x-forwarded-proto': 'https' },
      })
      expect(headers.get('set-cookie')).toMatch(/; Secure$/)
    } finally {
      await behindProxy.stop()
    }
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

  test('that a key began goes with the member, whichever else of theirs goes with them', async () => {
    const email = 'short@example.com'
    const members = (body: object) =>
      service.request('/v1/organization/members', { method: 'PATCH', body })
    await members({ invite_users: { emails: [email], group_names: ['Engineers'] } })
    const { json: key } = await service.request('/v1/api_key', {
      body: { name: 'first' },
      headers: { 'x-bt-impersonate-user': email },
    })
    const session = signedIn(await post({ api_key: String(key.key) }))
    expect((await ask(session, '/session')).status).toBe(200)
    const removed = await members({ remove_users: { emails: [email, email] } })
    expect(removed.status, removed.text).toBe(200)
    expect((await ask(session, '/session')).status).toBe(401)
    expect((await service.request('/v1/project', { key: String(key.key) })).status).toBe(401)
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

  test('is not set by who acts for its owner', async () => {
    const invite_users = { emails: ['new@example.com'] }
    await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
    const answer = await service.request('/session/password', {
      method: 'PUT',
      body: { password },
      headers: { 'x-bt-impersonate-user': 'new@example.com' },
    })
    expect(answer.status).toBe(403)
    expect((await post({ email: 'new@example.com', password })).status).toBe(401)
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

describe('what the page asks of the session', () => {
  test('tells what one may do, and nothing of what is not there', async () => {
    const project = await service.project('of rights')
    const owner = signedIn(await post({ api_key: testKey }))
    const rights = (type: string, id: string) =>
      ask(owner, `/session/rights?object_type=${type}&object_id=${id}`)
    const { json } = await rights('project', project)
    expect(json).toMatchObject({ owner: true, permissions: expect.arrayContaining(['update']) })
    expect(json.within).toMatchObject({ dataset: expect.arrayContaining(['create']) })
    const absent = await rights('project', '00000000-0000-4000-8000-00000000000a')
    expect(absent.json.permissions).toEqual([])
    expect(absent.json.within!.dataset).toEqual([])
    expect((await rights('nothing', project)).status).toBe(400)
  })

  test('keeps what somebody has chosen, for them alone', async () => {
    const owner = signedIn(await post({ api_key: testKey }))
    expect((await ask(owner, '/session')).json.preferences).toEqual({ query_language: true })
    const body = { query_language: false }
    const answer = await ask(owner, '/session/preferences', { method: 'PATCH', body })
    expect(answer.json).toEqual(body)
    expect((await post({ api_key: testKey })).json.preferences).toEqual(body)
    const wrong = { method: 'PATCH', body: { query_language: 'no' } }
    expect((await ask(owner, '/session/preferences', wrong)).status).toBe(400)
    const back = { method: 'PATCH', body: { query_language: true } }
    expect((await ask(owner, '/session/preferences', back)).status).toBe(200)
  })

  test('ends everywhere when that is asked for', async () => {
    const here = signedIn(await post({ api_key: testKey }))
    const there = signedIn(await post({ api_key: testKey }))
    expect((await ask(here, '/session/all', { method: 'DELETE' })).status).toBe(200)
    for (const session of [here, there]) {
      expect((await ask(session, '/session')).status).toBe(401)
    }
  })
})
