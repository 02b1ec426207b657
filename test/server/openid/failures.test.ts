/** What goes wrong between browser, service and a real provider: each in words, and none of it lasting. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { callbackPath, openIdPath } from '../../../src/server/openid/sign-in.ts'
import { ProvidedService } from '../../support/provider-sign-in.ts'
import { type WebAnswer, WebClient } from '../../support/web-client.ts'

let provided: ProvidedService

beforeAll(async () => {
  provided = await ProvidedService.start({ ASSAY_OIDC_JOIN_DOMAINS: 'example.com' })
  provided.idp.people.set('ada', { email: 'ada@example.com', email_verified: true })
  provided.provide()
})
afterEach(() => {
  provided.idp.intercept = undefined
  provided.idp.clockMs = 0
})
afterAll(() => provided.stop())

function expectRefusal(answer: WebAnswer, status: number, words: RegExp): void {
  expect(answer.text).toMatch(words)
  expect(answer.text).toContain('What to do: ')
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toContain('text/html')
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(answer.headers.getSetCookie().join()).not.toContain('assay_session')
}

const page = { accept: 'text/html' }

/** Where the service sends the browser, with something of it changed. */
async function changedRequest(client: WebClient, change: (query: URLSearchParams) => void) {
  const begun = await client.get(provided.service.url + openIdPath)
  const address = new URL(begun.headers.get('location')!)
  change(address.searchParams)
  return provided.answer(client, 'ada', address.href)
}

