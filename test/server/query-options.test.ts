import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let experiment: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
  experiment = await service.create('experiment', project)
  await service.insert('experiment', experiment, [
    { id: 'a', root_span_id: 't1', input: 'x' },
    { id: 'b', root_span_id: 't1' },
    { id: 'c', root_span_id: 't2', metadata: { model: 'm' } },
  ])
  await service.insert('project_logs', project, [{ id: 'log', input: 'logged' }])
})
afterAll(() => service.stop())

const spans = (clauses: string) => `${clauses} | from: experiment('${experiment}')`
const logs = (clauses: string) => `${clauses} | from: project_logs('${project}')`

/** Codes and severities of the warnings of an answer, which must not be an error. */
async function warningsOf(query: string, more: object = {}): Promise<unknown> {
  const { status, json, text } = await service.query(query, more)
  if (status !== 200) throw new Error(text)
  const warnings = json.warnings as unknown as { code: string; severity: string }[] | undefined
  return warnings?.map(({ code, severity }) => `${severity} ${code}`)
}

test('options of the published schema are accepted, with or without effect', async () => {
  const more = {
    api_version: 1,
    use_brainstore: true,
    brainstore_realtime: true,
    brainstore_skip_backfill_check: false,
    brainstore_ephemeral_wal: false,
    disable_limit: true,
    force_push_limit: false,
    relaxed_search_mode: false,
    overflow_results: false,
    expected_cost: 3,
    lint_mode: 'default',
    strict_lint_mode: false,
    query_timeout_seconds: 120,
    query_source: 'test',
    client_version: '1',
  }
  expect(await warningsOf(spans('select: id'), more)).toBeUndefined()
  const scope = { custom_column_scope: { object_type: 'project', object_id: 'p' } }
  expect(await warningsOf(spans('select: id'), scope)).toEqual(['info optionWithoutEffect'])
})

test('inference_depth says how deep objects are looked into', async () => {
  const fieldsAt = async (depth: number) => {
    const { json } = await service.query(spans('infer: metadata'), { inference_depth: depth })
    const rows = json.data as unknown as { field: string }[]
    return rows.map(({ field }) => field)
  }
  expect(await fieldsAt(0)).toEqual(['metadata'])
  expect(await fieldsAt(1)).toContain('metadata.model')
})

test('an option that is unknown is told, with the one that may be meant', async () => {
  const { json } = await service.query(spans('select: id'), { tz_ofset: 60 })
  expect(json.warnings).toEqual([
    {
      code: 'unknownOption',
      message: 'the request has an option that is unknown: tz_ofset',
      stage: 'request',
      severity: 'warning',
      hint: 'did you mean tz_offset?',
    },
  ])
})

test.each([
  [{ api_version: 'x' }, 'api_version', 'REQUEST_INVALID'],
  [{ brainstore_realtime: 1 }, 'brainstore_realtime', 'REQUEST_INVALID'],
  [{ custom_column_scope: 'x' }, 'custom_column_scope', 'REQUEST_INVALID'],
  [{ scope_to_root_span_id: 1 }, 'scope_to_root_span_id', 'REQUEST_INVALID'],
  [{ query_timeout_seconds: '9' }, 'query_timeout_seconds', 'REQUEST_INVALID'],
  [{ query_timeout_seconds: 0 }, 'query_timeout_seconds', 'BIND_INVALID_OPTION'],
  [{ lint_mode: 'loud' }, 'lint_mode', 'BIND_INVALID_OPTION'],
])('%j is refused at %s', async (more, path, code) => {
  const { status, json } = await service.query(spans('select: id'), more)
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code, path })
})

test('a query is narrowed to one trace, whatever else it asks for', async () => {
  const ids = async (query: string) => {
    const { json } = await service.query(query, { scope_to_root_span_id: 't1' })
    return (json.data as unknown as { id: string }[]).map(({ id }) => id)
  }
  expect(await ids(spans('select: id'))).toEqual(['b', 'a'])
  expect(await ids(spans("select: id | filter: id = 'a' or id = 'c'"))).toEqual(['a'])
  expect(await ids(`select: id | from: (${spans('select: id, root_span_id')})`)).toEqual(['b', 'a'])
})

test('a query that takes too long ends with its own status', async () => {
  const query = spans('measures: count(1) as n')
  const { status, json } = await service.query(query, { query_timeout_seconds: 1e-6 })
  expect(status).toBe(504)
  expect(json).toMatchObject({ Code: 'GatewayTimeoutError', error: { code: 'QUERY_TIMEOUT' } })
})

test('an answer tells in a header how the query ran', async () => {
  const plan = async (query: string) => (await service.query(query)).headers.get('x-bt-query-plan')
  expect(await plan(spans('select: id | sort: id | limit: 5'))).toBe(
    '1 objects: scan > sort > limit 5',
  )
  expect(await plan(spans("select: input | filter: id = 'a'"))).toBe('1 objects: look up 1')
})

test('logs without a range of time are warned of; strict mode refuses them', async () => {
  const wide = logs('select: id')
  const { json } = await service.query(wide)
  expect(json.warnings).toMatchObject([
    { code: 'missingSegmentEliminationSpecs', stage: 'optimizer', severity: 'warning' },
  ])
  for (const strict of [{ lint_mode: 'strict' }, { strict_lint_mode: true }]) {
    const refused = await service.query(wide, strict)
    expect(refused.status).toBe(400)
    expect(refused.json.error.code).toBe('LINT_FAILED')
    expect(refused.json.Message).toContain(
      'Query blocked by strict lint mode due to 1 lint: missingSegmentEliminationSpecs (optimizer/warning): ',
    )
  }
  expect(await warningsOf(wide, { lint_mode: 'off' })).toBeUndefined()
  expect(await warningsOf(spans('select: id'), { lint_mode: 'strict' })).toBeUndefined()
})

