/** A service with something of everything that the web page shows: for tests that look at all of it. */
import { generateDataset, generateSpans } from '../../src/demo/generate.ts'
import { runExport } from './carry-out.ts'
import type { RunningService } from './running-service.ts'

export interface PageWorld {
  /** Ids of what is there, by its name. */
  readonly ids: ReadonlyMap<string, string>
  /** Of a member who may read and no more. */
  readonly viewerKey: string
}

const scoreKinds = [
  {
    name: 'correct',
    score_type: 'categorical',
    categories: [
      { name: 'Right', value: 1 },
      { name: 'Wrong', value: 0 },
    ],
  },
  { name: 'tone', score_type: 'slider' },
  { name: 'why', score_type: 'free-form' },
]

const email = 'viewer@example.com'

/** @param folder where exports are written to: the service is to allow it */
export async function fillPageWorld(service: RunningService, folder: string): Promise<PageWorld> {
  const ids = new Map<string, string>()
  const make = async (
    name: string,
    path: string,
    body: Record<string, unknown>,
    method = 'POST',
  ) => {
    const { json, text, status } = await service.request(path, { body, method })
    if (status !== 200) throw new Error(`${path}: ${text}`)
    ids.set(name, String(json.id))
    return String(json.id)
  }
  const project = await make('support', '/v1/project', {
    name: 'support',
    description: 'What customers ask',
  })
  await make('empty', '/v1/project', { name: 'empty' })
  await fillProject(service, project, ids)

  const owner = { object_type: 'project', object_id: project }
  const view = (name: string, type: string, view_data: object) =>
    make(name, '/v1/view', { ...owner, name, view_type: type, view_data })
  await view('errors', 'logs', { search: { filter: [{ text: 'error is not null' }] } })
  await view('latency', 'monitor', {
    custom_charts: { query: { text: 'select: id | from: project_logs()', shown: {} } },
  })
  for (const kind of scoreKinds) {
    await make(kind.name, '/v1/project_score', { project_id: project, ...kind })
  }

  const invite_users = { emails: [email], group_names: ['Viewers'] }
  await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
  const viewer = await service.request('/v1/api_key', {
    body: { name: 'viewer' },
    headers: { 'x-bt-impersonate-user': email },
  })
  ids.set('member', String(viewer.json.user_id))
  await fillQueues(service, project, ids)

  await make('key', '/v1/api_key', { name: 'laptop' })
  const group = await make('group', '/v1/group', {
    name: 'Reviewers',
    description: 'Who answers reviews',
    member_users: [ids.get('member')],
  })
  const role = await make('role', '/v1/role', {
    name: 'Review',
    member_permissions: [{ permission: 'update', restrict_object_type: 'dataset' }],
  })
  await make('grant', '/v1/acl', { ...owner, group_id: group, role_id: role })
  const accounts = { service_accounts: [{ name: 'ci', token_name: 'deploy' }] }
  await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: accounts },
  })
  const tokens = await service.request('/v1/service_token')
  ids.set('token', String(tokens.json.objects![0]!.id))
  const { json } = await service.request('/v1/organization')
  const organization = { object_type: 'organization', object_id: json.objects![0]!.id }
  await make('variable', '/v1/env_var', { ...organization, name: 'DATABASE_URL', value: 'x' })
  await make(
    'secret',
    '/v1/ai_secret',
    { name: 'OPENAI_API_KEY', secret: 'sk-1234567890', type: 'openai' },
    'PUT',
  )
  await make('mask', '/v1/masking_rule', {
    name: 'Addresses',
    path: null,
    fields: null,
    pattern: { type: 'email' },
    action: { type: 'replace' },
  })
  const automation = (name: string, config: object) =>
    make(name, '/v1/project_automation', { project_id: project, name, config })
  await automation('retention', {
    event_type: 'retention',
    object_type: 'project_logs',
    retention_days: 90,
    keep_filter: 'error is not null',
  })
  const nightly = await automation('nightly', {
    event_type: 'btql_export',
    export_definition: { type: 'log_traces' },
    export_path: folder,
    format: 'parquet',
    interval_seconds: 86_400,
    credentials: { type: 'service' },
  })
  await runExport(service, nightly)
  return { ids, viewerKey: String(viewer.json.key) }
}

/** Logs of a week, two experiments and a dataset of two versions. */
async function fillProject(
  service: RunningService,
  project: string,
  ids: Map<string, string>,
): Promise<void> {
  const start = Date.now() - 3 * 86_400_000
  const spans = [...generateSpans({ seed: 1, count: 300, start, kind: 'logs' })]
  await service.insert('project_logs', project, spans)
  const failed = spans.find(({ error, span_parents }) => error != null && span_parents !== null)
  ids.set('trace', failed!.root_span_id).set('span', failed!.span_id)
  const other = spans.find(({ root_span_id }) => root_span_id !== failed!.root_span_id)
  ids.set('other trace', other!.root_span_id)
  for (const name of ['first', 'second']) {
    const id = await service.create('experiment', project, name)
    ids.set(name, id)
    const examples = Array.from({ length: 40 }, (_, i) => ({
      id: `${name}-${i}`,
      input: `question ${i}`,
      output: `answer ${i} of ${name}`,
      expected: `answer ${i}`,
      metadata: { model: i % 2 === 0 ? 'gpt-4o' : 'claude-sonnet-4' },
      scores: { Factuality: ((i * name.length) % 7) / 7, Relevance: (i % 3) / 3, Brevity: 1 },
      metrics: { start: 1, end: 2 + (i % 5), tokens: 100 + i, estimated_cost: 0.0012 * (i + 1) },
    }))
    await service.insert('experiment', id, examples)
  }
  const dataset = await service.create('dataset', project, 'questions')
  ids.set('questions', dataset)
  const records = [...generateDataset({ seed: 1, count: 40, start })]
  await service.insert('dataset', dataset, records)
  const versions = await service.request(`/v1/dataset/${dataset}/fetch?limit=1`)
  ids.set('version', String(versions.json.events![0]!._xact_id))
  await service.insert('dataset', dataset, [{ ...records[0]!, expected: 'Something else' }])
  await service.create('dataset', project, 'templates')
}

/** A queue of records that the owner and another have answered, and one that nobody has. */
async function fillQueues(
  service: RunningService,
  project: string,
  ids: Map<string, string>,
): Promise<void> {
  const { json } = await service.query(
    `select: id | from: project_logs('${project}') | filter: span_parents is null | limit: 6`,
  )
  const records = (json.data as unknown as { id: string }[]).map(({ id }) => id)
  for (const name of ['answered', 'open']) {
    const review = {
      object_type: 'project_logs',
      object_id: project,
      records,
      scores: scoreKinds.map((kind) => kind.name),
      reviewers: [],
      answers_per_record: null,
      is_blind: false,
    }
    const owner = { object_type: 'project', object_id: project }
    const made = await service.request('/v1/view', {
      body: { ...owner, name, view_type: 'for_review_project_log', view_data: { review } },
    })
    if (made.status !== 200) throw new Error(made.text)
    ids.set(name, String(made.json.id))
  }
  for (const [i, id] of records.entries()) {
    const correct = i % 2 === 0 ? 'Right' : 'Wrong'
    const answers = { correct, tone: i / 6, why: 'It says so.' }
    await service.insert('project_logs', project, [
      {
        id,
        _is_merge: true,
        scores: { correct: 1 - (i % 2), tone: i / 6 },
        _audit_source: 'app',
        _audit_metadata: { review: { queue_id: ids.get('answered'), answers } },
      },
    ])
  }
}
