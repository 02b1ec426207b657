/** Finding the provider: when it is first needed, and as long as it takes. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { AssayError } from '../../../src/error.ts'
import { OpenIdProvider } from '../../../src/server/openid/provider.ts'
import { freePort } from '../../support/free-port.ts'

let server: Server
/** Without one, the provider never answers. */
let answer: string | undefined
let asked = 0

const quick = { timeoutSeconds: 0.5, patienceMs: 100, failedForMs: 50 }

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    asked++
    if (answer === undefined || url === '/token') return
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function provider(times = quick, address = issuer()): OpenIdProvider {
  const environment = { ASSAY_OIDC_ISSUER: address, ASSAY_OIDC_CLIENT_ID: 'assay' }
  return new OpenIdProvider(readConfig({}, environment).signIn.openId!, times)
}

function document(more: object = {}): string {
  return JSON.stringify({
    issuer: issuer(),
    authorization_endpoint: `${issuer()}/auth`,
    token_endpoint: `${issuer()}/token`,
    jwks_uri: `${issuer()}/jwks`,
    ...more,
  })
}

const checks = { state: 's', nonce: 'n', verifier: 'v', isAskedAnew: false }
const callback = 'https://assay.example.com/session/openid/callback'

async function refusal(asking: OpenIdProvider): Promise<AssayError> {
  const thrown = await asking.authorizationUrl(callback, checks).catch((error: unknown) => error)
  if (thrown instanceof AssayError) return thrown
  throw new Error(`not refused: ${String(thrown)}`)
}

test('a provider that does not answer is waited for, by the page not as long', async () => {
  answer = undefined
  const slow = provider()
  const begun = performance.now()
  expect(await slow.fault()).toBeUndefined()
  expect(performance.now() - begun).toBeLessThan(450)
  expect(await refusal(slow)).toMatchObject({
    code: 'ACCESS_PROVIDER_FAILED',
    message: expect.stringContaining('it has not answered in time'),
  })
  expect((await slow.fault())?.message).toContain('it has not answered in time')
})

test('one that does not answer a code is not waited for any longer', async () => {
  answer = document()
  const back = new URL(`${callback}?code=c&state=s`)
  await expect(provider().redeem(back, checks)).rejects.toMatchObject({
    code: 'ACCESS_PROVIDER_FAILED',
    message: expect.stringContaining('it has not answered in time'),
  })
})

test('one is told whose session ends, if that does not make the address too long', async () => {
  answer = document({ end_session_endpoint: `${issuer()}/end` })
  const one = provider()
  expect(one.endSessionUrl('token', callback)).toBeUndefined()
  await one.fault()
  const hint = (token: string) => {
    return new URL(one.endSessionUrl(token, callback)!).searchParams.get('id_token_hint')
  }
  expect(hint('token')).toBe('token')
  expect(hint('x'.repeat(10_000))).toBeNull()
  expect(one.endSessionUrl('x'.repeat(10_000), callback)).toContain('client_id=assay')
})

test('many who ask at once ask the provider once', async () => {
  answer = document()
  asked = 0
  const one = provider()
  await Promise.all(Array.from({ length: 20 }, () => one.authorizationUrl(callback, checks)))
  expect(asked).toBe(1)
})

test('one that has failed is left alone for a while', async () => {
  answer = '[]'
  asked = 0
  const failing = provider({ ...quick, failedForMs: 60_000 })
  for (let i = 0; i < 5; i++) await refusal(failing)
  expect(asked).toBe(1)
})

test('one that is back works again', async () => {
  answer = '[]'
  const back = provider({ ...quick, failedForMs: 0 })
  await refusal(back)
  answer = document()
  expect(await back.authorizationUrl(callback, checks)).toMatch(/\/auth\?/)
  expect(await back.fault()).toBeUndefined()
})

test.each<[string, () => string, RegExp]>([
  ['no document', () => '[]', /cannot be used/],
  [
    'another issuer',
    () => document({ issuer: 'https://other.example' }),
    /is not for this sign-in/,
  ],
  ['no address of tokens', () => document({ token_endpoint: undefined }), /has no token_endpoint/],
  ['no keys', () => document({ jwks_uri: undefined }), /has no jwks_uri/],
  [
    'addresses that are not encrypted',
    () => document({ token_endpoint: 'http://169.254.169.254/latest' }),
    /has an address without https:\/\/ as token_endpoint/,
  ],
  [
    'addresses of another kind',
    () => document({ jwks_uri: 'file:///etc/passwd' }),
    /has an address without https:\/\/ as jwks_uri/,
  ],
])('one with %s is refused', async (_, given, words) => {
  answer = given()
  expect((await refusal(provider())).message).toMatch(words)
})

test('one that nobody listens for is named with the reason', async () => {
  const address = `http://127.0.0.1:${await freePort()}`
  expect((await refusal(provider(quick, address))).message).toBe(
    `The provider ${address} cannot be reached: ECONNREFUSED`,
  )
})