test.each([
  ["created > '2024-01-01'"],
  ["_xact_id >= '1000196129554423269'"],
  ["id = 'log'"],
  ["root_span_id in ['a', 'b']"],
  ["created > now() - interval 7 day and input = 'x'"],
  ["id = 'log' or created > '2024-01-01'"],
  ["any_span(created > '2024-01-01')"],
  ["created between '2024-01-01' and '2030-01-01'"],
])('logs are narrow enough with %s', async (filter) => {
  const query = logs(`select: id | filter: ${filter}`)
  expect(await warningsOf(query, { lint_mode: 'strict' })).toBeUndefined()
})

test.each([
  ["input = 'x' or created > '2024-01-01'"],
  ["created != '2024-01-01'"],
  ["not (id = 'x')"],
  ["metadata.created = 'x'"],
])('logs are too wide with %s', async (filter) => {
  const query = logs(`select: id | filter: ${filter}`)
  expect(await warningsOf(query)).toContain('warning missingSegmentEliminationSpecs')
})

test.each([
  ['select: *', 'info fullSpanDocuments'],
  ['select: id, input', 'info fullSpanDocuments'],
  ["select: id | filter: coalesce(input, output) = 'x'", 'info filterPushdown'],
  ["select: id | filter: input like '%x'", 'info leadingWildcard'],
])('%s: %s', async (clauses, warning) => {
  expect(await warningsOf(spans(clauses), { lint_mode: 'strict' })).toEqual([warning])
})

test.each([
  ["select: id | filter: search('?!')"],
  ["select: id | filter: any_span(input match '')"],
  ["select: id, input match ' . ' as found"],
])('a search for nothing is told: %s', async (clauses) => {
  const { json } = await service.query(spans(clauses))
  expect(json.warnings).toEqual([expect.objectContaining({ code: 'nothingToLookFor' })])
  expect(await warningsOf(spans(clauses))).toEqual(['warning nothingToLookFor'])
})

test.each([
  ["select: id | filter: search('→')"],
  ['select: id | filter: input match null'],
  ['select: * | limit: 10'],
  ["select: * | filter: id = 'a'"],
  ["select: id | filter: input = 'x' and is_root"],
  ["select: id | filter: input like 'x%'"],
  ['dimensions: input | measures: count(1)'],
])('nothing is said of %s', async (clauses) => {
  expect(await warningsOf(spans(clauses))).toBeUndefined()
})

test('all faults of a text are told at once', async () => {
  const query = spans('select: id, (1 + | filter: id = | limit: x')
  const { status, json } = await service.query(query)
  expect(status).toBe(400)
  const { errors } = json.error as unknown as { errors: { line: number; column: number }[] }
  expect(errors.length).toBeGreaterThan(1)
  expect(errors[0]).toEqual({
    code: expect.stringMatching(/^PARSE_/),
    message: expect.any(String),
    line: 1,
    column: expect.any(Number),
    endLine: 1,
    endColumn: expect.any(Number),
  })
  expect(String(json.Message).split('PARSE_').length - 1).toBe(errors.length)
})

test('all faults of an object are told at once, each with its place in it', async () => {
  const field = { op: 'ident', name: ['id'] }
  const query = { select: [field], measures: [field], infer: [field], final_measures: [field] }
  const { status, json } = await service.request('/btql', {
    body: { query: { ...query, from: `project_logs('${project}')` } },
  })
  expect(status).toBe(400)
  const { errors, ...first } = json.error as unknown as { errors: object[] }
  expect(first).toMatchObject({ code: 'PARSE_CONFLICTING_CLAUSES', path: 'query.select[0]' })
  expect(errors).toEqual([
    expect.objectContaining({ path: 'query.select[0]' }),
    expect.objectContaining({ path: 'query.measures[0]' }),
  ])
  expect(String(json.Message)).toMatch(/select\[0\].*\n.*measures\[0\]/)
})

test('with audit_log the rows of prompts are their versions, and the log stands beside them', async () => {
  const id = '5f0c9b3e-0000-4000-8000-000000000001'
  const write = (row: object) =>
    service.request('/logs3', {
      body: { rows: [{ id, project_id: project, log_id: 'p', slug: 's', ...row }] },
    })
  await write({ name: 'first' })
  await write({ name: 'second', _is_merge: true })
  const query = {
    select: [{ op: 'star' }],
    from: {
      op: 'function',
      name: { op: 'ident', name: ['project_prompts'] },
      args: [{ op: 'literal', value: project }],
    },
    filter: { op: 'eq', left: { op: 'ident', name: ['id'] }, right: { op: 'literal', value: id } },
  }
  const ask = (more: object) => service.request('/btql', { body: { query, ...more } })
  const { json } = await ask({ audit_log: true })
  expect(json.data).toMatchObject([
    { name: 'second', audit_data: { action: 'merge' } },
    { name: 'first', audit_data: { action: 'upsert' } },
  ])
  expect(json.data?.[0]?._xact_id).not.toBe(json.data?.[1]?._xact_id)
  expect(json.audit_log).toContainEqual(expect.objectContaining({ event: 'plan' }))
  expect((await ask({})).json.data).toMatchObject([{ name: 'second', audit_data: null }])
})
