import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

/** Clients that are newer than the service send what it does not know. */

let service: RunningService
let project: string
beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

const ignoredBy = ({ headers }: { headers: Headers }) => headers.get('x-assay-ignored-fields')

test('a field that is not known is kept by what has room for it, and found again', async () => {
  const body = { project_id: project, name: 'newer', org_name: 'x', something_new: { a: [1] } }
  const made = await service.request('/v1/dataset', { body })
  expect([made.status, made.json.something_new]).toEqual([200, { a: [1] }])
  expect(made.json.org_name).toBeUndefined()
  expect(ignoredBy(made)).toBe('org_name')
  const path = `/v1/dataset/${String(made.json.id)}`
  const patched = await service.request(path, {
    method: 'PATCH',
    body: { something_new: { b: 2 }, later: true },
  })
  expect(patched.json).toMatchObject({ something_new: { a: [1], b: 2 }, later: true })
  expect(ignoredBy(patched)).toBeNull()
  service = await service.restart()
  expect((await service.request(path)).json).toEqual(patched.json)
  const list = await service.request(`/v1/dataset?project_id=${project}&dataset_name=newer`)
  expect(list.json.objects).toEqual([patched.json])
})

test('a field that says what an entry is or where is not taken from who may not say so', async () => {
  const id = '00000000-0000-4000-8000-000000000001'
  const body = { id, name: 'own id', deleted_at: 'yes', user_id: id, org_id: id, created: 'then' }
  const { json, ...made } = await service.request('/v1/project', { body })
  expect(json).toMatchObject({ name: 'own id', deleted_at: null })
  expect([json.id, json.user_id, json.org_id]).not.toContain(id)
  expect(ignoredBy(made)).toBe('id, deleted_at, user_id, org_id, created')
})

test('PUT, which replaces, takes away what it does not have', async () => {
  const body = { project_id: project, name: 'replaced', newer: 1 }
  await service.request('/v1/project_tag', { body })
  const { json } = await service.request('/v1/project_tag', {
    method: 'PUT',
    body: { project_id: project, name: 'replaced', newest: 2 },
  })
  expect(json).toMatchObject({ newest: 2 })
  expect(json).not.toHaveProperty('newer')
})

test('names of all kinds are names of fields', async () => {
  const given = { constructor: 1, prototype: 2, toString: 3, ['__proto__']: 4, '': 5, 'ü\n': 6 }
  const text = JSON.stringify({ project_id: project, name: 'names', ...given })
  expect(text).toContain('__proto__')
  const made = await service.request('/v1/experiment', { body: text })
  const read = await service.request(`/v1/experiment/${String(made.json.id)}`)
  for (const [name, value] of Object.entries(given)) {
    expect(JSON.parse(read.text)).toHaveProperty([name], value)
  }
})

test('what is unknown in forms within an entry is kept, also a form that came later', async () => {
  const config = {
    event_type: 'windowed',
    window: { window_seconds: 3600, schedule: { cron_expression: '0 * * * *', timezone: 'UTC' } },
    threshold: { policy: { condition: { operator: 'gt', value: 1 }, pending_seconds: 60 } },
    actions: [{ type: 'pager', service: 'x' }],
    product_origin: 'patterns',
  }
  const automation = await service.request('/v1/project_automation', {
    body: { project_id: project, name: 'windowed', config },
  })
  expect([automation.status, automation.json.config]).toEqual([200, config])
  const logs = {
    event_type: 'logs',
    btql_filter: 'true',
    interval_seconds: 60,
    action: { type: 'teams', url: 'https://example.org', mention: true },
    severity: 'high',
  }
  const path = `/v1/project_automation/${String(automation.json.id)}`
  const patched = await service.request(path, { method: 'PATCH', body: { config: logs } })
  expect(patched.json.config).toEqual(logs)
  const settings = { comparison_key: 'input', spanFieldOrder: [], alerts: { on: true } }
  const set = await service.request(`/v1/project/${project}`, {
    method: 'PATCH',
    body: { settings },
  })
  expect(set.json.settings).toEqual(settings)
  const score = await service.request('/v1/project_score', {
    body: { project_id: project, name: 's', score_type: 'stars', config: { stars: 5 } },
  })
  expect(score.json).toMatchObject({ score_type: 'stars', config: { stars: 5 } })
  const function_data = { type: 'workflow', steps: [{ id: 1 }] }
  const made = await service.request('/v1/function', {
    body: {
      project_id: project,
      name: 'f',
      slug: 'f',
      function_type: 'planner',
      function_data,
      prompt_data: { parser: { type: 'regex', pattern: 'x' }, template_format: 'jinja' },
      cadence: 'daily',
    },
  })
  expect(made.json).toMatchObject({
    function_type: 'planner',
    function_data,
    prompt_data: { parser: { type: 'regex', pattern: 'x' }, template_format: 'jinja' },
    cadence: 'daily',
  })
})

