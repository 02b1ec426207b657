/** Query nodes as real processes: a home node, two that follow it, and a plain proxy before all three. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startService } from '../../../src/cli/service.ts'
import { readConfig } from '../../../src/config.ts'
import { createLogger } from '../../../src/server/logger.ts'
import { formatTransaction } from '../../../src/type/transaction.ts'
import { type ServeProcess, serveAssay } from '../../support/assay-process.ts'
import { PlainProxy } from '../../support/plain-proxy.ts'
import { testKey } from '../../support/running-service.ts'

vi.setConfig({ testTimeout: 120_000 })

const folder = mkdtempSync(join(tmpdir(), 'assay-nodes-'))
/** None that the system gives to connections: one that is tried again and again might connect to itself. */
const homePort = 20_000 + (process.pid % 10_000)
const homeEnvironment = { ASSAY_BOOTSTRAP_KEY: testKey }

let home: ServeProcess
let nodes: ServeProcess[]
let proxy: PlainProxy

const serveNode = (name: string, url = home.url) =>
  serveAssay(join(folder, name), { ASSAY_HOME: url, ASSAY_HOME_KEY: testKey })

beforeAll(async () => {
  home = await serveAssay(join(folder, 'home'), homeEnvironment, homePort)
  nodes = await Promise.all([serveNode('one'), serveNode('two')])
  proxy = await PlainProxy.start([home.url, ...nodes.map(({ url }) => url)])
}, 240_000)

afterAll(async () => {
  await proxy.close()
  for (const { child, exit } of [...nodes, home]) {
    child.kill('SIGKILL')
    await exit
  }
  rmSync(folder, { recursive: true })
})

interface Asked {
  readonly body?: object
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly key?: string
}