describe('what comes back to the browser', () => {
  test('asks the provider with PKCE, state and nonce', async () => {
    const client = new WebClient()
    const begun = await client.get(provided.service.url + openIdPath)
    const query = new URL(begun.headers.get('location')!).searchParams
    expect(Object.fromEntries(query)).toEqual({
      client_id: 'assay',
      response_type: 'code',
      redirect_uri: provided.service.url + callbackPath,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^assay_sign_in_[\w-]{10}=[\w-]+; Path=\/session\/openid; Max-Age=600; HttpOnly; SameSite=Lax$/,
      ),
    ])
  })

  test('is refused to a browser that has not begun', async () => {
    const answer = await provided.answer(new WebClient(), 'ada')
    expectRefusal(await new WebClient().get(answer, page), 401, /has not begun this sign-in/)
  })

  test.each(['', 'short', 'x'.repeat(43), `${'y'.repeat(42)}%00`])(
    'is refused with the state "%s"',
    async (state) => {
      const client = new WebClient()
      await client.get(provided.service.url + openIdPath)
      const address = `${provided.service.url}${callbackPath}?code=c&state=${state}`
      expectRefusal(await client.get(address, page), 401, /state|has not begun/)
    },
  )

  test('is refused with the cookie of another attempt, or one that was changed', async () => {
    const client = new WebClient()
    const { url } = provided.service
    const answer = new URL(await provided.answer(client, 'ada'))
    const own = client.cookies(url + callbackPath)
    const [name, value] = own.split('=') as [string, string]
    const other = new WebClient()
    await other.get(url + openIdPath)
    const [, otherValue] = other.cookies(url + callbackPath).split('=') as [string, string]
    const cookies = [
      `${name}=${otherValue}`,
      `${name}=${value.slice(0, -4)}AAAA`,
      `${name}=x`,
      `${name}=`,
      `${name}`,
    ]
    for (const cookie of cookies) {
      const refused = await new WebClient().get(answer.href, { ...page, cookie })
      expectRefusal(refused, 401, /made for this browser|cookie of this sign-in|has not begun/)
    }
    expect((await client.get(answer.href)).status).toBe(303)
  })

  test('is taken once', async () => {
    const client = new WebClient()
    const answer = await provided.answer(client, 'ada')
    const cookie = client.cookies(answer)
    expect((await client.get(answer)).status).toBe(303)
    expectRefusal(await client.get(answer, page), 401, /has not begun/)
    const kept = await new WebClient().get(answer, { ...page, cookie })
    expectRefusal(kept, 401, /has ended already/)
  })

  test('cannot bring a code that was used', async () => {
    const client = new WebClient()
    const first = new URL(await provided.answer(client, 'ada'))
    await client.get(first.href)
    const second = new URL(await provided.answer(client, 'ada'))
    second.searchParams.set('code', first.searchParams.get('code')!)
    expectRefusal(
      await client.get(second.href, page),
      401,
      /code of this sign-in, which has been used/,
    )
  })

  test('is refused where the nonce is that of another attempt', async () => {
    const client = new WebClient()
    const answer = await changedRequest(client, (query) => query.set('nonce', 'another'))
    expectRefusal(await client.get(answer, page), 502, /is not for this sign-in: .*nonce/)
  })

  test('is refused where the code was made for another verifier', async () => {
    const client = new WebClient()
    const answer = await changedRequest(client, (query) =>
      query.set('code_challenge', 'A'.repeat(43)),
    )
    expectRefusal(await client.get(answer, page), 401, /does not take the code/)
  })

  test('is refused from another provider', async () => {
    const client = new WebClient()
    const answer = new URL(await provided.answer(client, 'ada'))
    answer.searchParams.set('iss', 'https://evil.example')
    expectRefusal(await client.get(answer.href, page), 502, /cannot be used: .*iss/)
  })

  test.each([
    ['access_denied', 403, /has not let you in: access_denied/],
    ['login_required', 401, /has not let you in: login_required/],
    ['server_error', 502, /cannot sign anybody in at the moment/],
    ['invalid_scope', 502, /has refused the request of this service: invalid_scope/],
  ])('tells the error %s of the provider', async (error, status, words) => {
    const client = new WebClient()
    const begun = await client.get(provided.service.url + openIdPath)
    const query = new URL(begun.headers.get('location')!).searchParams
    const answer = new URL(provided.service.url + callbackPath)
    answer.search = new URLSearchParams({
      error,
      error_description: '<script>alert(1)</script>',
      state: query.get('state')!,
      iss: provided.idp.issuer,
    }).toString()
    const refused = await client.get(answer.href, page)
    expectRefusal(refused, status, words)
    expect(refused.text).not.toContain('<script>')
  })

  test('is JSON for what is no browser', async () => {
    const { status, text } = await new WebClient().get(provided.service.url + callbackPath)
    expect(status).toBe(401)
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'ACCESS_UNAUTHENTICATED' } })
  })

  test('leads several attempts of one browser to an end, and keeps few of them', async () => {
    const client = new WebClient()
    const answers: string[] = []
    for (let attempt = 0; attempt < 3; attempt++) answers.push(await provided.answer(client, 'ada'))
    for (const answer of answers) expect((await client.get(answer)).status).toBe(303)
    for (let attempt = 0; attempt < 12; attempt++)
      await client.get(provided.service.url + openIdPath)
    const kept = client.cookies(provided.service.url + callbackPath).split('; ')
    const attempts = kept.filter((cookie) => cookie.startsWith('assay_sign_in_'))
    expect(attempts).toHaveLength(5)
    expect(attempts.join().length).toBeLessThan(1000)
  })
})