test('a form that is known is still held to what it is', async () => {
  const refused = async (config: object) => {
    const body = { project_id: project, name: 'wrong', config }
    const { status, json } = await service.request('/v1/project_automation', { body })
    return [status, json.error?.path]
  }
  const action = { type: 'webhook', url: 'https://example.org' }
  const logs = { event_type: 'logs', btql_filter: 'true', interval_seconds: 60, action }
  expect(await refused({ ...logs, btql_filter: 1 })).toEqual([400, 'config.btql_filter'])
  expect(await refused({ ...logs, action: { type: 'webhook' } })).toEqual([
    400,
    'config.action.url',
  ])
  expect(await refused({ ...logs, action: { type: 1 } })).toEqual([400, 'config.action.type'])
  expect(await refused({})).toEqual([400, 'config.event_type'])
  const body = { object_type: 'project', object_id: project, view_type: 'logs', name: 'wrong' }
  for (const [options, path] of [
    [{ viewType: 'monitor', options: { tzUTC: 1 } }, 'options.options.tzUTC'],
    [{ columnOrder: 'x' }, 'options.columnOrder'],
  ]) {
    const { status, json } = await service.request('/v1/view', { body: { ...body, options } })
    expect([status, json.error?.path]).toEqual([400, path])
  }
})

test('a view has stars, a description and the time of its last change', async () => {
  const owner = { object_type: 'project', object_id: project }
  const options = { queryShape: 'topics', density: 'compact' }
  const body = {
    ...owner,
    view_type: 'topics',
    name: 'v',
    starred: true,
    description: 'd',
    options,
  }
  const made = await service.request('/v1/view', { body })
  expect(made.json).toMatchObject({ starred: true, description: 'd', options, updated_at: null })
  const path = `/v1/view/${String(made.json.id)}`
  const patched = await service.request(path, {
    method: 'PATCH',
    body: { ...owner, starred: false, pinned_by: ['x'] },
  })
  expect(patched.json).toMatchObject({ starred: false, description: 'd', pinned_by: ['x'] })
  expect(String(patched.json.updated_at)).toMatch(/^\d{4}-.*Z$/)
})

test('answers for prompts keep to what old clients allow, and the record has the rest', async () => {
  const body = { project_id: project, name: 'p', slug: 'p', newer: { a: 1 } }
  const made = await service.request('/v1/prompt', { body })
  expect(made.status).toBe(200)
  expect(made.json).not.toHaveProperty('newer')
  const path = `/v1/prompt/${String(made.json.id)}`
  const patched = await service.request(path, { method: 'PATCH', body: { newer: { b: 2 } } })
  expect(Object.keys(patched.json)).toEqual(Object.keys(made.json))
  const query = `select: further_fields | from: project_prompts('${project}') | filter: slug = 'p'`
  const rows = await service.request('/btql', { body: { query } })
  expect(rows.json.data).toEqual([{ further_fields: { newer: { a: 1, b: 2 } } }])
})

test('rights, roles, keys and secrets keep nothing that is unknown, and say so', async () => {
  const role = await service.request('/v1/role', {
    body: { name: 'r', newer: 1, member_permissions: [{ permission: 'read', until: 'x' }] },
  })
  expect(role.json).not.toHaveProperty('newer')
  expect(role.json.member_permissions).toEqual([{ permission: 'read' }])
  expect(ignoredBy(role)).toBe('newer, member_permissions[0].until')
  const group = await service.request('/v1/group', { body: { name: 'g' } })
  const acl = await service.request('/v1/acl', {
    body: {
      object_type: 'project',
      object_id: project,
      group_id: group.json.id,
      permission: 'read',
      condition: 'x',
    },
  })
  expect([acl.status, ignoredBy(acl)]).toEqual([200, 'condition'])
  const key = await service.request('/v1/api_key', { body: { name: 'k', scopes: ['read'] } })
  expect([key.status, ignoredBy(key)]).toEqual([200, 'scopes'])
  const secret = await service.request('/v1/ai_secret', {
    body: { name: 's', secret: 'x', second_secret: 'hidden' },
  })
  expect(secret.text).not.toContain('hidden')
  expect(ignoredBy(secret)).toBe('second_secret')
})

