/** An organization full of things, of which each has a text that nothing else has. */
import { foundOrganization } from '../../src/access/organization.ts'
import { system } from '../../src/catalog/audit-trail.ts'
import type { RunningService } from './running-service.ts'

export interface Thing {
  readonly id: string
  /** In its description, or in a record of it. */
  readonly secret: string
}

export interface World {
  readonly label: string
  readonly organizationId: string
  readonly ownerId: string
  readonly ownerKey: string
  /** By kind: one each, with the same names in every world. */
  readonly things: ReadonlyMap<string, Thing>
}

/** What of a project can be made by one request, and with which fields beside its project. */
const inProject: readonly (readonly [kind: string, fields: object])[] = [
  ['experiment', { name: 'taken-experiment' }],
  ['dataset', { name: 'taken-dataset' }],
  ['prompt_session', { name: 'taken-prompt_session' }],
  ['prompt', { name: 'taken-prompt', slug: 'taken-prompt' }],
  [
    'function',
    { name: 'taken-function', slug: 'taken-function', function_data: { type: 'prompt' } },
  ],
  ['project_score', { name: 'taken-project_score', score_type: 'slider' }],
  ['project_tag', { name: 'taken-project_tag' }],
  [
    'project_automation',
    {
      name: 'taken-project_automation',
      config: { event_type: 'retention', object_type: 'experiment', retention_days: 1 },
    },
  ],
  ['span_iframe', { name: 'taken-span_iframe', url: 'https://example.com' }],
  ['mcp_server', { name: 'taken-mcp_server', url: 'https://example.com' }],
  ['agent', { name: 'taken-agent' }],
  ['masking_rule', { name: 'taken-masking_rule', path: 'output.none', action: { type: 'drop' } }],
]

export async function makeWorld(service: RunningService, label: string): Promise<World> {
  const { access } = service
  const { organizationId, ownerId } = await access.catalog.change(system, (change) => {
    const ownerId = change.create('user', { email: `owner@${label}.example` }).id
    return { organizationId: foundOrganization(change, 'acme', [ownerId]).id, ownerId }
  })
  const { text: ownerKey } = await access.issueKey(
    { org_id: organizationId, user_id: ownerId },
    'owner',
  )
  const things = new Map<string, Thing>()
  const make = async (kind: string, path: string, body: object) => {
    const secret = secretOf(kind, label)
    const { status, text, json } = await service.request(path, { body, key: ownerKey })
    if (status !== 200) throw new Error(`${path}: ${text}`)
    things.set(kind, { id: String(json.id), secret })
  }
  const described = (kind: string) => ({ description: secretOf(kind, label) })
  await make('project', '/v1/project', { name: 'taken-project', ...described('project') })
  const project_id = things.get('project')!.id
  for (const [kind, fields] of inProject) {
    await make(kind, `/v1/${kind}`, { project_id, ...fields, ...descriptionFor(kind, label) })
  }
  const dataset_id = things.get('dataset')!.id
  await make('dataset_snapshot', '/v1/dataset_snapshot', {
    dataset_id,
    name: 'version',
    xact_id: '1000',
    ...described('dataset_snapshot'),
  })
  await make('view', '/v1/view', {
    object_type: 'project',
    object_id: project_id,
    view_type: 'logs',
    name: secretOf('view', label),
  })
  await make('env_var', '/v1/env_var', {
    object_type: 'project',
    object_id: project_id,
    name: secretOf('env_var', label),
    value: 'v',
  })
  await make('ai_secret', '/v1/ai_secret', { name: 'taken-ai_secret', secret: 'sk-ai-0123456789' })
  await make('org_automation', '/v1/org_automation', {
    name: 'taken-org_automation',
    config: { event_type: 'retention', object_type: 'dataset', retention_days: 1 },
  })
  await make('project_group', '/v1/project_group', { name: 'taken-project_group' })
  await make('environment', '/environment', {
    name: 'taken-environment',
    slug: 'taken-environment',
  })
  await make('role', '/v1/role', { name: 'taken-role', ...described('role') })
  await make('group', '/v1/group', { name: 'taken-group', ...described('group') })
  await make('acl', '/v1/acl', {
    object_type: 'project',
    object_id: project_id,
    group_id: things.get('group')!.id,
    permission: 'read',
  })
  const invite_users = { service_accounts: [{ name: 'ci', token_name: 'token' }] }
  const members = await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users },
    key: ownerKey,
  })
  const [account] = members.json.added_users as unknown as { id: string }[]
  things.set('service_account', { id: account!.id, secret: secretOf('service_account', label) })
  const [token] = access.catalog.list('service_token', { organizationId })
  const [key] = access.catalog.list('api_key', { organizationId })
  things.set('service_token', { id: token!.id, secret: secretOf('service_token', label) })
  things.set('api_key', { id: key!.id, secret: secretOf('api_key', label) })
  things.set('user', { id: ownerId, secret: `owner@${label}.example` })
  things.set('project_log', { id: project_id, secret: secretOf('project_log', label) })
  const records = [
    ['project_log', 'project_id'],
    ['experiment', 'experiment_id'],
    ['dataset', 'dataset_id'],
    ['prompt_session', 'prompt_session_id'],
  ] as const
  const rows = records.map(([kind, field]) => ({
    id: 'row',
    input: secretOf(kind, label),
    [field]: things.get(kind)!.id,
    ...(kind === 'project_log' && { log_id: 'g' }),
    ...(kind === 'prompt_session' && { log_id: 'x' }),
  }))
  const written = await service.request('/logs3', { body: { rows }, key: ownerKey })
  if (written.status !== 200) throw new Error(written.text)
  return { label, organizationId, ownerId, ownerKey, things }
}

function secretOf(kind: string, label: string): string {
  return `secret-${kind}-${label}`
}

function descriptionFor(kind: string, label: string): object {
  return kind === 'prompt_session' || kind !== 'agent' ? { description: secretOf(kind, label) } : {}
}