describe('a provider', () => {
  test('whose clock is behind is borne with for a minute', async () => {
    provided.provide({ tokenSeconds: 30 })
    provided.idp.clockMs = -60_000
    await provided.signIn('ada')
    provided.idp.clockMs = -150_000
    expectRefusal(await provided.tried('ada'), 502, /is not valid now: it ended at .* and it is /)
    provided.idp.clockMs = 150_000
    await provided.signIn('ada')
    provided.provide()
  })

  test('may change its keys at any time', async () => {
    await provided.signIn('ada')
    provided.idp.rotateKeys()
    await provided.signIn('ada')
    provided.idp.asked.length = 0
    await provided.signIn('ada')
    expect(provided.idp.asked.filter((path) => path === '/jwks')).toEqual([])
  })

  test('whose token is signed by another is not believed', async () => {
    provided.idp.intercept = ({ url }, response) => {
      if (url !== '/tenant/jwks') return false
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}')
      return true
    }
    provided.idp.rotateKeys()
    expectRefusal(await provided.tried('ada'), 502, /cannot be used: .*key/)
  })

  test.each(['client_secret_post', 'none'] as const)(
    'may take the client by %s',
    async (method) => {
      const other = await ProvidedService.start(
        {
          ASSAY_OIDC_JOIN_DOMAINS: 'example.com',
          ...(method === 'none' && { ASSAY_OIDC_CLIENT_SECRET: '' }),
        },
        { clientAuthentication: method },
      )
      other.idp.people.set('ada', { email: 'ada@example.com', email_verified: true })
      other.provide()
      await other.signIn('ada')
      await other.stop()
    },
  )

  test('that does not know the secret says so', async () => {
    const other = await ProvidedService.start({ ASSAY_OIDC_CLIENT_SECRET: 'wrong' })
    other.idp.people.set('ada', { email: 'ada@example.com', email_verified: true })
    other.provide()
    const refused = await other.tried('ada')
    expectRefusal(
      refused,
      502,
      /does not accept the client id and secret of this service: invalid_client/,
    )
    expect(refused.text).not.toContain('wrong')
    await other.stop()
  })

  test('that goes away in the middle is told as that, and is back when it is', async () => {
    const client = new WebClient()
    const answer = await provided.answer(client, 'ada')
    await provided.idp.interrupt()
    expectRefusal(await client.get(answer, page), 502, /cannot be reached: ECONNREFUSED/)
    await provided.idp.resume()
    await provided.signIn('ada')
  })

  const silly: readonly [string, number, Record<string, string>, string, RegExp][] = [
    [
      'with an error',
      500,
      { 'content-type': 'text/html' },
      'oops',
      /has not answered as a provider|cannot be/,
    ],
    ['with no JSON', 200, { 'content-type': 'application/json' }, '{"a":', /cannot be used/],
    ['with a page', 200, { 'content-type': 'text/html' }, '<p>', /has not answered as a provider/],
    [
      'with too much',
      200,
      { 'content-type': 'application/json' },
      ' '.repeat(2 ** 20 + 1),
      /more than 1048576 bytes/,
    ],
    [
      'by a redirect',
      302,
      { location: 'http://127.0.0.1:1/' },
      '',
      /has not answered as a provider/,
    ],
    [
      'with an object without a token',
      200,
      { 'content-type': 'application/json' },
      '{}',
      /cannot be used/,
    ],
  ]
  test.each(silly)(
    'that answers a code %s is told as that',
    async (_, status, headers, body, words) => {
      provided.idp.intercept = ({ url }, response) => {
        if (url !== '/tenant/token') return false
        response.writeHead(status, headers).end(body)
        return true
      }
      expectRefusal(await provided.tried('ada'), 502, words)
    },
  )

  test('that fails where it is asked for more is told as that', async () => {
    provided.idp.intercept = ({ url }, response) => {
      if (url !== '/tenant/me') return false
      response.writeHead(503).end()
      return true
    }
    expectRefusal(await provided.tried('ada'), 502, /has not answered as a provider/)
  })
})

test('is not asked again and again by who guesses', async () => {
  const client = new WebClient()
  const statuses: number[] = []
  for (let attempt = 0; attempt < 40; attempt++) {
    const begun = await client.get(provided.service.url + openIdPath)
    const state = new URL(begun.headers.get('location')!).searchParams.get('state')!
    const iss = encodeURIComponent(provided.idp.issuer)
    const address = `${provided.service.url}${callbackPath}?code=guess&state=${state}&iss=${iss}`
    statuses.push((await client.get(address)).status)
  }
  expect(statuses.at(0)).toBe(401)
  expect(statuses.at(-1)).toBe(429)
})
