/** What SDKs ask of the app side, with the exact keys that they need. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService, testKey } from '../../support/running-service.ts'

let service: RunningService

beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

async function post(path: string, body: object) {
  const { status, json, text } = await service.request(path, { body })
  return { status, json, text }
}

async function register(project: string, name?: string, more: object = {}) {
  const body = { project_name: project, experiment_name: name, org_id: null, ...more }
  const { json, text } = await post('/api/experiment/register', body)
  if (!json.experiment) throw new Error(text)
  return json.experiment
}

test('login by header with an empty body, and by a token in the body', async () => {
  const byHeader = await service.request('/api/apikey/login', { method: 'POST' })
  const byToken = await service.request('/api/apikey/login', {
    key: null,
    body: { token: testKey },
  })
  expect(byHeader.json).toEqual({
    org_info: [
      {
        id: expect.any(String),
        name: 'default',
        api_url: service.url,
        git_metadata: null,
        is_universal_api: null,
        proxy_url: service.url,
        realtime_url: null,
      },
    ],
  })
  expect(byToken.json).toEqual(byHeader.json)
  for (const key of ['wrong', null]) {
    const { status } = await service.request('/api/apikey/login', { key, method: 'POST' })
    expect(status).toBe(401)
  }
})

test('a key is for one organization', async () => {
  const body = { project_name: 'p', org_id: '00000000-0000-4000-8000-000000000000' }
  expect((await post('/api/project/register', body)).status).toBe(403)
})

test('a project is registered once, and found by id and name', async () => {
  const first = await post('/api/project/register', { project_name: 'once', org_id: null })
  const again = await post('/api/project/register', { project_name: 'once' })
  const { project } = first.json
  expect(again.json.project).toEqual(project)
  const id = String(project?.id)
  expect((await service.request(`/api/project?id=${id}`)).json).toEqual(project)
  expect((await post('/api/project/get', { id })).json).toEqual([project])
  expect((await post('/api/project/get', { name: 'other' })).json).toEqual([])
})

test('without update a taken name gets an ending of its own, with update it is the one', async () => {
  const first = await register('names', 'e')
  const second = await register('names', 'e')
  const updated = await register('names', 'e', { update: true, description: 'ignored' })
  expect(first.name).toBe('e')
  expect(second.name).toMatch(/^e-[0-9a-f]{8}$/)
  expect(updated).toEqual(first)
})

test('an experiment without a name is named after its branch', async () => {
  const repo_info = { commit: 'abc', branch: 'main' }
  const made = await register('git', undefined, { repo_info })
  expect(made).toMatchObject({
    name: expect.stringMatching(/^main-\d{10}$/),
    commit: 'abc',
    repo_info,
  })
})

test('the base is what was named, else the nearest commit, else the experiment before', async () => {
  const repo_info = { commit: 'c1' }
  const first = await register('bases', 'first', { repo_info })
  const second = await register('bases', 'second')
  const named = await register('bases', 'named', { base_experiment: 'second' })
  const near = await register('bases', 'near', { ancestor_commits: ['c0', 'c1'] })
  const base = (id: unknown) => post('/api/base_experiment/get_id', { id: String(id) })
  expect((await base(first.id)).status).toBe(400)
  expect((await base(second.id)).json).toEqual({
    id: second.id,
    project_id: second.project_id,
    name: 'second',
    base_exp_id: first.id,
    base_exp_name: 'first',
  })
  expect((await base(named.id)).json.base_exp_name).toBe('second')
  expect((await base(near.id)).json.base_exp_name).toBe('first')
  expect((await base('no-uuid')).status).toBe(400)
  const unknown = await post('/api/experiment/register', {
    project_name: 'bases',
    experiment_name: 'x',
    base_experiment: 'nowhere',
  })
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('base experiment')])
})

test('an experiment that is not there is an empty list', async () => {
  const made = await register('open', 'here')
  const get = (experiment_name: string) =>
    post('/api/experiment/get', { project_name: 'open', org_name: 'default', experiment_name })
  expect((await get('here')).json).toEqual([made])
  expect((await get('gone')).json).toEqual([])
})

test('a dataset says whether it was there', async () => {
  const body = { project_name: 'data', dataset_name: 'd', description: 'x', org_id: null }
  const first = (await post('/api/dataset/register', body)).json
  const second = (await post('/api/dataset/register', body)).json
  expect([first.found_existing, second.found_existing]).toEqual([false, true])
  expect(second.dataset).toEqual(first.dataset)
  const id = String(first.dataset?.id)
  const info = await post('/api/self/get_object_info', {
    object_type: 'dataset',
    object_ids: [id, '00000000-0000-4000-8000-000000000000'],
  })
  expect(info.json).toMatchObject([
    { object_id: id, object_name: 'd', parent_cols: { project: { name: 'data' } } },
  ])
})

test('a snapshot names a version, which a dataset can be put back to', async () => {
  const made = await post('/api/dataset/register', { project_name: 'data', dataset_name: 'snap' })
  const id = String(made.json.dataset?.id)
  await service.insert('dataset', id, [
    { id: 'kept', input: 1 },
    { id: 'edited', input: 2 },
  ])
  const version = (await service.request('/xact-id')).text
  const body = { dataset_id: id, dataset_snapshot_name: 'v1', xact_id: version }
  const { dataset_snapshot } = (await post('/api/dataset_snapshot/register', body)).json
  expect(dataset_snapshot).toEqual({
    id: expect.any(String),
    dataset_id: id,
    name: 'v1',
    description: null,
    xact_id: version,
    created: expect.any(String),
  })
  await service.insert('dataset', id, [
    { id: 'edited', input: 3 },
    { id: 'added', input: 4 },
  ])
  const preview = await post(`/v1/dataset/${id}/restore/preview`, { version })
  expect(preview.json).toEqual({ rows_to_restore: 1, rows_to_delete: 1 })
  const restored = await post(`/v1/dataset/${id}/restore`, { version })
  expect(restored.json).toEqual({
    xact_id: expect.stringMatching(/^\d{19}$/),
    rows_restored: 1,
    rows_deleted: 1,
  })
  const { json } = await service.query(`select: id, input | from: dataset('${id}') | sort: id`)
  expect(json.data).toEqual([
    { id: 'edited', input: 2 },
    { id: 'kept', input: 1 },
  ])
  expect((await post(`/v1/dataset/${id}/restore`, { version })).json).toMatchObject({
    xact_id: null,
  })
  const summary = await service.request(`/dataset-summary?dataset_id=${id}`)
  expect(summary.json).toEqual({ total_records: 2 })
})

test('a comparison has exactly the keys that clients make objects of', async () => {
  const base = await register('compare', 'base')
  const next = await register('compare', 'next')
  const write = (id: unknown, events: object[]) => service.insert('experiment', String(id), events)
  const usage = (start: number, tokens: number) => ({ start, end: start + 1, tokens })
  await write(base.id, [
    { id: '1', input: 'a', scores: { s: 0.5, old: 1 }, metrics: usage(0, 10) },
    { id: '2', input: 'b', scores: { s: 1 } },
  ])
  await write(next.id, [
    { id: '1', input: 'a', scores: { s: 1 }, metrics: usage(5, 4) },
    { id: '2', input: 'b' },
    { id: '3', input: 'b', scores: { s: 0, none: null }, span_parents: ['2'], root_span_id: '2' },
    { id: '4', input: 'c' },
  ])
  const path = '/experiment-comparison2'
  const ids = `experiment_id=${next.id}&base_experiment_id=${base.id}`
  const { json } = await service.request(`${path}?${ids}`)
  expect(json.scores).toEqual({
    s: { name: 's', score: 0.5, diff: -0.25, improvements: 1, regressions: 0 },
  })
  expect(json.metrics?.total_tokens).toEqual({
    name: 'total_tokens',
    metric: 4,
    unit: 'tok',
    diff: -6,
    improvements: 1,
    regressions: 0,
  })
  expect(Object.keys(json.metrics ?? {})).not.toContain('start')
  const alone = await service.request(`${path}?experiment_id=${base.id}`)
  expect(alone.json.scores?.s).toEqual({ name: 's', score: 0.75, improvements: 0, regressions: 0 })
})

test('functions are published by slug, and environments are given versions of them', async () => {
  const { json } = await post('/api/project/register', { project_name: 'functions' })
  const project_id = String(json.project?.id)
  const publish = (name: string, more: object = {}) =>
    post('/insert-functions', {
      functions: [
        { project_id, name, slug: 's', function_data: { type: 'prompt' }, origin_line: 3, ...more },
      ],
    })
  const first = await publish('one')
  expect(first.json).toMatchObject({
    functions: [{ slug: 's', found_existing: false }],
    ignored_count: 0,
  })
  const id = String(first.json.functions?.[0]?.id)
  expect((await publish('two')).status).toBe(400)
  expect((await publish('two', { if_exists: 'ignore' })).json).toMatchObject({ ignored_count: 1 })
  await post('/environment', { name: 'Production', slug: 'production' })
  const environments = [{ slug: 'production' }]
  const third = await publish('three', { if_exists: 'replace', environments })
  await publish('four', { if_exists: 'replace' })
  const read = async (query = '') => (await service.request(`/v1/prompt/${id}${query}`)).json.name
  expect(await read()).toBe('four')
  expect(await read('?environment=production')).toBe('three')
  const path = `/environment-object/prompt/${id}`
  const assigned = await service.request(`${path}/production`)
  expect(assigned.json).toMatchObject({ object_version: third.json.functions?.[0]?._xact_id })
  const body = { object_version: first.json.functions?.[0]?._xact_id, org_name: 'default' }
  await service.request(`${path}/production`, { method: 'PUT', body })
  expect(await read('?environment=production')).toBe('one')
  expect((await service.request(path)).json.objects).toHaveLength(1)
  await service.request(`${path}/production`, { method: 'DELETE' })
  expect((await service.request(`${path}/production`)).status).toBe(400)
  expect((await post('/function/invoke', { function_id: id })).status).toBe(501)
})

test('the code of a function is uploaded', async () => {
  const { json } = await post('/function/code', { org_id: null, runtime_context: {} })
  expect(json.bundleId).toMatch(/^[0-9a-f-]{36}$/)
  const upload = await fetch(String(json.url), { method: 'PUT', body: 'export default 1' })
  expect(upload.status).toBe(200)
})

test('an automation is registered, registered again with changes, and patched', async () => {
  const project_id = await service.project('automated')
  const config = { event_type: 'topic', sampling_rate: 1, btql_filter: 'a = 1' }
  const body = { project_id, project_automation_name: 'Topics', description: 'd', config }
  const path = '/api/project_automation'
  const { json } = await post(`${path}/register`, body)
  expect(json.project_automation).toMatchObject({ name: 'Topics', description: 'd', config })
  const half = { ...body, config: { ...config, sampling_rate: 0.5 } }
  const again = await post(`${path}/register`, half)
  expect(again.json).toMatchObject({ ...json, found_existing: true })
  const updated = await post(`${path}/register`, { ...half, update: true })
  expect(updated.json.project_automation?.config).toMatchObject({ sampling_rate: 0.5 })

  const id = json.project_automation?.id
  const { btql_filter: _, ...unfiltered } = config
  const patched = await post(`${path}/patch_id`, { id, name: 'T', config: unfiltered })
  expect(patched.json).toMatchObject({ id, name: 'T', description: 'd' })
  expect(patched.json.config).toEqual(unfiltered)
  const listed = await service.request(`/v1/project_automation?project_id=${project_id}`)
  expect(listed.json.objects).toEqual([patched.json])
})

test('what is known of secrets for providers is listed without them', async () => {
  const secret = 'sk-provider-0123456789'
  await service.request('/v1/ai_secret', { body: { name: 'OPENAI_API_KEY', secret } })
  const { json, text } = await post('/api/ai_secret/get', { org_name: 'default' })
  expect(json).toMatchObject([{ name: 'OPENAI_API_KEY', secret_updated_at: expect.any(String) }])
  expect(text).not.toContain(secret)
  const other = await post('/api/ai_secret/get', { org_id: randomUUID() })
  expect(other.status).toBe(403)
})

test('playgrounds are listed, found by name, renamed and removed', async () => {
  const project_id = await service.project('played')
  const body = { project_id, name: 'First' }
  const { json: made } = await service.request('/v1/prompt_session', { body })
  const action = async (name: string, more: object = {}) => {
    const function_args = { org_name: 'default', project_name: 'played', ...more }
    const auth_info = { org_name: 'default' }
    return (await post(`/api/actions/${name}`, { auth_info, function_args })).text
  }
  const shown = { id: made.id, name: 'First', created: made.created, project_id }
  expect(JSON.parse(await action('getPromptSessionSummary'))).toEqual([shown])
  const meta = async (playground: string) =>
    JSON.parse(await action('getPromptSessionMeta', { playground }))
  expect(await meta('First')).toEqual(shown)
  await post('/api/prompt_session/patch_id', { id: made.id, name: 'Second' })
  expect(await meta('First')).toBeNull()
  expect(await meta('Second')).toMatchObject({ id: made.id })
  await post('/api/prompt_session/delete_id', { id: made.id })
  expect(JSON.parse(await action('getPromptSessionSummary'))).toEqual([])
})
