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
    'compare_experiments',
    'generate_monitor_chart',
    'generate_permalink',
    'get_prompt',
    'get_trace',
    'get_trace_work_items',
    'infer_schema',
    'list_charts',
    'list_recent_objects',
    'list_sources',
    'resolve_object',
    'run_query',
    'search_docs',
    'sql_query',
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

const why = async (query: string, more: Record<string, unknown> = {}) => {
  const { json, text } = await call('run_query', { query, ...more })
  expect(json, text).toMatchObject({ row_count: 0, rows: [] })
  return String(json.why_empty)
}

test('a query without rows says why', async () => {
  const from = `from: experiment('${experiment}')`
  const of = (clauses: string) => why(`select: id | ${from} | ${clauses}`)
  expect(await of("filter: metadata.model = 'm2'")).toMatch(
    /^the source has 3 records, created from 2.* to 2.*; none passes metadata\.model = 'm2'$/,
  )
  expect(await of("filter: metadata.modle = 'm1' and input = 'a'")).toContain(
    "no record has a value at metadata.modle; none passes metadata.modle = 'm1'; 1 pass input = 'a'",
  )
  expect(await of("filter: input = 'a' and id = '3'")).toContain(
    "1 pass input = 'a'; 1 pass id = '3'; none passes all of these together",
  )
  expect(await of("filter: created < '2001-01-01'")).toContain('none passes created <')
  expect(await of('limit: 0')).toBe('the query asks for no rows: its limit is 0')
  expect(await of('offset: 10')).toContain('3 pass the filter, and its offset of 10 leaves none')
  expect(await of("filter: any_span(input = 'none')")).toContain('the source has 3 records')
  expect(
    await why(
      `SELECT metadata.model, count(*) AS n FROM experiment('${experiment}') GROUP BY 1 HAVING count(*) > 9`,
    ),
  ).toContain('3 pass the filter, and its condition on groups (final_filter, HAVING) leaves none')
  expect(await why("select: * | from: project_logs('my project')")).toContain(
    'the source is empty: there are no records in project_logs(',
  )
  expect(await why('select: * | from: project_logs()', { project: 'my project' })).toContain(
    'the source is empty',
  )
  expect(await why(`select: a | from: (select: id as a | ${from} | filter: id = 'x')`)).toContain(
    'the query in parentheses has no rows',
  )
})

test('tools that find nothing say so', async () => {
  const trace = { source: `experiment('${experiment}')`, root_span_id: 'none' }
  expect((await call('get_trace', trace)).text).toContain("none passes root_span_id = 'none'")
  expect((await call('infer_schema', { source: "project_logs('my project')" })).json).toMatchObject(
    {
      row_count: 0,
      why_empty: expect.stringContaining('the source is empty'),
    },
  )
  for (const [name, given] of [
    ['list_charts', { project: 'my project' }],
    ['list_recent_objects', { object_type: 'dataset' }],
    ['list_recent_objects', { object_type: 'prompt', project: 'my project' }],
    ['get_prompt', { project: 'my project', slug: 'none' }],
    ['search_docs', { query: 'xyzzy' }],
  ] as const) {
    expect([name, (await call(name, given)).json.why_empty]).toEqual([name, expect.any(String)])
  }
})

test('numbers keep their digits, and arguments that are not known are ignored', async () => {
  const id = await service.create('experiment', await service.project('digits'), 'digits')
  await service.request(`/v1/experiment/${id}/insert`, {
    body: '{"events":[{"id":"a","input":{"n":12345678901234567890,"x":1.10}}]}',
  })
  const query = `select: input | from: experiment('${id}')`
  for (const name of ['run_query', 'sql_query']) {
    const { text, isError } = await call(name, { query, max_tokens: 5, preview: true })
    expect([isError, text]).toEqual([false, expect.stringContaining('12345678901234567890')])
  }
})