async function ask(url: string, path: string, { body, key = testKey, ...asked }: Asked = {}) {
  const response = await fetch(url + path, {
    method: asked.method ?? (body ? 'POST' : 'GET'),
    // Each request is a connection of its own, which the proxy gives to the next.
    headers: { authorization: `Bearer ${key}`, connection: 'close', ...asked.headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = text.startsWith('{') ? JSON.parse(text) : {}
  return { status: response.status, headers: response.headers, text, json }
}

const idsQuery = (project: string) => ({
  query: `select: id | from: project_logs('${project}') | sort: id`,
})

async function idsAt(url: string, project: string, asked: Asked = {}): Promise<string[]> {
  const { json, text, status } = await ask(url, '/btql', { ...asked, body: idsQuery(project) })
  expect(status, text).toBe(200)
  return json.data.map(({ id }: { readonly id: string }) => id)
}

/** What a client has seen, to bring along. */
function seenIn(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    ['x-bt-xact-id', 'x-bt-catalog-position'].map((name) => [name, headers.get(name) ?? '']),
  )
}

async function newProject(url: string, name: string) {
  const { json, headers } = await ask(url, '/v1/project', { body: { name } })
  return { id: json.id as string, seen: seenIn(headers) }
}

function insertAt(url: string, project: string, events: readonly object[]) {
  return ask(url, `/v1/project_logs/${project}/insert`, { body: { events } })
}

test('whoever brings along what it has seen reads its own writes on any node', async () => {
  const { id: project } = await newProject(proxy.url, 'own writes')
  const written: string[] = []
  for (let i = 0; i < 40; i++) {
    const id = `r${String(i).padStart(2, '0')}`
    const { status, headers } = await insertAt(proxy.url, project, [{ id, input: i }])
    expect(status).toBe(200)
    written.push(id)
    expect(await idsAt(proxy.url, project, { headers: seenIn(headers) })).toEqual(written)
  }
})

/** The cookies of a browser. */
class Cookies {
  readonly #jar = new Map<string, string>()

  take(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split('=')
      this.#jar.set(name, value)
    }
  }

  get text(): string {
    return [...this.#jar].map((cookie) => cookie.join('=')).join('; ')
  }
}

test('the page signs in and reads its own writes on any node', async () => {
  for (let round = 0; round < 10; round++) {
    const cookies = new Cookies()
    const asked = async (path: string, body?: object, headers: Record<string, string> = {}) => {
      const response = await fetch(proxy.url + path, {
        method: body ? 'POST' : 'GET',
        headers: { connection: 'close', cookie: cookies.text, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
      cookies.take(response.headers)
      const text = await response.text()
      expect(response.status, text).toBe(200)
      return JSON.parse(text)
    }
    const { change_token } = await asked('/session', { api_key: testKey })
    const token = { 'x-assay-change-token': change_token as string }
    const { id } = await asked('/v1/project', { name: `page ${round}` }, token)
    await asked(`/v1/project_logs/${id}/insert`, { events: [{ id: 'a' }] }, token)
    expect((await asked('/btql', idsQuery(id), token)).data).toEqual([{ id: 'a' }])
    const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}/btql/stream`, {
      headers: { cookie: cookies.text, origin: proxy.url },
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'query', ...idsQuery(id) }))
    const rows = await new Promise((resolve, reject) => {
      socket.on('close', (code, reason) => reject(new Error(`${code} ${reason}`)))
      socket.on('message', (message) => {
        const told = JSON.parse(String(message))
        if (told.type === 'batch') resolve(told.rows)
        if (told.type === 'end' || told.type === 'error') reject(new Error(String(message)))
      })
    })
    expect(rows).toEqual([{ id: 'a' }])
    socket.close()
  }
})

test('a page that has seen more than its home node has now is told so once', async () => {
  const [one] = nodes
  const seen = '1000195796789035009.999999999'
  const { status, headers, text } = await ask(one!.url, '/btql', {
    body: idsQuery('p'),
    headers: { cookie: `assay_seen=${seen}` },
  })
  expect(status).toBe(503)
  expect(text).toContain('HOME_AHEAD')
  expect(headers.get('set-cookie')).toMatch(/^assay_seen=; .*Max-Age=0/)
})

test('a change through a node is there when the node answers it', async () => {
  const [one] = nodes
  const { id: project } = await newProject(one!.url, 'through one')
  await insertAt(one!.url, project, [{ id: 'a', input: 1 }])
  expect(await idsAt(one!.url, project)).toEqual(['a'])
  await insertAt(one!.url, project, [{ id: 'a', _is_merge: true, output: 2 }])
  const query = `select: input, output | from: project_logs('${project}')`
  const { json } = await ask(one!.url, '/btql', { body: { query } })
  expect(json.data).toEqual([{ input: 1, output: 2 }])
  await insertAt(one!.url, project, [{ id: 'a', _object_delete: true }])
  expect(await idsAt(one!.url, project)).toEqual([])
})

test('nodes answer as their home does, at every version', async () => {
  const { id: project } = await newProject(home.url, 'versions')
  const versions: string[] = []
  for (let round = 0; round < 5; round++) {
    const events = Array.from({ length: 300 }, (_, i) => ({
      id: `r${i}`,
      root_span_id: `t${i % 20}`,
      input: { round, i },
      metrics: { tokens: i * round },
    }))
    const { headers } = await insertAt(home.url, project, events.slice(0, 300 - round * 50))
    versions.push(headers.get('x-bt-xact-id')!)
  }
  const headers = { 'x-bt-xact-id': versions.at(-1)! }
  for (const version of versions) {
    for (const query of [
      `dimensions: input.round | measures: count(1), sum(metrics.tokens) | from: project_logs('${project}')`,
      `select: * | from: project_logs('${project}') | filter: input.i > 250 | limit: 30`,
    ]) {
      const answers = await Promise.all(
        [home, ...nodes].map(async ({ url }) => {
          const { status, text, json } = await ask(url, '/btql', {
            body: { query, version },
            headers,
          })
          expect(status, text).toBe(200)
          return json.data
        }),
      )
      expect(answers[0]).not.toEqual([])
      expect(answers[1]).toEqual(answers[0])
      expect(answers[2]).toEqual(answers[0])
    }
  }
})

test('a transaction that does not come is refused in words after a while', async () => {
  const { id: project, seen } = await newProject(home.url, 'ahead')
  const { status, json, headers } = await ask(nodes[0]!.url, '/btql', {
    body: idsQuery(project),
    headers: { ...seen, 'x-bt-xact-id': formatTransaction(2 ** 48 - 2) },
  })
  expect([status, json.error.code]).toEqual([503, 'HOME_AHEAD'])
  expect(json.Message).toContain('has not come here from the home node')
  expect(headers.get('retry-after')).toBe('1')
})

test('a key that is withdrawn at the home ends on every node within a second, also in mid-stream', async () => {
  const { id: project } = await newProject(home.url, 'withdrawn')
  await insertAt(home.url, project, [{ id: 'a', input: 1 }])
  const { json: issued, headers } = await ask(home.url, '/v1/api_key', { body: { name: 'short' } })
  const key = issued.key as string
  const stream = await fetch(`${nodes[1]!.url}/btql/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...seenIn(headers) },
    body: JSON.stringify({ ...idsQuery(project), live: true }),
  })
  expect(stream.status).toBe(200)
  const ended = endOf(stream)
  for (const { url } of nodes) {
    expect((await ask(url, '/btql', { key, body: idsQuery(project) })).status).toBe(200)
  }
  await ask(home.url, `/v1/api_key/${issued.id}`, { method: 'DELETE' })
  const withdrawn = performance.now()
  await Promise.all(
    nodes.map(async ({ url }) => {
      while ((await ask(url, '/btql', { key, body: idsQuery(project) })).status !== 401);
    }),
  )
  expect(performance.now() - withdrawn).toBeLessThan(1000)
  await ended
})

test('a right that is withdrawn at the home ends what is read on a node, which then refuses as the home does', async () => {
  const { id: project } = await newProject(home.url, 'right')
  await insertAt(home.url, project, [{ id: 'a', input: 1 }])
  const { json: invited } = await ask(home.url, '/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: { service_accounts: [{ name: 'reader', token_name: 'reader' }] } },
  })
  const [account] = invited.added_users
  const key = account.api_key as string
  const grant = { object_id: project, object_type: 'project', permission: 'read' }
  const granted = await ask(home.url, '/v1/acl', { body: { ...grant, user_id: account.id } })
  const headers = seenIn(granted.headers)
  const streams = await Promise.all(
    nodes.map(({ url }) =>
      fetch(`${url}/btql/stream`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify({ ...idsQuery(project), live: true }),
      }),
    ),
  )
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  const texts = streams.map((stream) => stream.text())
  for (const { url } of nodes) expect(await idsAt(url, project, { key, headers })).toEqual(['a'])
  const removed = await ask(home.url, `/v1/acl/${granted.json.id}`, { method: 'DELETE' })
  const refused = await ask(home.url, '/btql', { key, body: idsQuery(project) })
  expect(refused.status).toBe(403)
  for (const { url } of nodes) {
    const seen = seenIn(removed.headers)
    const { status, json } = await ask(url, '/btql', {
      key,
      body: idsQuery(project),
      headers: seen,
    })
    expect([status, json.Message]).toEqual([403, refused.json.Message])
  }
  const told = `"message":${JSON.stringify(refused.json.Message)}`
  for (const text of await Promise.all(texts)) expect(text).toContain(told)
})

