/** A call of each operation that the published document has and the service serves. */
import type { RunningService } from '../support/running-service.ts'

/** Ids of entries that calls need to be there. */
export interface Entries {
  readonly [name: string]: string
}

export const leftOut: ReadonlyMap<string, string> = new Map([
  ['POST /v1/proxy/chat/completions', 'no proxy to model providers'],
  ['POST /v1/proxy/completions', 'no proxy to model providers'],
  ['POST /v1/proxy/auto', 'no proxy to model providers'],
  ['POST /v1/proxy/embeddings', 'no proxy to model providers'],
  ['POST /v1/proxy/credentials', 'no proxy to model providers'],
  ['POST /v1/proxy/{path+}', 'no proxy to model providers'],
  ['POST /v1/eval', 'runs code'],
])

/** Paths of the document that are a slip of it: nothing else is there. */
export const slips = ['/v1/acl/acl/batch_update']

/** Answers other than 200. */
export const statuses: ReadonlyMap<string, number> = new Map([
  ['POST /v1/function/{function_id}/invoke', 501],
])

export async function makeEntries(service: RunningService): Promise<Entries> {
  const entries: Record<string, string> = {}
  const make = async (name: string, path: string, body: object) => {
    const { json, text, status } = await service.request(path, { body })
    if (status !== 200) throw new Error(`${path}: ${text}`)
    entries[name] = String(json.id)
  }
  const [user] = (await service.request('/v1/user')).json.objects as unknown as { id: string }[]
  const [organization] = (await service.request('/v1/organization')).json.objects as unknown as {
    id: string
  }[]
  entries.user = user!.id
  entries.organization = organization!.id
  await make('project', '/v1/project', { name: 'Contract', description: 'd' })
  await make('project-2', '/v1/project', { name: 'To be removed' })
  const invite_users = { service_accounts: [{ name: 'robot' }] }
  const invited = await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users },
  })
  const [account] = invited.json.added_users as unknown as { id: string }[]
  entries.account = account!.id
  const project_id = entries.project!
  for (const suffix of ['', '-2']) {
    const at = (name: string) => `${name}${suffix}`
    const named = { project_id, name: at('n') }
    await make(at('experiment'), '/v1/experiment', { ...named, metadata: { a: 1 }, tags: ['t'] })
    await make(at('dataset'), '/v1/dataset', named)
    await make(at('prompt'), '/v1/prompt', { ...named, slug: at('p') })
    const function_data = { type: 'global', name: 'g' }
    await make(at('function'), '/v1/function', { ...named, slug: at('f'), function_data })
    await make(at('role'), '/v1/role', { name: at('r') })
    await make(at('group'), '/v1/group', { name: at('g') })
    const acl = { object_type: 'project', object_id: project_id, group_id: entries[at('group')] }
    await make(at('acl'), '/v1/acl', { ...acl, permission: 'read' })
    await make(at('api_key'), '/v1/api_key', { name: at('k') })
    const token = { name: at('t'), service_account_id: entries.account }
    await make(at('service_token'), '/v1/service_token', token)
    await make(at('agent'), '/v1/agent', named)
    await make(at('project_automation'), '/v1/project_automation', { ...named, config: retention })
    await make(at('project_score'), '/v1/project_score', { ...named, score_type: 'slider' })
    const masking = { path: 'output.none', action: { type: 'drop' } }
    await make(at('masking_rule'), '/v1/masking_rule', { ...named, ...masking })
    await make(at('project_tag'), '/v1/project_tag', named)
    await make(at('span_iframe'), '/v1/span_iframe', { ...named, url: 'https://example.org' })
    await make(at('mcp_server'), '/v1/mcp_server', { ...named, url: 'https://example.org' })
    const view = { object_type: 'project', object_id: project_id, view_type: 'logs' }
    await make(at('view'), '/v1/view', { ...view, name: at('v') })
    const owner = { object_type: 'project', object_id: project_id }
    await make(at('env_var'), '/v1/env_var', { ...owner, name: at('E'), value: 'x' })
    await make(at('ai_secret'), '/v1/ai_secret', { name: at('A'), secret: 'x' })
    await make(at('environment'), '/environment', { name: at('e'), slug: at('e') })
    const dataset_id = entries[at('dataset')]
    await make(at('dataset_snapshot'), '/v1/dataset_snapshot', {
      dataset_id,
      name: at('s'),
      xact_id: '1000196129554423269',
    })
  }
  await service.insert('experiment', entries.experiment!, [{ id: 'r', scores: { s: 1 } }])
  await service.insert('dataset', entries.dataset!, [{ id: 'r', input: 1, expected: 2 }])
  await service.insert('project_logs', project_id, [{ id: 'r', input: 1 }])
  return entries
}