test('objects are found by name, id and address, and have addresses', async () => {
  const project = (await service.request('/v1/project?project_name=my project')).json
  const projectId = (project.objects as unknown as { id: string }[])[0]!.id
  const named = await call('resolve_object', { object_type: 'experiment', object_name: 'next' })
  const url = `${service.url}/app/default/p/my%20project/experiments/next`
  expect(named.json).toEqual({
    object_type: 'experiment',
    object_id: experiment,
    object_name: 'next',
    project_id: projectId,
    project_name: 'my project',
    url,
  })
  expect((await call('resolve_object', { url })).json).toEqual(named.json)
  const byId = { object_type: 'experiment', object_id: experiment }
  expect((await call('resolve_object', byId)).json).toEqual(named.json)
  const row = await call('generate_permalink', { ...byId, row_id: 'a b' })
  expect(row.json.url).toBe(`${url}?row=a+b`)
  expect((await call('resolve_object', { url: row.json.url })).json).toMatchObject({
    row_id: 'a b',
  })
  const trace = { object_type: 'project_logs', object_id: projectId, root_span_id: 't' }
  expect((await call('generate_permalink', trace)).json.url).toBe(
    `${service.url}/app/default/p/my%20project/logs?trace=t`,
  )
  for (const given of [{ url: 'https://example.org/%' }, { object_name: 'x' }]) {
    expect(await call('resolve_object', given)).toMatchObject({ isError: true })
  }
  const other = { object_type: 'dataset', object_id: experiment }
  expect(await call('generate_permalink', other)).toMatchObject({
    isError: true,
    text: expect.stringContaining('Missing read access'),
  })
  const recent = await call('list_recent_objects', { object_type: 'experiment', limit: 1 })
  expect(recent.json).toMatchObject({ objects: [{ name: 'digits' }], truncated: true })
})

test('saved charts are listed, and run with their project; prompts are read', async () => {
  const project_id = await service.project('charts')
  const query = 'select: input | from: project_logs()'
  await service.request('/v1/view', {
    body: {
      object_type: 'project',
      object_id: project_id,
      view_type: 'monitor',
      name: 'all',
      view_data: { custom_charts: { query: { text: query } } },
    },
  })
  await service.insert('project_logs', project_id, [
    { id: 'a', input: 1, metadata: { model: 'm' } },
    { id: 'b', input: 2, metadata: { model: 'm' } },
  ])
  const { json } = await call('list_charts', { project: 'charts' })
  expect(json.charts).toMatchObject([
    { name: 'all', query, url: expect.stringContaining('/p/charts/query?q=select') },
  ])
  const rows = await call('run_query', { query, project: 'charts' })
  expect(rows.json).toMatchObject({ row_count: 2 })
  const chart = await call('generate_monitor_chart', {
    project: 'charts',
    measures: 'count(1) as n',
    group_by: 'metadata.model',
  })
  expect(chart.json).toMatchObject({ rows: [{ model: 'm', n: 2 }], url: expect.any(String) })
  const body = { project_id, name: 'P', slug: 'p', prompt_data: { options: { model: 'm' } } }
  await service.request('/v1/prompt', { body })
  expect((await call('get_prompt', { project: 'charts', slug: 'p' })).json.rows).toMatchObject([
    { slug: 'p', prompt_data: { options: { model: 'm' } } },
  ])
})

test('work of a trace is told in order, and experiments are compared', async () => {
  const project = await service.project('work')
  const id = await service.create('experiment', project, 'e')
  const base = await service.create('experiment', project, 'b')
  const span = (id: string, type: string, start: number) => ({
    id,
    span_id: id,
    root_span_id: 'r',
    span_parents: id === 'r' ? [] : ['r'],
    span_attributes: { type, name: id },
    metrics: { start, end: start + 1 },
  })
  await service.insert('experiment', id, [
    { ...span('r', 'eval', 0), input: 1, scores: { s: 1 } },
    span('second', 'tool', 2),
    span('first', 'llm', 1),
  ])
  await service.insert('experiment', base, [{ id: 'r', input: 1, scores: { s: 0 } }])
  const work = { source: `experiment('${id}')`, root_span_id: 'r' }
  expect((await call('get_trace_work_items', work)).json.rows).toMatchObject([
    { name: 'first', type: 'llm' },
    { name: 'second', type: 'tool' },
  ])
  const given = { base_experiment_id: base, experiment_ids: [id] }
  expect((await call('compare_experiments', given)).json).toMatchObject({
    base: { experiment: 'b' },
    experiments: [{ experiment: 'e', scores: { s: { score: 1, diff: 1, improvements: 1 } } }],
  })
})

test('the language is searched by words', async () => {
  const { json } = await call('search_docs', { query: 'percentile' })
  const [found] = json.results as unknown as AnyJson[]
  expect(found).toMatchObject({ name: 'percentile(number, p)', kind: 'function' })
})

test('without a key there is nothing, and there are no streams', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  expect((await service.request('/mcp', { key: null, body })).status).toBe(401)
  expect((await service.request('/mcp')).status).toBe(405)
  expect((await service.request('/mcp', { body: '{' })).status).toBe(400)
})
