/** Whose word counts on where a request comes from, and what the service is called. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { ClientAddresses } from '../../src/server/credentials.ts'
import { clientAddress } from '../../src/server/public-url.ts'
import { RunningService, testKey } from '../support/running-service.ts'

async function toldUrl(service: RunningService, headers: Record<string, string>): Promise<unknown> {
  const { json } = await service.request('/api/apikey/login', { method: 'POST', headers })
  return json.org_info?.[0]?.api_url
}

const forwarded = { 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'https' }

describe('without a proxy', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await RunningService.start()
  })
  afterAll(() => service.stop())

  test('what anybody can write into headers is not believed', async () => {
    expect(await toldUrl(service, forwarded)).toBe(service.url)
  })
})

describe('behind a proxy that is trusted', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await RunningService.start({ ASSAY_TRUST_PROXY: '1' })
  })
  afterAll(() => service.stop())

  test('URLs are those of the proxy, which wrote the last of several', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example.com, assay.example.com',
      'x-forwarded-proto': 'https',
    }
    expect(await toldUrl(service, headers)).toBe('https://assay.example.com')
    expect(await toldUrl(service, { 'x-forwarded-proto': 'http, https' })).toMatch(/^https:/)
  })

  test('what is no host is not taken for one', async () => {
    expect(await toldUrl(service, { 'x-forwarded-host': 'a"b<c>' })).toBe('http://localhost')
  })
})

test('below a path of a proxy, what the service says of its own addresses has the path', async () => {
  const service = await RunningService.start({ ASSAY_PUBLIC_URL: 'https://example.com/assay/' })
  onTestFinished(() => service.stop())
  expect(await toldUrl(service, {})).toBe('https://example.com/assay')
  const { json } = await service.request('/openapi.json')
  expect(json.servers).toEqual([{ url: '/assay' }])
  const page = await service.request('/docs/api')
  expect(page.text).toContain('<base href="/assay/">')
  expect(page.text).toContain('href="openapi.json"')
  expect(page.text.replace('<base href="/assay/">', '')).not.toMatch(/(href|src|action)="\//)
  const made = await service.request('/v1/project', { method: 'PUT', body: { name: 'p' } })
  expect(made.headers.get('link')).toMatch(/^<project>; rel="successor-version"/)
  const session = await service.request('/session', { body: { api_key: testKey } })
  expect(session.headers.get('set-cookie')).toMatch(/; Path=\/assay;.*; Secure$/)
})

test('the address of a client is that of the connection, or what the nearest trusted proxies have seen', () => {
  expect(clientAddress('10.0.0.1', '1.2.3.4', 0)).toBe('10.0.0.1')
  expect(clientAddress('10.0.0.1', '', 1)).toBe('10.0.0.1')
  expect(clientAddress('10.0.0.1', '6.6.6.6, 1.2.3.4', 1)).toBe('1.2.3.4')
  expect(clientAddress('10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', 2)).toBe('1.2.3.4')
})

test('a proxy that adds a line of its own is believed, and not what the client has sent in another', () => {
  const lines = ['6.6.6.6', '1.2.3.4']
  const request = {
    getMethod: () => 'GET',
    getUrl: () => '/',
    getQuery: () => '',
    getHeader: (name: string) => (name === 'x-forwarded-for' ? lines[0]! : ''),
    forEach: (see: (name: string, value: string) => void) => {
      for (const line of lines) see('x-forwarded-for', line)
    },
  }
  const connected = { address: '10.0.0.1' }
  expect(new ClientAddresses(0).of(connected, request)).toBe('10.0.0.1')
  expect(new ClientAddresses(1).of(connected, request)).toBe('1.2.3.4')
})

test('a proxy is trusted by a flag, with how many there are', () => {
  expect(readConfig({}, {}).trustedProxies).toBe(0)
  expect(readConfig({ trustProxy: true }, {}).trustedProxies).toBe(1)
  expect(readConfig({ trustProxy: '2' }, { ASSAY_TRUST_PROXY: '1' }).trustedProxies).toBe(2)
  expect(() => readConfig({ trustProxy: 'yes' }, {})).toThrow('--trust-proxy must be')
})