/** Resolves when a stream ends, in whatever way. */
async function endOf(response: Response): Promise<void> {
  try {
    for await (const _ of response.body!);
  } catch {
    // It was broken off.
  }
}

test('a live query on one node hears of what was written on another', async () => {
  const { id: project, seen } = await newProject(nodes[0]!.url, 'live')
  const stream = await fetch(`${nodes[1]!.url}/btql/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, ...seen },
    body: JSON.stringify({ ...idsQuery(project), live: true }),
  })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const heard = async (wanted: string) => {
    while (!text.includes(wanted)) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`the stream ended: ${text}`)
      text += value
    }
  }
  await heard('data:')
  await insertAt(nodes[0]!.url, project, [{ id: 'told', input: 1 }])
  await heard('told')
  await reader.cancel()
})

test('a node without its home answers what it has, says how old that is, and goes on when it is back', async () => {
  const [one, two] = nodes
  const { id: project } = await newProject(one!.url, 'lost')
  const { headers: seen } = await insertAt(one!.url, project, [{ id: 'before', input: 1 }])
  expect(await idsAt(two!.url, project, { headers: seenIn(seen) })).toEqual(['before'])
  home.child.kill('SIGKILL')
  await home.exit
  const age = async () =>
    Number(
      (await ask(one!.url, '/btql', { body: idsQuery(project) })).headers.get('x-assay-home-age'),
    )
  await vi.waitFor(async () => expect(await age()).toBeGreaterThanOrEqual(2), 10_000)
  expect(await idsAt(one!.url, project)).toEqual(['before'])
  const refused = await insertAt(one!.url, project, [{ id: 'during', input: 1 }])
  expect([refused.status, refused.json.error.code]).toEqual([503, 'HOME_UNAVAILABLE'])
  expect(refused.json.Message).toContain(`the home node ${home.url} cannot be reached`)
  expect(refused.headers.get('retry-after')).toBe('2')
  const health = await ask(one!.url, '/healthz')
  expect(health.json).toMatchObject({ status: 'ok', home: { connected: false } })
  const { json: status } = await ask(one!.url, '/admin/status')
  expect(status.warnings.join()).toContain('cannot be reached: answers are')
  const metrics = await ask(one!.url, '/metrics')
  expect(metrics.text).toContain('assay_home_connected 0')

  // A node that starts meanwhile has what it had.
  two!.child.kill('SIGKILL')
  await two!.exit
  nodes[1] = await serveNode('two')
  expect(await idsAt(nodes[1]!.url, project)).toEqual(['before'])

  home = await serveAssay(join(folder, 'home'), homeEnvironment, homePort)
  const { headers } = await insertAt(home.url, project, [{ id: 'after', input: 1 }])
  for (const { url } of nodes) {
    await vi.waitFor(async () => {
      const { json } = await ask(url, '/healthz')
      expect(json.home).toMatchObject({ connected: true, caught_up: true })
    }, 10_000)
    expect(await idsAt(url, project, { headers: seenIn(headers) })).toEqual(['after', 'before'])
  }
  expect((await insertAt(nodes[0]!.url, project, [{ id: 'last' }])).status).toBe(200)
})

test('removals at the home reach nodes, and projects that go, go everywhere', async () => {
  const { id: project } = await newProject(home.url, 'removed')
  const { headers } = await insertAt(home.url, project, [{ id: 'a' }])
  for (const { url } of nodes)
    expect(await idsAt(url, project, { headers: seenIn(headers) })).toEqual(['a'])
  const removed = await ask(nodes[0]!.url, `/v1/project/${project}`, { method: 'DELETE' })
  expect(removed.status).toBe(200)
  for (const { url } of nodes) {
    const seen = { headers: { 'x-bt-catalog-position': String(await positionOf()) } }
    expect((await ask(url, '/btql', { body: idsQuery(project), ...seen })).status).toBe(403)
  }
})

/** How far the catalog of the home is, as the answer to any change says. */
async function positionOf(): Promise<number> {
  return Number(
    seenIn((await ask(home.url, '/v1/project', { body: { name: 'x' } })).headers)[
      'x-bt-catalog-position'
    ],
  )
}

test.each([
  ['a folder that has data', { dataDir: 'home' }, 'is no cache of a query node'],
  ['a home that is not there', { home: 'http://127.0.0.1:1' }, 'cannot be reached'],
  ['a key of nobody', { key: 'sk-wrong-key' }, 'The request carries no valid API key'],
])('a node does not start with %s', async (_, given: Started, words) => {
  const flags = { port: '0', home: home.url, dataDir: 'other', logLevel: 'silent', ...given }
  const environment = { ASSAY_HOME_KEY: given.key ?? testKey }
  const config = readConfig({ ...flags, dataDir: join(folder, flags.dataDir) }, environment)
  await expect(startService(config, createLogger('silent'))).rejects.toThrow(words)
})

interface Started {
  readonly dataDir?: string
  readonly home?: string
  readonly key?: string
}
