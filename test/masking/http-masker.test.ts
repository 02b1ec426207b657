/** A service of the operator that masks what comes in, and what is done when it does not answer. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesWith } from '../support/files-with.ts'
import { RunningService } from '../support/running-service.ts'

type Row = Record<string, unknown>

/** What it is asked, and what it answers next. */
const asked: { readonly authorization: string | undefined; readonly rows: readonly Row[] }[] = []
let answer: (rows: readonly Row[]) => unknown = () => undefined
let masker: Server
let url: string
let running: RunningService | undefined

beforeAll(async () => {
  masker = createServer(async (request, response) => {
    const { rows } = JSON.parse(await textOf(request)) as { readonly rows: readonly Row[] }
    asked.push({ authorization: request.headers.authorization, rows })
    const told = answer(rows)
    // Undefined: it never answers.
    if (told !== undefined) response.end(typeof told === 'string' ? told : JSON.stringify(told))
  })
  await new Promise<void>((resolve) => masker.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(masker.address() as AddressInfo).port}/mask`
})
afterAll(async () => {
  await running?.stop()
  masker.closeAllConnections()
  masker.close()
})

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += String(part)
  return text
}

async function start(failure: string): Promise<{ service: RunningService; project: string }> {
  await running?.stop()
  const service = await RunningService.start({
    // What is long goes through the threads of inserts.
    ASSAY_WORKERS: '1',
    ASSAY_MASKING_URL: url,
    ASSAY_MASKING_TOKEN: 'token-of-the-masker',
    ASSAY_MASKING_SECONDS: '0.3',
    ASSAY_MASKING_FAILURE: failure,
  })
  running = service
  return { service, project: await service.project() }
}

const withoutSecrets = (rows: readonly Row[]) => ({
  rows: rows.map((row) => JSON.parse(JSON.stringify(row).replaceAll('secret words', '***'))),
})

async function recordsOf(service: RunningService, project: string): Promise<unknown> {
  const query = `select: id, span_id, input, output, scores, metadata | from: project_logs('${project}') | sort: id`
  return (await service.query(query)).json.data
}

test('rows are stored as the masker answers, but for what names them', async () => {
  answer = withoutSecrets
  const { service, project } = await start('refuse')
  const { status, text } = await service.insert('project_logs', project, [
    {
      id: 'secret words',
      span_id: 's',
      input: 'secret words',
      output: 1,
      scores: { a: 0.1 },
      metadata: { big: 2 },
    },
    { id: 'b', input: { deep: ['secret words'] } },
  ])
  expect(status, text).toBe(200)
  expect(asked.at(-1)).toEqual({
    authorization: 'Bearer token-of-the-masker',
    rows: [
      { input: 'secret words', output: 1, scores: { a: 0.1 }, metadata: { big: 2 } },
      { input: { deep: ['secret words'] } },
    ],
  })
  answer = (rows) => ({ rows: rows.map(() => ({ id: 'other', input: 'changed' })) })
  await service.insert('project_logs', project, [{ id: 'c', input: 'x', output: 'left out' }])
  const empty = { scores: null, metadata: null }
  expect(await recordsOf(service, project)).toEqual([
    { id: 'b', input: { deep: ['***'] }, output: null, ...empty, span_id: expect.anything() },
    { id: 'c', input: 'changed', output: null, ...empty, span_id: expect.anything() },
    {
      id: 'secret words',
      span_id: 's',
      input: '***',
      output: 1,
      scores: { a: 0.1 },
      metadata: { big: 2 },
    },
  ])
  const asks = asked.length
  await service.insert('project_logs', project, [{ id: 'c', _object_delete: true }])
  expect(asked.length).toBe(asks)
})

test('many rows are sent some hundred at a time, and large numbers stay as they are', async () => {
  answer = withoutSecrets
  const { service, project } = await start('refuse')
  const rows = Array.from({ length: 1203 }, (_, i) => `{"id":"r${i}","input":"secret words ${i}"}`)
  const body = `{"events":[${rows.join(', ')}, {"id":"n","_x":12345678901234567890}]}`
  const path = `/v1/project_logs/${project}/insert`
  const before = asked.length
  expect((await service.request(path, { body })).status).toBe(200)
  expect(asked.slice(before).map((one) => one.rows.length)).toHaveLength(3)
  const query = `measures: count(1) as n | from: project_logs('${project}') | filter: input like '***%'`
  expect((await service.query(query)).json.data).toEqual([{ n: 1203 }])
})

let refusing: { readonly service: RunningService; readonly project: string } | undefined

const failures: readonly (readonly [string, (rows: readonly Row[]) => unknown])[] = [
  ['never answers', () => undefined],
  ['answers no JSON', () => '{"rows": ['],
  ['answers without rows', () => ({})],
  ['answers with another number of rows', () => ({ rows: [] })],
  ['answers with something else than objects', (rows) => ({ rows: rows.map(() => 1) })],
  ['answers with too much', () => 'x'.repeat(2 ** 22)],
]

test.each(failures)(
  'when it %s, an insert is refused, and nothing of it is stored',
  async (_, told) => {
    answer = told
    refusing ??= await start('refuse')
    const { service, project } = refusing
    const input = 'words that must not be stored'
    const refused = await service.insert('project_logs', project, [{ id: 'a', input }])
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('the masker of the operator')
    expect(refused.text).not.toContain(input)
    expect(filesWith(service.directory, input)).toEqual([])
    answer = withoutSecrets
    expect((await service.insert('project_logs', project, [{ id: 'a', input: 'x' }])).status).toBe(
      200,
    )
  },
)

test('when it fails, whole values are masked, or rows are stored, as the operator says', async () => {
  answer = () => ({ rows: 'none' })
  const row = {
    id: 'a',
    span_id: 's',
    input: 'words',
    output: null,
    scores: { a: 1 },
    metadata: { b: 1 },
  }
  const masking = await start('mask')
  expect((await masking.service.insert('project_logs', masking.project, [row])).status).toBe(200)
  expect(await recordsOf(masking.service, masking.project)).toEqual([
    { ...row, input: '[masked]', metadata: null },
  ])
  const storing = await start('store')
  expect((await storing.service.insert('project_logs', storing.project, [row])).status).toBe(200)
  expect(await recordsOf(storing.service, storing.project)).toEqual([row])
})

test('after some failures it is not asked for a while, so that inserts do not wait for it', async () => {
  answer = () => undefined
  const { service, project } = await start('refuse')
  const before = asked.length
  for (let i = 0; i < 8; i++) {
    const { status } = await service.insert('project_logs', project, [{ id: 'a', input: 'x' }])
    expect(status).toBe(503)
  }
  expect(asked.length - before).toBe(5)
  const { text } = await service.request('/metrics')
  const metric = (name: string) => {
    return Number(new RegExp(`^assay_masker_${name} (.*)$`, 'm').exec(text)?.[1])
  }
  expect([metric('requests_total'), metric('failures_total')]).toEqual([5, 5])
  expect(metric('left_alone')).toBe(1)
  // Each has waited for an answer.
  expect(metric('seconds_total')).toBeGreaterThanOrEqual(5 * 0.3 - 0.1)
})