test('parameters that are not known are named', async () => {
  const list = await service.request(`/v1/project?limit=1&include_archived=true`)
  expect([list.status, ignoredBy(list)]).toEqual([200, 'include_archived'])
  const fetched = await service.request(`/v1/project_logs/${project}/fetch?limit=1&newer=1`)
  expect([fetched.status, ignoredBy(fetched)]).toEqual([200, 'newer'])
  const events = await service.request(`/v1/project_logs/${project}/fetch`, {
    body: { limit: 1, newer: 1 },
  })
  expect([events.status, ignoredBy(events)]).toEqual([200, 'newer'])
})

test('the routes of the app, of queries, records and feedback ignore what they do not know', async () => {
  const cases: [path: string, body: object, ignored: string | null][] = [
    ['/api/project/register', { project_name: 'p', newer: 1 }, 'newer'],
    ['/api/experiment/register', { project_name: 'p', experiment_name: 'e', newer: 1 }, 'newer'],
    ['/api/dataset/register', { project_name: 'p', dataset_name: 'd', newer: 1 }, 'newer'],
    ['/btql', { query: `select: id | from: project_logs('${project}')`, newer: 1 }, 'newer'],
    ['/btql/check', { query: `select: id | from: project_logs('${project}')`, newer: 1 }, 'newer'],
    ['/search', { text: 'x', source: `project_logs('${project}')`, newer: 1 }, 'newer'],
    [`/v1/project_logs/${project}/feedback`, { feedback: [], newer: 1 }, 'newer'],
    ['/v1/insert', { project_logs: {}, newer: 1 }, 'newer'],
    [`/v1/project_logs/${project}/insert`, { newer: [{ a: 1 }], events: [{ id: 'a' }] }, null],
    ['/logs3', { api_version: 3, newer: {}, rows: [{ project_id: project, log_id: 'g' }] }, null],
  ]
  for (const [path, body, ignored] of cases) {
    const answer = await service.request(path, { body })
    expect([path, answer.status, ignoredBy(answer)]).toEqual([path, 200, ignored])
  }
})

test('what is named in a header is plain, and not long', async () => {
  const names = [
    '\r\nset-cookie: x',
    'ü',
    'x'.repeat(1000),
    ...Array.from(Array(30).keys(), (n) => `f${n}`),
  ]
  const body = { name: 'k', ...Object.fromEntries(names.map((name) => [name, 1])) }
  const { status, headers } = await service.request('/v1/api_key', { body })
  const ignored = headers.get('x-assay-ignored-fields') ?? ''
  expect([status, headers.get('set-cookie')]).toEqual([200, null])
  expect(ignored).toContain('%0d%0aset-cookie%3a%20x, %c3%bc')
  expect(ignored).toContain(', and 13 more')
  expect(ignored.length).toBeLessThan(1000)
})

test('numbers in what is kept have their digits, after changes and restarts', async () => {
  const body = `{"name":"digits","newer":9007199254740993,"deep":{"a":[1.10,1e400]}}`
  const made = await service.request('/v1/project', { body })
  const path = `/v1/project/${String(made.json.id)}`
  await service.request(path, { method: 'PATCH', body: '{"deep":{"b":12345678901234567890}}' })
  service = await service.restart()
  const { text } = await service.request(path)
  for (const digits of ['"newer":9007199254740993', '[1.10,1e400]', '"b":12345678901234567890']) {
    expect(text).toContain(digits)
  }
})

test('what is kept has a longest text', async () => {
  const body = { name: 'long', newer: 'x'.repeat(2 ** 20) }
  const { status, json } = await service.request('/v1/project', { body })
  expect([status, json.error?.path]).toEqual([400, 'newer'])
})

