/** Signing in by a real provider of OpenID Connect, over real sockets: who comes in, and as whom. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProvidedService } from '../../support/provider-sign-in.ts'
import { WebClient } from '../../support/web-client.ts'

let provided: ProvidedService

beforeAll(async () => {
  provided = await ProvidedService.start({
    ASSAY_OIDC_JOIN_DOMAINS: 'example.com',
    ASSAY_OIDC_OWNERS: 'Boss@Example.org',
    ASSAY_OIDC_NEW_MEMBER_GROUPS: 'Viewers, not there',
  })
  const { people } = provided.idp
  const person = (name: string, email: string, more: object = {}) =>
    people.set(name, { email, email_verified: true, ...more })
  person('ada', 'ada@example.com', { given_name: 'Ada', family_name: 'Lovelace' })
  person('bob', 'bob@elsewhere.org')
  person('boss', 'boss@example.org')
  person('guest', 'Guest@elsewhere.org')
  person('unverified', 'unverified@example.com', { email_verified: false })
  person('silent', 'silent@example.com', { email_verified: undefined })
  people.set('nameless', {})
  person('below', 'x@mail.example.com')
  person('gone', 'gone@example.com')
  person('first', 'shared@example.com')
  person('second', 'shared@example.com')
  provided.provide()
})
afterAll(() => provided.stop())

describe('who has no invitation', () => {
  test('joins from a domain that the operator has named, in the groups for new members', async () => {
    const { session } = await provided.signIn('ada')
    expect(session).toMatchObject({
      user: { email: 'ada@example.com', given_name: 'Ada', family_name: 'Lovelace' },
      organization: { name: 'default' },
    })
    expect(await provided.groups('ada@example.com')).toEqual(['Viewers'])
  })

  test.each([
    ['bob', /bob@elsewhere\.org has no invitation/],
    ['below', /x@mail\.example\.com has no invitation/],
    ['unverified', /says that the address unverified@example\.com is not verified/],
    ['silent', /does not say whether the address silent@example\.com is verified/],
    ['nameless', /has told no e-mail address/],
  ])('%s is told why not, and what to do', async (name, words) => {
    const { status, text, headers } = await provided.tried(name)
    expect(status).toBe(403)
    expect(text).toMatch(words)
    expect(text).toMatch(/What to do: /)
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^assay_sign_in_.*Max-Age=0/)])
  })

  test('becomes an owner where the operator has said so', async () => {
    await provided.signIn('boss')
    expect(await provided.groups('boss@example.org')).toEqual(['Owners', 'Viewers'])
  })
})

describe('who was invited', () => {
  test('comes in as that member, whatever the case of the address', async () => {
    await provided.invite('guest@ELSEWHERE.org', 'Engineers')
    const { session } = await provided.signIn('guest')
    expect(session.user).toMatchObject({ email: 'guest@ELSEWHERE.org' })
    expect(await provided.groups('guest@elsewhere.org')).toEqual(['Engineers'])
  })

  test('is known by the account from then on, also without an address', async () => {
    const before = await provided.signIn('guest')
    provided.idp.people.set('guest', {})
    const after = await provided.signIn('guest')
    expect(after.session.user).toEqual(before.session.user)
  })

  test('is not taken for who had the address before', async () => {
    await provided.signIn('first')
    const { status, text } = await provided.tried('second')
    expect(status).toBe(403)
    expect(text).toContain('shared@example.com belongs to another account at the provider')
    await provided.remove('shared@example.com')
    expect((await provided.tried('second')).text).toContain('is not a member')
    await provided.invite('shared@example.com')
    await provided.signIn('second')
    expect((await provided.tried('first')).text).toContain('belongs to another account')
  })
})

describe('who is removed', () => {
  test('is out at once, and stays out until invited anew, also with another address', async () => {
    const { client } = await provided.signIn('gone')
    await provided.remove('gone@example.com')
    expect((await client.get(`${provided.service.url}/session`)).status).toBe(401)
    for (const email of ['gone@example.com', 'another@example.com']) {
      provided.idp.people.set('gone', { email, email_verified: true })
      const { status, text } = await provided.tried('gone')
      expect(status).toBe(403)
      expect(text).toContain('gone@example.com is not a member of this service any more')
    }
    await provided.invite('gone@example.com', 'Viewers')
    provided.idp.people.set('gone', { email: 'gone@example.com', email_verified: true })
    await provided.signIn('gone')
    expect(await provided.groups('gone@example.com')).toEqual(['Viewers'])
  })

  test('stays known through a restart', async () => {
    await provided.remove('gone@example.com')
    provided.service = await provided.service.restart()
    provided.provide()
    expect((await provided.tried('gone')).text).toContain('is not a member')
  })
})

test('an owner by the settings is one at the first sign-in alone', async () => {
  const { json } = await provided.service.request('/v1/group?group_name=Owners')
  const [owners] = json.objects as unknown as { id: string; member_users: string[] }[]
  const { json: people } = await provided.service.request('/v1/user?email=boss@example.org')
  const [boss] = people.objects as unknown as { id: string }[]
  await provided.service.request(`/v1/group/${owners!.id}`, {
    method: 'PATCH',
    body: { remove_member_users: [boss!.id] },
  })
  await provided.signIn('boss')
  expect(await provided.groups('boss@example.org')).toEqual(['Viewers'])
})

describe('a session by the provider', () => {
  test('is a new one each time, in a cookie of the usual kind that ends sooner', async () => {
    const client = new WebClient()
    const first = await provided.tried('ada', client)
    const [cookie] = first.headers.getSetCookie()
    expect(cookie).toMatch(
      /^assay_session=sk-[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/,
    )
    const before = client.cookies(provided.service.url)
    await provided.signIn('ada', client)
    expect(client.cookies(provided.service.url)).not.toBe(before)
  })

  test('has rights as others have, and changes nothing without the token of the page', async () => {
    const { client, session } = await provided.signIn('ada')
    const ask = (headers: Record<string, string>) =>
      provided.service.request('/session/preferences', {
        method: 'PATCH',
        key: null,
        body: { query_language: false },
        headers: { cookie: client.cookies(provided.service.url), ...headers },
      })
    expect((await ask({})).status).toBe(403)
    expect((await ask({ 'x-assay-change-token': String(session.change_token) })).status).toBe(200)
  })

  test.each(['/session', '/session/all'])(
    'ends by DELETE %s, which says where to end it at the provider',
    async (path) => {
      const { client, session } = await provided.signIn('ada')
      const { url } = provided.service
      const { json } = await provided.service.request(path, {
        method: 'DELETE',
        key: null,
        headers: {
          cookie: client.cookies(url),
          'x-assay-change-token': String(session.change_token),
        },
      })
      const address = new URL(String(json.provider_url))
      expect(address.origin).toBe(new URL(provided.idp.issuer).origin)
      expect(address.searchParams.get('post_logout_redirect_uri')).toBe(`${url}/app`)
      const token = address.searchParams.get('id_token_hint')!.split('.')[1]!
      expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toMatchObject({ sub: 'ada' })
      expect((await client.get(`${url}/session`)).status).toBe(401)
    },
  )

  test('shows nothing in the trail by which one could come in', async () => {
    const { json, text } = await provided.service.request('/v1/audit_trail?limit=1000')
    const records = json.objects as unknown as { entry_type: string }[]
    const kinds = new Set(records.map(({ entry_type }) => entry_type))
    expect(kinds).toContain('session')
    expect(text).not.toMatch(/id_token|"hash"/)
  })
})