const retention = { event_type: 'retention', object_type: 'dataset', retention_days: 7 }

/** Bodies by method and path; what is not here has none. Removals take the second of each kind. */
export function bodies(entries: Entries): ReadonlyMap<string, object> {
  const project_id = entries.project!
  const owner = { object_type: 'project', object_id: project_id }
  const named = { project_id, name: 'n' }
  const events = { events: [{ input: 1, output: 2, scores: { s: 0.5 }, metadata: { m: 1 } }] }
  const datasetEvents = { events: [{ input: 1, expected: 2 }] }
  const feedback = { feedback: [{ id: 'r', comment: 'c', tags: ['t'] }] }
  const acl = { ...owner, user_id: entries.user, permission: 'read' }
  const snapshot = { dataset_id: entries.dataset, name: 's', xact_id: '1000196129554423269' }
  const both = (path: string, body: object): [string, object][] => [
    [`POST ${path}`, body],
    [`PUT ${path}`, body],
  ]
  return new Map([
    ['POST /v1/project', { name: 'Contract 2' }],
    ['POST /v1/experiment', { ...named, repo_info: { commit: 'c' }, public: true }],
    ['POST /v1/dataset', { ...named, metadata: { a: [1] } }],
    ...both('/v1/prompt', {
      ...named,
      slug: 'p',
      prompt_data: { prompt: { type: 'completion', content: 'x' }, options: { model: 'm' } },
    }),
    ...both('/v1/function', {
      ...named,
      slug: 'f',
      function_data: { type: 'global', name: 'g' },
      function_schema: { parameters: { type: 'object' } },
    }),
    ...both('/v1/role', { name: 'r', member_permissions: [{ permission: 'read' }] }),
    ...both('/v1/group', { name: 'g', member_users: [entries.user] }),
    ['POST /v1/acl', acl],
    ['POST /v1/acl/batch_update', { add_acls: [acl], remove_acls: [] }],
    ...both('/v1/agent', { ...named, metadata: { a: 1 } }),
    ...both('/v1/project_automation', { ...named, config: retention }),
    ...both('/v1/project_score', {
      ...named,
      score_type: 'categorical',
      categories: [{ name: 'good', value: 1 }],
      config: { multi_select: true },
    }),
    ['POST /v1/masking_rule/dry_run', { project_id }],
    ['POST /v1/masking_rule/rewrite', { project_id }],
    ...both('/v1/masking_rule', {
      ...named,
      path: 'input[*].content',
      pattern: { type: 'email' },
      action: { type: 'replace', text: '-' },
    }),
    ...both('/v1/project_tag', { ...named, color: '#fff' }),
    ...both('/v1/span_iframe', { ...named, url: 'https://example.org', post_message: true }),
    ...both('/v1/mcp_server', { ...named, url: 'https://example.org' }),
    ...both('/v1/view', { ...owner, view_type: 'logs', name: 'v', options: { layout: 'list' } }),
    ...both('/v1/service_token', { name: 'new token', service_account_id: entries.account }),
    ...both('/v1/ai_secret', { name: 'A', type: 'openai', secret: 'sk-0123456789abcdef' }),
    ...both('/v1/env_var', { ...owner, name: 'E', value: 'v', metadata: { a: 1 } }),
    ...both('/v1/dataset_snapshot', snapshot),
    ['POST /environment', { name: 'new', slug: 'new' }],
    ['POST /v1/insert', { dataset: { [entries.dataset!]: datasetEvents } }],
    ['POST /v1/function/{function_id}/invoke', { input: 1 }],
    ['POST /v1/project_logs/{project_id}/insert', events],
    ['POST /v1/experiment/{experiment_id}/insert', events],
    ['POST /v1/dataset/{dataset_id}/insert', datasetEvents],
    ['POST /v1/project_logs/{project_id}/fetch', { limit: 10 }],
    ['POST /v1/experiment/{experiment_id}/fetch', { limit: 10 }],
    ['POST /v1/dataset/{dataset_id}/fetch', { limit: 10 }],
    ['POST /v1/project_logs/{project_id}/feedback', feedback],
    ['POST /v1/experiment/{experiment_id}/feedback', feedback],
    ['POST /v1/dataset/{dataset_id}/feedback', feedback],
    ['PATCH /v1/project/{project_id}', { settings: { comparison_key: 'input' } }],
    ['PATCH /v1/experiment/{experiment_id}', { metadata: { b: { c: 1 } } }],
    ['PATCH /v1/dataset/{dataset_id}', { description: 'd' }],
    ['PATCH /v1/prompt/{prompt_id}', { description: 'd' }],
    ['PATCH /v1/function/{function_id}', { tags: ['t'] }],
    ['PATCH /v1/role/{role_id}', { add_member_permissions: [{ permission: 'update' }] }],
    ['PATCH /v1/group/{group_id}', { remove_member_users: [entries.user] }],
    ['PATCH /v1/agent/{agent_id}', { description: 'd' }],
    [
      'PATCH /v1/project_automation/{project_automation_id}',
      { config: { retention_days: 8, event_type: 'retention', object_type: 'dataset' } },
    ],
    ['PATCH /v1/project_score/{project_score_id}', { description: 'd' }],
    ['PATCH /v1/masking_rule/{masking_rule_id}', { action: { type: 'hash' } }],
    ['PATCH /v1/project_tag/{project_tag_id}', { color: '#000' }],
    ['PATCH /v1/span_iframe/{span_iframe_id}', { post_message: false }],
    ['PATCH /v1/mcp_server/{mcp_server_id}', { url: 'https://example.com' }],
    ['PATCH /v1/view/{view_id}', { ...owner, view_data: { search: { filter: ['a'] } } }],
    ['PATCH /v1/organization/{organization_id}', { image_rendering_mode: 'auto' }],
    ['PATCH /v1/organization/members', { invite_users: { emails: ['a@example.org'] } }],
    ['PATCH /v1/ai_secret/{ai_secret_id}', { metadata: { a: 1 } }],
    ['PATCH /v1/env_var/{env_var_id}', { name: 'E', value: 'w' }],
    ['PATCH /v1/dataset_snapshot/{dataset_snapshot_id}', { description: 'd' }],
    ['PATCH /environment/{environment_id}', { description: 'd' }],
    ['DELETE /v1/acl', acl],
    ['DELETE /v1/view/{view_id}', owner],
    ['DELETE /v1/ai_secret', { name: 'A' }],
    ['DELETE /v1/service_token', { id: entries.service_token }],
  ] as [string, object][])
}

/** Parameters that an operation cannot be called without. */
export function requiredQuery(path: string, entries: Entries): string {
  if (path === '/v1/acl') return `object_type=project&object_id=${entries.project}`
  if (path.startsWith('/v1/view')) return `object_type=project&object_id=${entries.project}`
  if (path.endsWith('/summarize')) return 'summarize_scores=true&summarize_data=true'
  return ''
}