test('automations are registered, found and changed as the command line does it', async () => {
  const topic = { event_type: 'topic', sampling_rate: 1, facet_functions: [], newer: true }
  const body = { project_id: project, project_automation_name: 'Topics', config: topic }
  const register = (more: object = {}) =>
    service.request('/api/project_automation/register', { body: { ...body, ...more } })
  const made = await register({ update: true })
  expect(made.json).toMatchObject({
    project_automation: { name: 'Topics', config: topic },
    found_existing: false,
  })
  const config = { event_type: 'topic', sampling_rate: 0.5 }
  expect((await register({ config })).json).toMatchObject({
    project_automation: { config: topic },
    found_existing: true,
  })
  expect((await register({ config, update: true, description: 'd' })).json).toMatchObject({
    project_automation: { config, description: 'd' },
  })
  const id = made.json.project_automation?.id
  const patched = await service.request('/api/project_automation/patch_id', {
    body: { id, config: { ...config, sampling_rate: 0.1 } },
  })
  expect(patched.json).toMatchObject({ id, config: { event_type: 'topic', sampling_rate: 0.1 } })
  const found = await service.request('/api/project_automation/get', {
    body: { project_id: project, name: 'Topics' },
  })
  expect(found.json).toEqual([patched.json])
})

test('what would run on a service of the product says that nothing runs here', async () => {
  for (const path of [
    '/brainstore/automation/get-cursors',
    '/brainstore/automation/get-object-cursors',
    '/brainstore/automation/upsert-object-cursor',
    '/brainstore/automation/reset-cursors',
    '/topic-map-report-url',
    '/topic-map-btmap-url',
    '/loop/runtime/sessions',
    '/loop/runtime/sessions/x/messages',
  ]) {
    const { status, json } = await service.request(path, { body: {} })
    expect([path, status, json.error?.code]).toEqual([path, 501, 'REQUEST_UNSUPPORTED'])
  }
  expect((await service.request('/loop/runtime/sessions')).status).toBe(501)
})

test('projects are put into groups, of which only those are told that one may see', async () => {
  const other = await service.project('other')
  const body = { name: 'ours', member_projects: [project], color: 'red' }
  const made = await service.request('/v1/project_group', { body })
  expect(made.json).toMatchObject({ name: 'ours', member_projects: [project], color: 'red' })
  const path = `/v1/project_group/${String(made.json.id)}`
  const change = (body: object) => service.request(path, { method: 'PATCH', body })
  expect((await change({ add_member_projects: [other] })).json).toMatchObject({
    member_projects: [project, other],
  })
  expect((await change({ add_member_projects: [randomUUID()] })).status).toBe(403)
  await service.request(`/v1/project/${other}`, { method: 'DELETE' })
  expect((await service.request(path)).json.member_projects).toEqual([project])
  expect((await service.request('/v1/project_group?name=ours')).json.objects).toHaveLength(1)
})

test('an organization has automations of its own', async () => {
  const config = { event_type: 'retention', object_type: 'experiment', retention_days: 30 }
  const made = await service.request('/v1/org_automation', { body: { name: 'keep', config } })
  expect(made.json).toMatchObject({ name: 'keep', config })
  const path = `/v1/org_automation/${String(made.json.id)}`
  const body = { config: { ...config, retention_days: 'x' } }
  const wrong = await service.request(path, { method: 'PATCH', body })
  expect([wrong.status, wrong.json.error?.path]).toEqual([400, 'config.retention_days'])
  const foreign = { name: 'x', config, org_id: randomUUID() }
  expect((await service.request('/v1/org_automation', { body: foreign })).status).toBe(403)
  expect((await service.request(path, { method: 'DELETE' })).status).toBe(200)
})

test('rights are given on groups of projects, and on AI secrets, which then may be changed', async () => {
  const { json: secret } = await service.request('/v1/ai_secret', { body: { name: 'S' } })
  const { json: group } = await service.request('/v1/project_group', { body: { name: 'rights' } })
  const { json: invited } = await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: { service_accounts: [{ name: 'bot', token_name: 't' }] } },
  })
  const [account] = invited.added_users as unknown as { id: string; api_key: string }[]
  const path = `/v1/ai_secret/${String(secret.id)}`
  const change = () =>
    service.request(path, { method: 'PATCH', body: { type: 'openai' }, key: account!.api_key })
  expect((await change()).status).toBe(403)
  for (const [object_type, object_id] of [
    ['ai_secret', secret.id],
    ['project_group', group.id],
    ['org_ai_secret', secret.org_id],
  ]) {
    const acl = { object_type, object_id, user_id: account!.id, permission: 'update' }
    const made = await service.request('/v1/acl', { body: acl })
    expect([made.status, made.text]).toEqual([200, expect.stringContaining(String(object_type))])
    if (object_type !== 'project_group') expect((await change()).status).toBe(200)
    await service.request(`/v1/acl/${String(made.json.id)}`, { method: 'DELETE' })
    expect((await change()).status).toBe(403)
  }
})
