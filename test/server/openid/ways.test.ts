/** Which ways to sign in there are, as the operator says, and how nobody is locked out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService } from '../../../src/cli/service.ts'
import { readConfig } from '../../../src/config.ts'
import { IdentityProvider } from '../../support/identity-provider.ts'
import { PathProxy } from '../../support/path-proxy.ts'
import { ProvidedService } from '../../support/provider-sign-in.ts'
import { RunningService, testKey } from '../../support/running-service.ts'
import { WebClient } from '../../support/web-client.ts'

const email = 'ada@example.com'

describe('where passwords are switched off', () => {
  let provided: ProvidedService

  beforeAll(async () => {
    provided = await ProvidedService.start({
      ASSAY_PASSWORD_SIGN_IN: 'off',
      ASSAY_OIDC_JOIN_DOMAINS: 'example.com',
    })
    provided.idp.people.set('ada', { email, email_verified: true })
    provided.provide()
  })
  afterAll(() => provided.stop())

  const post = (body: object) => provided.service.request('/session', { key: null, body })

  test('the page is told so', async () => {
    const { json } = await provided.service.request('/session/ways', { key: null })
    expect(json).toEqual({
      password: false,
      key: false,
      provider: { label: 'Single sign-on', fault: null },
    })
  })

  test('they neither sign in nor are set', async () => {
    const { status, text } = await post({ email, password: 'correct horse battery' })
    expect([status, text]).toEqual([403, expect.stringContaining('Passwords do not sign in')])
    const { client, session } = await provided.signIn('ada')
    const set = await provided.service.request('/session/password', {
      method: 'PUT',
      key: null,
      body: { password: 'correct horse battery' },
      headers: {
        cookie: client.cookies(provided.service.url),
        'x-assay-change-token': String(session.change_token),
      },
    })
    expect(set.status).toBe(403)
  })

  test('keys sign nobody in but the operator, and go on working for programs', async () => {
    const { json: key } = await provided.service.request('/v1/api_key', { body: { name: 'sdk' } })
    const refused = await post({ api_key: String(key.key) })
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('API keys do not sign in'),
    ])
    expect((await provided.service.request('/v1/project', { key: String(key.key) })).status).toBe(
      200,
    )
    expect((await post({ api_key: 'sk-wrong' })).status).toBe(401)
    expect((await post({ api_key: testKey })).status).toBe(200)
  })
})

test('a service without a provider has none of its routes', async () => {
  const service = await RunningService.start()
  const { json } = await service.request('/session/ways', { key: null })
  expect(json).toEqual({ password: true, key: true, provider: null })
  for (const path of ['/session/openid', '/session/openid/callback?code=x&state=y']) {
    const { status, text } = await service.request(path, { key: null })
    expect([status, text]).toEqual([404, expect.stringContaining('--oidc-issuer')])
  }
  await service.stop()
})

test('a service below a path, behind a proxy, has all addresses and cookies there', async () => {
  const idp = await IdentityProvider.start()
  idp.people.set('ada', { email, email_verified: true })
  const proxy = await PathProxy.start('/assay')
  idp.serve({
    callback: `${proxy.url}/session/openid/callback`,
    signedOut: `${proxy.url}/app`,
  })
  const service = await RunningService.start(
    idp.environment({ ASSAY_PUBLIC_URL: proxy.url, ASSAY_OIDC_OWNERS: email }),
  )
  proxy.serve(service.url)
  const client = new WebClient()
  const begun = await client.get(`${proxy.url}/session/openid`)
  expect(begun.headers.get('set-cookie')).toContain('; Path=/assay/session/openid; ')
  const form = await client.follow(begun.headers.get('location')!)
  const sent = await client.post(form.url, { name: 'ada', act: 'in' })
  const next = new URL(sent.headers.get('location')!, form.url).href
  const answer = (await client.follow(next, proxy.url)).url
  const end = await client.get(answer)
  expect(end.headers.get('location')).toBe(`${proxy.url}/app`)
  expect(end.headers.getSetCookie()[0]).toContain('; Path=/assay; ')
  expect((await client.get(`${proxy.url}/session`)).status).toBe(200)
  await proxy.stop()
  await service.stop()
  await idp.stop()
})

test('cookies are marked as secure where the page is', async () => {
  const provided = await ProvidedService.start({ ASSAY_TRUST_PROXY: '1' })
  const { headers } = await new WebClient().get(`${provided.service.url}/session/openid`, {
    'x-forwarded-proto': 'https',
  })
  expect(headers.get('set-cookie')).toMatch(/; Secure$/)
  expect(new URL(headers.get('location')!).searchParams.get('redirect_uri')).toMatch(/^https:/)
  await provided.stop()
})

test('the log tells who has signed in how, and who has not, and nothing by which one could', async () => {
  const idp = await IdentityProvider.start()
  idp.people.set('ada', { email, email_verified: true })
  idp.serve({ callback: 'http://127.0.0.1/', signedOut: 'http://127.0.0.1/' })
  const directory = mkdtempSync(join(tmpdir(), 'assay-openid-'))
  const secretFile = join(directory, 'client-secret')
  const { ASSAY_OIDC_CLIENT_SECRET: secret, ...environment } = idp.environment({
    ASSAY_OIDC_CLIENT_SECRET_FILE: secretFile,
    ASSAY_OIDC_OWNERS: email,
    ASSAY_BOOTSTRAP_KEY: testKey,
  })
  writeFileSync(secretFile, `${secret}\n`)
  let output = ''
  const log = new Writable({
    write: (chunk, _, done) => {
      output += String(chunk)
      done()
    },
  })
  const flags = { port: '0', otlpGrpcPort: 'off', workers: '0', dataDir: join(directory, 'data') }
  const service = await startService(readConfig(flags, environment), pino({ level: 'trace' }, log))
  const { url } = service
  idp.serve({ callback: `${url}/session/openid/callback`, signedOut: `${url}/app` })
  const client = new WebClient()
  const form = await client.follow(`${url}/session/openid`)
  const sent = await client.post(form.url, { name: 'ada', act: 'in' })
  const next = new URL(sent.headers.get('location')!, form.url).href
  const answer = (await client.follow(next, url)).url
  const attempt = client.cookies(answer)
  await client.get(answer)
  await client.get(answer)
  await fetch(`${url}/session`, { method: 'POST', body: JSON.stringify({ api_key: testKey }) })
  const session = client.cookies(url)
  await service.close()
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const told = lines.filter(({ msg }) => msg === 'signed in' || msg === 'not signed in')
  expect(told).toEqual([
    expect.objectContaining({ way: 'openid', admission: 'joined', issuer: idp.issuer }),
    expect.objectContaining({ way: 'openid', code: 'ACCESS_UNAUTHENTICATED' }),
    expect.objectContaining({ way: 'key' }),
  ])
  const { searchParams } = new URL(answer)
  const secrets = [
    secret!,
    testKey,
    searchParams.get('code')!,
    searchParams.get('state')!,
    attempt.split('=')[1]!,
    session.split('=')[1]!,
  ]
  for (const one of secrets) expect(output).not.toContain(one)
  await idp.stop()
  rmSync(directory, { recursive: true })
})

describe('settings', () => {
  const base = { ASSAY_OIDC_ISSUER: 'https://login.example.com', ASSAY_OIDC_CLIENT_ID: 'assay' }
  const read = (more: Record<string, string>) => readConfig({}, { ...base, ...more }).signIn

  test('have defaults that let nobody in who was not invited', () => {
    expect(read({})).toEqual({
      password: true,
      key: true,
      openId: {
        issuer: 'https://login.example.com',
        clientId: 'assay',
        clientSecret: undefined,
        scope: 'openid email profile',
        label: 'Single sign-on',
        groupsClaim: undefined,
        groups: new Map(),
        requiredGroup: undefined,
        joinDomains: [],
        newMemberGroups: [],
        owners: [],
        isTrustingEmails: false,
        sessionSeconds: 86_400,
        organization: undefined,
      },
    })
  })

  test('are read from flags and the environment', () => {
    const flags = {
      oidcGroups: 'staff=Engineers, ops=Owners ,ops=Engineers',
      oidcJoinDomains: '@Example.com, example.org',
      passwordSignIn: 'off',
    }
    const signIn = readConfig(flags, {
      ...base,
      ASSAY_OIDC_SCOPES: 'openid,email,groups',
      ASSAY_OIDC_GROUPS_CLAIM: 'groups',
      ASSAY_OIDC_SESSION_HOURS: '8',
      ASSAY_KEY_SIGN_IN: 'on',
    }).signIn
    expect(signIn).toMatchObject({
      password: false,
      key: true,
      openId: {
        scope: 'openid email groups',
        groups: new Map([
          ['staff', ['Engineers']],
          ['ops', ['Owners', 'Engineers']],
        ]),
        joinDomains: ['example.com', 'example.org'],
        sessionSeconds: 8 * 3600,
      },
    })
  })

  test.each<[Record<string, string>, RegExp]>([
    [{ ASSAY_OIDC_ISSUER: '' }, /go together/],
    [{ ASSAY_OIDC_CLIENT_ID: '' }, /go together/],
    [{ ASSAY_OIDC_ISSUER: 'login.example.com' }, /must be a URL/],
    [{ ASSAY_OIDC_ISSUER: 'http://login.example.com' }, /must begin with https/],
    [{ ASSAY_OIDC_ISSUER: 'http://127.0.0.1.example.com' }, /must begin with https/],
    [{ ASSAY_OIDC_ISSUER: 'ftp://localhost/' }, /must begin with https/],
    [{ ASSAY_OIDC_ISSUER: 'https://a:b@example.com' }, /no password/],
    [{ ASSAY_OIDC_ISSUER: 'https://login.microsoftonline.com/common/v2.0' }, /no tenant/],
    [{ ASSAY_OIDC_SCOPES: 'email' }, /must have "openid"/],
    [{ ASSAY_OIDC_GROUPS: 'a=b' }, /needs the name of the claim/],
    [{ ASSAY_OIDC_REQUIRED_GROUP: 'a' }, /needs the name of the claim/],
    [{ ASSAY_OIDC_GROUPS_CLAIM: 'groups', ASSAY_OIDC_GROUPS: 'cn=a=b' }, /must be pairs/],
    [{ ASSAY_OIDC_GROUPS_CLAIM: 'groups', ASSAY_OIDC_GROUPS: '{"a":1}' }, /must be pairs/],
    [{ ASSAY_OIDC_GROUPS_CLAIM: 'groups', ASSAY_OIDC_GROUPS: '{"a"' }, /must be pairs/],
    [{ ASSAY_OIDC_JOIN_DOMAINS: '*.example.com' }, /must be domains/],
    [{ ASSAY_OIDC_OWNERS: 'ada' }, /must be e-mail addresses/],
    [{ ASSAY_OIDC_TRUST_EMAILS: 'yes' }, /must be on or off/],
    [{ ASSAY_OIDC_SESSION_HOURS: '0' }, /must be a whole number/],
    [{ ASSAY_OIDC_CLIENT_SECRET_FILE: '/nowhere/secret' }, /cannot read \/nowhere\/secret/],
    [{ ASSAY_OIDC_CLIENT_SECRET_FILE: '/dev/null' }, /is empty/],
    [{ ASSAY_OIDC_CLIENT_SECRET_FILE: '/x', ASSAY_OIDC_CLIENT_SECRET: 'y' }, /both set/],
  ])('%j is refused', (more, words) => {
    expect(() => read(more)).toThrow(words)
  })

  test('leave somebody a way in', () => {
    expect(() => readConfig({ passwordSignIn: 'off' }, {})).toThrow(/nobody could sign in/)
    expect(readConfig({ passwordSignIn: 'off', keySignIn: 'on' }, {}).signIn).toMatchObject({
      password: false,
      key: true,
    })
  })
})
