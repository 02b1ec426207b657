import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AnyJson, RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let client: Client
let experiment: string

beforeAll(async () => {
  service = await RunningService.start()
  const project = await service.project('my project')
  const base = await service.create('experiment', project, 'base')
  experiment = await service.create('experiment', project, 'next')
  await service.insert('experiment', base, [{ id: '1', input: 'a', scores: { s: 0.5 } }])
  await service.insert('experiment', experiment, [
    { id: '1', input: 'a', scores: { s: 1 }, metadata: { model: 'm1' } },
    { id: '2', span_parents: ['1'], root_span_id: '1', input: 'x'.repeat(2000) },
    { id: '3', span_id: '3', root_span_id: '3', input: 3 },
  ])
  await service.insert('experiment', experiment, [
    { id: '1', span_id: '1', root_span_id: '1', _is_merge: true },
  ])
  client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${testKey}` } },
    }) as never,
  )
})
afterAll(async () => {
  await client.close()
  await service.stop()
})

interface Called {
  readonly isError: boolean
  readonly text: string
  readonly json: AnyJson
}

async function call(name: string, given: Record<string, unknown> = {}): Promise<Called> {
  const { content, isError } = await client.callTool({ name, arguments: given })
  const [part] = content as { text: string }[]
  const { text } = part!
  const json = text.startsWith('{') ? (JSON.parse(text) as AnyJson) : {}
  return { isError: isError === true, text, json }
}

test('all tools say that they only read', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'get_trace',
    'infer_schema',
    'list_sources',
    'run_query',
    'summarize_experiment',
    'validate_query',
  ])
  for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true })
})

test('sources are listed with the ids that queries name', async () => {
  const all = await call('list_sources')
  expect(all.json.projects).toMatchObject([
    { name: 'my project', experiments: [{ id: experiment, name: 'next' }, { name: 'base' }] },
  ])
  expect((await call('list_sources', { project: 'my project' })).json).toEqual(all.json)
  expect(await call('list_sources', { project: 'none' })).toMatchObject({ isError: true })
})

test('fields are described', async () => {
  const { text } = await call('infer_schema', { source: `experiment('${experiment}')` })
  expect(text).toContain('"model"')
})

test('a query is checked without running it', async () => {
  const right = await call('validate_query', {
    query: `select: id | from: experiment('${experiment}')`,
  })
  expect(right.json).toMatchObject({ valid: true, plan: expect.stringContaining('physical') })
  const wrong = await call('validate_query', {
    query: `select: idd | from: experiment('${experiment}')`,
  })
  expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('did you mean "id"') })
})

test('rows end at the caps', async () => {
  const query = `select: id, input | from: experiment('${experiment}') | sort: id`
  const whole = await call('run_query', { query })
  expect(whole.json).toMatchObject({ row_count: 3, truncated: false })
  const byRows = await call('run_query', { query, max_rows: 1 })
  expect(byRows.json).toMatchObject({ row_count: 1, truncated_by: 'rows', rows: [{ id: '1' }] })
  const byBytes = await call('run_query', { query, max_bytes: 1000 })
  expect(byBytes.json).toMatchObject({ row_count: 1, truncated_by: 'bytes' })
  expect(await call('run_query', { query, max_rows: 100_000 })).toMatchObject({ isError: true })
})

test('a trace is read whole', async () => {
  const { json } = await call('get_trace', {
    source: `experiment('${experiment}')`,
    root_span_id: '1',
  })
  expect(json.rows).toMatchObject([{ id: '2' }, { id: '1' }])
})

test('an experiment is summarized against its base', async () => {
  const { json } = await call('summarize_experiment', { experiment_id: experiment })
  expect(json).toMatchObject({
    experiment: 'next',
    base: 'base',
    scores: { s: { score: 1, diff: 0.5, improvements: 1, regressions: 0 } },
  })
  const unknown = await call('summarize_experiment', { experiment_id: 'x' })
  expect(unknown).toMatchObject({
    isError: true,
    text: expect.stringContaining('Missing read access'),
  })
})

test('without a key there is nothing, and there are no streams', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  expect((await service.request('/mcp', { key: null, body })).status).toBe(401)
  expect((await service.request('/mcp')).status).toBe(405)
  expect((await service.request('/mcp', { body: '{' })).status).toBe(400)
})
