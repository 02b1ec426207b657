/** A service on HTTPS behind nginx and Caddy, at the root of a host and below a path, as `.deploy` says. */
import { randomBytes, randomUUID } from 'node:crypto'
import { credentials, Metadata } from '@grpc/grpc-js'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { freePort } from '../support/free-port.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { hasProxy, type ProxyKind, TlsProxy } from '../support/tls-proxy.ts'

const megabyte = 2 ** 20
const maxBodyBytes = 32 * megabyte
const signedIn = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' }

const kinds: readonly ProxyKind[] = ['nginx', 'caddy']
const places = kinds
  .filter(hasProxy)
  .flatMap((kind) => (['', '/assay'] as const).map((path) => ({ kind, path })))

describe.each(places)('behind $kind at the path "$path"', ({ kind, path }) => {
  let proxy: TlsProxy
  let service: RunningService
  let project: string

  beforeAll(async () => {
    proxy = await TlsProxy.prepare(kind, path)
    service = await RunningService.start({
      // At the root the proxy's headers say it as well.
      ...(path !== '' && { ASSAY_PUBLIC_URL: proxy.url }),
      ASSAY_TRUST_PROXY: '1',
      ASSAY_OTLP_GRPC_PORT: String(await freePort()),
      ASSAY_MAX_BODY_BYTES: String(maxBodyBytes),
    })
    await proxy.serve(service)
    project = await service.project('support')
    await service.insert('project_logs', project, [{ id: 'a', input: 'first' }])
  })

  afterAll(async () => {
    await proxy.stop()
    await service.stop()
  })

  const post = (target: string, body: object) => {
    return proxy.send(target, { headers: signedIn, body: JSON.stringify(body) })
  }
  const count = async (condition: string) => {
    const query = `measures: count(1) as n | from: project_logs('${project}') | filter: ${condition}`
    return (await post('/btql', { query })).json.data?.[0]?.n
  }

  test.skipIf(!hasBrowser)('the page signs in, queries, and shows rows as they come', async () => {
    const browser = await PageBrowser.open({ url: proxy.url }, { trustsAnyCertificate: true })
    const { page, faults } = await browser.page('/', { isSignedIn: false })
    await page.getByLabel('API key').fill(testKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: /support/ }).click()
    await page.getByRole('link', { name: 'Logs' }).click()
    await page.locator('tr[data-index="0"]').getByText('first').waitFor()
    await expect.poll(() => page.url()).toBe(`${proxy.url}/app/default/p/support/logs`)
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({
      secure: true,
      httpOnly: true,
      sameSite: 'Strict',
      path: path || '/',
    })
    await service.insert('project_logs', project, [{ id: 'b', input: 'second' }])
    await page.locator('tr[data-index="0"]').getByText('second').waitFor()
    const q = `select: input\nfrom: project_logs('support')`
    await page.goto(`${proxy.url}/app/default/p/support/query?${new URLSearchParams({ q })}`)
    await page.locator('.result-head').getByText('2 rows ·').waitFor()
    await page.getByText('second').waitFor()
    // Nobody was signed in at first.
    expect(faults.filter((fault) => !fault.includes('401'))).toEqual([])
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await browser.close()
  })

  test('what the service says of its addresses leads through the proxy', async () => {
    const login = await post('/api/apikey/login', {})
    expect(login.json.org_info?.[0]).toMatchObject({ api_url: proxy.url, proxy_url: proxy.url })
    const document = await proxy.send('/openapi.json')
    expect(new URL(String(document.json.servers?.[0]?.url), proxy.url).href).toMatch(
      `${proxy.url}${path === '' ? '/' : ''}`,
    )
    const start = await proxy.send('/')
    expect(start.text).toContain(`<base href="${path}/" />`)
  })

  test('paths come to the service as they were sent, and the start of the page without a slash', async () => {
    const { status, json } = await proxy.send('/nowhere/a%2Fb/c?d=%2F')
    expect([status, json.Path]).toEqual([404, '/nowhere/a%2Fb/c'])
    const start = await proxy.send('')
    if (path === '') expect(start.status).toBe(200)
    else expect(new URL(start.headers.location!, proxy.url).href).toBe(`${proxy.url}/`)
  })

  test('an attachment is uploaded and read by signed addresses', async () => {
    const key = randomUUID()
    const announced = { key, filename: 'a b.bin', content_type: 'image/png', org_id: null }
    const { signedUrl, headers } = (await post('/attachment', announced)).json
    expect(signedUrl).toMatch(new RegExp(`^${proxy.url}/`))
    const body = randomBytes(5 * megabyte)
    const put = { method: 'PUT', headers: headers as object as Record<string, string>, body }
    expect((await proxy.send(String(signedUrl), put)).status).toBe(200)
    const told = await proxy.send(`/attachment?key=${key}`, { headers: signedIn })
    const answer = await proxy.open(String(told.json.downloadUrl))
    const parts: Uint8Array[] = []
    for await (const part of answer) parts.push(part)
    expect(Buffer.concat(parts).equals(body)).toBe(true)
  })

  test('large bodies go through, and the service itself says which are too large', async () => {
    const insert = `/v1/project_logs/${project}/insert`
    const text = 'x'.repeat(megabyte)
    const events = Array.from({ length: 20 }, (_, i) => ({ id: `large-${i}`, input: text }))
    expect((await post(insert, { events })).status).toBe(200)
    expect(await count(`id like 'large-%'`)).toBe(20)
    const headers = { ...signedIn, 'content-length': String(2 * maxBodyBytes) }
    const refused = await proxy.send(insert, { headers, body: '{"events": [' })
    expect(refused).toMatchObject({ status: 413, json: { error: { code: 'REQUEST_TOO_LARGE' } } })
  })

  test('events of a live query leave as they come', async () => {
    const query = `select: id | from: project_logs('${project}') | filter: id like 'live-%'`
    const body = JSON.stringify({ query, live: true })
    const answer = await proxy.open('/btql/stream', { headers: signedIn, body })
    const seen = (text: string) => ({ text, isSeen: false })
    const expected = [seen('event: current'), seen('live-1'), seen('live-2')]
    let received = ''
    for await (const part of answer.setEncoding('utf8')) {
      received += part
      const next = expected.find(({ isSeen }) => !isSeen)!
      if (!received.includes(next.text)) continue
      next.isSeen = true
      const done = expected.filter(({ isSeen }) => isSeen).length
      if (done === expected.length) break
      await service.insert('project_logs', project, [{ id: `live-${done}` }])
    }
    expect(received).toContain('live-2')
  })

  test('OpenTelemetry comes over HTTP and over gRPC', async () => {
    const span = { traceId: '0af7651916cd43dd8448eb211c80319c', name: 'over HTTP' }
    const times = {
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000001000000000',
    }
    const spans = [{ ...span, ...times, spanId: 'b7ad6b7169203331' }]
    const headers = { ...signedIn, 'x-bt-parent': `project_id:${project}` }
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    expect((await proxy.send('/otel/v1/traces', { headers, body })).status).toBe(200)

    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${testKey}`)
    metadata.set('x-bt-parent', `project_id:${project}`)
    const exporter = new OTLPTraceExporter({
      // Of the host alone: calls of gRPC have no paths of one's own.
      url: new URL(proxy.url).origin,
      metadata,
      credentials: credentials.createSsl(Buffer.from(proxy.certificate)),
    })
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
    provider.getTracer('test').startSpan('over gRPC').end()
    await provider.shutdown()
    expect(await count(`span_attributes.name like 'over %'`)).toBe(2)
  })

  test('who comes without TLS is sent to HTTPS', async () => {
    const { status, headers } = await proxy.send(`${proxy.plainUrl}/app?x=1`)
    expect([301, 308]).toContain(status)
    const { protocol, hostname, pathname, search } = new URL(headers.location!)
    expect([protocol, hostname, pathname, search].join(' ')).toBe(
      `https: localhost ${path}/app ?x=1`,
    )
  })
})
