import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runAssay, type ServeProcess, serveAssay, spawnAssay } from '../support/assay-process.ts'

const key = 'sk-process-0123456789'

let directory: string
const running: ServeProcess[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-process-'))
})

afterEach(async () => {
  for (const { child, exit } of running.splice(0)) {
    child.kill('SIGKILL')
    await exit
  }
  rmSync(directory, { recursive: true })
})

async function serve(environment: Record<string, string> = { ASSAY_BOOTSTRAP_KEY: key }) {
  const process = await serveAssay(directory, environment)
  running.push(process)
  return process
}

async function post(url: string, path: string, body: object, withKey = key) {
  const headers = { authorization: `Bearer ${withKey}` }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

async function makeExperiment(url: string): Promise<string> {
  const project = await post(url, '/v1/project', { name: 'p' })
  const body = { project_id: project.json.id, name: 'e' }
  return String((await post(url, '/v1/experiment', body)).json.id)
}

test('without a key one is made up, shown once and never logged', async () => {
  const first = await serve({})
  const shown = first.output().match(/sk-[\w-]{43}/)?.[0]
  expect(shown).toBeDefined()
  expect((await post(first.url, '/v1/project', { name: 'p' }, shown)).status).toBe(200)
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
  const logged = first
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  expect(logged.join()).not.toContain(shown)
  expect(logged.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ method: 'POST', path: '/v1/project', status: 200, msg: 'request' }),
  )
  const second = await serve({})
  expect(second.output()).not.toContain('sk-')
  expect((await post(second.url, '/v1/project', { name: 'p' }, shown)).status).toBe(200)
})

test('a second process on the same data is turned away', async () => {
  const first = await serve()
  const args = ['serve', '--port', '0', '--data-dir', directory]
  const second = await runAssay(args, { environment: { ASSAY_BOOTSTRAP_KEY: key } })
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`process ${first.child.pid}`)
  expect(second.stderr).toContain('--data-dir')
  expect((await post(first.url, '/v1/project', { name: 'p' })).status).toBe(200)
})

test('a port that is taken', async () => {
  const { url } = await serve()
  const other = mkdtempSync(join(tmpdir(), 'assay-process-'))
  const outcome = await runAssay(['serve', '--port', new URL(url).port, '--data-dir', other])
  rmSync(other, { recursive: true })
  expect(outcome.code).toBe(1)
  expect(outcome.stderr).toContain('the port is taken')
})

test('SIGTERM lets running requests end, takes no more, and exits with 0', async () => {
  const { url, child, exit } = await serve()
  const experiment = await makeExperiment(url)
  const events = Array.from({ length: 300 }, (_, i) => ({ id: `r${i}`, input: 'x'.repeat(20_000) }))
  await post(url, `/v1/experiment/${experiment}/insert`, { events })

  const response = await fetch(`${url}/btql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' },
    body: JSON.stringify({ query: `select: * | from: experiment('${experiment}')` }),
  })
  const reader = response.body!.getReader()
  const first = await reader.read()
  child.kill('SIGTERM')
  // Either the connection is refused, or one that was open already is told to go.
  const health = () => fetch(`${url}/healthz`).catch(() => ({ status: 503 }))
  await expect.poll(async () => (await health()).status).toBe(503)
  const parts = [first.value!]
  for (let part = await reader.read(); !part.done; part = await reader.read())
    parts.push(part.value)
  const { data } = JSON.parse(Buffer.concat(parts).toString()) as { data: object[] }
  expect(data).toHaveLength(300)
  expect(await exit).toBe(0)
})

test('SIGTERM while the service starts ends it at once, with 0', async () => {
  const child = spawnAssay(['serve', '--port', '0', '--data-dir', directory])
  await expect.poll(() => readdirSync(directory).join(), { interval: 1 }).toContain('lock.')
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
  expect((await serve()).url).toMatch(/^http:/)
})

test('after SIGKILL everything acknowledged is there', async () => {
  const first = await serve()
  const experiment = await makeExperiment(first.url)
  const events = [{ id: 'a' }, { id: 'b' }]
  await post(first.url, `/v1/experiment/${experiment}/insert`, { events })
  first.child.kill('SIGKILL')
  await first.exit
  const second = await serve()
  const query = `select: id | from: experiment('${experiment}')`
  const { json } = await post(second.url, '/btql', { query })
  expect(json.data).toEqual([{ id: 'b' }, { id: 'a' }])
})
