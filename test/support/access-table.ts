/**
 * Every route of the server, with what it needs. Each line says how to ask for something that may be
 * hidden, so that a test can ask again for something that is not there and compare.
 */
import type { World } from './access-world.ts'

export interface Asked {
  readonly path?: string
  readonly body?: object
  readonly headers?: Record<string, string>
}

/** A permission on what a kind of thing is checked as: `new …` is one that is still to be made. */
export type Need = readonly [permission: string, on: string]

export interface Line {
  /** Kind of the thing that `id` and `name` are of. */
  readonly about?: string
  /** All of them are needed; `owner` is every permission on the organization, `operator` on all. */
  readonly needs: readonly Need[] | 'anyone' | 'owner' | 'open' | 'operator'
  /** `id` and `name` are of a thing that is there, or of none. */
  ask(given: { readonly id: string; readonly name: string; readonly world: World }): Asked
  /** Removes what it is about, or makes the world another one: only refusals are tried. */
  readonly destroys?: true
  /** Status where it is allowed; 200 if not given. */
  readonly status?: number
  /** Answers what is left after hiding, rather than refusing. */
  readonly filters?: true
}

type Table = Record<string, Line>

const thing = (world: World, kind: string) => world.things.get(kind)!.id

function byId(kind: string, path: string, needs: Needs, patch: object | null): Table {
  const at = (id: string) => `${path}/${id}`
  return {
    [`GET ${path}/:${kind}_id`]: {
      about: kind,
      needs: needs.read,
      ask: ({ id }) => ({ path: at(id) }),
    },
    ...(patch && {
      [`PATCH ${path}/:${kind}_id`]: {
        about: kind,
        needs: needs.update,
        ask: ({ id }) => ({ path: at(id), body: patch }),
      },
    }),
    [`DELETE ${path}/:${kind}_id`]: {
      about: kind,
      needs: needs.delete,
      destroys: true,
      ask: ({ id }) => ({ path: at(id) }),
    },
  }
}

interface Needs {
  readonly read: Line['needs']
  readonly create: Line['needs']
  readonly update: Line['needs']
  readonly delete: Line['needs']
}

function own(kind: string): Needs {
  return {
    read: [['read', kind]],
    create: [
      ['create', `new ${kind}`],
      ['read', `new ${kind}`],
    ],
    update: [['update', kind]],
    delete: [['delete', kind]],
  }
}

function partOf(kind: string): Needs {
  const update: Needs['update'] = [['update', kind]]
  const both: Needs['create'] = [
    ['update', kind],
    ['read', kind],
  ]
  return { read: [['read', kind]], create: both, update, delete: update }
}

const ofOrganization: Needs = {
  read: 'anyone',
  create: [['update', 'organization']],
  update: [['update', 'organization']],
  delete: [['update', 'organization']],
}

/** What every member sees, and changes by rights on it. */
function ownForAll(kind: string): Needs {
  return { ...own(kind), read: 'anyone', create: [['create', `new ${kind}`]] }
}

type Made = (given: { name: string; world: World }) => object

function made(path: string, needs: Needs, body: Made, methods = ['POST', 'PUT']): Table {
  return Object.fromEntries(
    methods.map((method) => [
      `${method} ${path}`,
      { needs: needs.create, destroys: true, ask: (given) => ({ body: body(given) }) },
    ]),
  )
}

const listed = (path: string): Table => ({
  [`GET ${path}`]: { needs: 'anyone', filters: true, ask: () => ({}) },
})

/** A resource in a project: its routes, all as `resourceRoutes` makes them. */
function inProject(kind: string, needs: Needs, fields: object = {}, methods?: string[]): Table {
  const path = `/v1/${kind}`
  return {
    ...made(
      path,
      needs,
      ({ name, world }) => ({ project_id: thing(world, 'project'), name, ...fields }),
      methods,
    ),
    ...listed(path),
    ...byId(kind, path, needs, { description: 'changed' }),
  }
}

const retention = { event_type: 'retention', object_type: 'experiment', retention_days: 1 }

const resources: Table = {
  ...made('/v1/project', own('project'), ({ name }) => ({ name })),
  ...listed('/v1/project'),
  ...byId('project', '/v1/project', own('project'), { description: 'changed' }),
  ...inProject('experiment', own('experiment')),
  ...inProject('dataset', own('dataset')),
  ...inProject('prompt_session', own('prompt_session'), {}, ['POST']),
  ...inProject('project_score', partOf('project'), { score_type: 'slider' }),
  ...inProject('project_tag', partOf('project')),
  ...inProject('project_automation', partOf('project'), { config: retention }),
  ...inProject('span_iframe', partOf('project'), { url: 'https://example.com' }),
  ...inProject('mcp_server', partOf('project'), { url: 'https://example.com' }),
  ...inProject('agent', partOf('project')),
  ...inProject('masking_rule', partOf('project'), {
    path: 'output.none',
    action: { type: 'drop' },
  }),
  'POST /v1/delete_person': {
    needs: 'owner',
    ask: () => ({ body: { user_ids: ['nobody'], dry_run: true } }),
  },
  'POST /v1/retention/preview': {
    about: 'project',
    needs: [['update', 'project']],
    ask: ({ id }) => ({
      body: {
        project_id: id,
        config: { event_type: 'retention', object_type: 'project_logs', retention_days: 30 },
      },
    }),
  },
  'POST /v1/retention/run': {
    about: 'project_automation',
    needs: [['update', 'project']],
    ask: ({ id }) => ({ body: { project_automation_id: id } }),
  },
  'GET /v1/retention/:project_automation_id': {
    about: 'project_automation',
    needs: partOf('project').read,
    ask: ({ id }) => ({ path: `/v1/retention/${id}` }),
  },
  'GET /v1/export/:project_automation_id': {
    about: 'project_automation',
    needs: partOf('project').read,
    // That of the world is no export.
    status: 400,
    ask: ({ id }) => ({ path: `/v1/export/${id}` }),
  },
  'POST /v1/export/run': {
    about: 'project_automation',
    needs: [['update', 'project']],
    status: 400,
    ask: ({ id }) => ({ body: { project_automation_id: id } }),
  },
  'POST /v1/export/rewind': {
    about: 'project_automation',
    needs: [['update', 'project']],
    status: 400,
    ask: ({ id }) => ({ body: { project_automation_id: id } }),
  },
  'POST /v1/masking_rule/dry_run': {
    about: 'project',
    needs: [['read', 'project']],
    ask: ({ id }) => ({ body: { project_id: id } }),
  },
  'POST /v1/masking_rule/rewrite': {
    about: 'project',
    needs: [['read', 'project']],
    ask: ({ id }) => ({ body: { project_id: id } }),
  },
  ...made('/v1/dataset_snapshot', partOf('dataset'), ({ name, world }) => ({
    dataset_id: thing(world, 'dataset'),
    name,
    xact_id: '1000',
  })),
  ...listed('/v1/dataset_snapshot'),
  ...byId('dataset_snapshot', '/v1/dataset_snapshot', partOf('dataset'), { description: 'c' }),
  ...made('/environment', ofOrganization, ({ name }) => ({ name, slug: name }), ['POST']),
  ...listed('/environment'),
  ...byId('environment', '/environment', ofOrganization, { description: 'changed' }),
  ...made('/v1/ai_secret', ofOrganization, ({ name }) => ({ name, secret: 's' })),
  ...listed('/v1/ai_secret'),
  ...byId('ai_secret', '/v1/ai_secret', ofOrganization, { metadata: { a: 1 } }),
  'DELETE /v1/ai_secret': {
    needs: [['update', 'organization']],
    destroys: true,
    ask: ({ name }) => ({ body: { name } }),
  },
  ...made('/v1/org_automation', ofOrganization, ({ name }) => ({ name, config: retention })),
  ...listed('/v1/org_automation'),
  ...byId('org_automation', '/v1/org_automation', ofOrganization, { description: 'changed' }),
  ...made('/v1/project_group', ownForAll('project_group'), ({ name }) => ({ name })),
  ...listed('/v1/project_group'),
  ...byId('project_group', '/v1/project_group', ownForAll('project_group'), { description: 'c' }),
  ...made('/v1/env_var', partOf('project'), ({ name, world }) => ({
    object_type: 'project',
    object_id: thing(world, 'project'),
    name,
    value: 'v',
  })),
  ...listed('/v1/env_var'),
  ...byId('env_var', '/v1/env_var', partOf('project'), { name: 'changed', value: 'w' }),
  ...made('/v1/view', partOf('project'), ({ name, world }) => ({
    object_type: 'project',
    object_id: thing(world, 'project'),
    view_type: 'logs',
    name,
  })),
  'GET /v1/view': {
    about: 'project',
    needs: 'anyone',
    filters: true,
    ask: ({ id }) => ({ path: `/v1/view?object_type=project&object_id=${id}` }),
  },
  'GET /v1/view/:view_id': {
    about: 'view',
    needs: [['read', 'project']],
    ask: ({ id, world }) => ({
      path: `/v1/view/${id}?object_type=project&object_id=${thing(world, 'project')}`,
    }),
  },
  'PATCH /v1/view/:view_id': {
    about: 'view',
    needs: [['update', 'project']],
    ask: ({ id, world }) => ({
      path: `/v1/view/${id}`,
      body: { object_type: 'project', object_id: thing(world, 'project'), view_type: 'logs' },
    }),
  },
  'DELETE /v1/view/:view_id': {
    about: 'view',
    needs: [['update', 'project']],
    destroys: true,
    ask: ({ id, world }) => ({
      path: `/v1/view/${id}`,
      body: { object_type: 'project', object_id: thing(world, 'project') },
    }),
  },
}

const access: Table = {
  ...listed('/v1/organization'),
  'GET /v1/organization/:organization_id': {
    about: 'organization',
    needs: 'anyone',
    ask: ({ id }) => ({ path: `/v1/organization/${id}` }),
  },
  'PATCH /v1/organization/:organization_id': {
    about: 'organization',
    needs: [['update', 'organization']],
    ask: ({ id }) => ({ path: `/v1/organization/${id}`, body: { proxy_url: 'https://p' } }),
  },
  'PATCH /v1/organization/members': {
    about: 'user',
    needs: [['delete', 'org_member']],
    destroys: true,
    ask: ({ id }) => ({ body: { remove_users: { ids: [id] } } }),
  },
  ...listed('/v1/user'),
  'GET /v1/user/:user_id': {
    about: 'user',
    needs: [['read', 'org_member']],
    ask: ({ id }) => ({ path: `/v1/user/${id}` }),
  },
  'POST /v1/api_key': { needs: 'anyone', ask: () => ({ body: { name: 'mine' } }) },
  ...listed('/v1/api_key'),
  'GET /v1/api_key/:api_key_id': {
    about: 'api_key',
    needs: [['update', 'org_member']],
    ask: ({ id }) => ({ path: `/v1/api_key/${id}` }),
  },
  'DELETE /v1/api_key/:api_key_id': {
    about: 'api_key',
    needs: [['update', 'org_member']],
    destroys: true,
    ask: ({ id }) => ({ path: `/v1/api_key/${id}` }),
  },
  ...Object.fromEntries(
    ['POST', 'PUT'].map((method) => [
      `${method} /v1/service_token`,
      {
        about: 'service_account',
        needs: 'owner',
        destroys: true,
        ask: ({ id }) => ({ body: { name: 't', service_account_id: id } }),
      } satisfies Line,
    ]),
  ),
  ...listed('/v1/service_token'),
  'GET /v1/service_token/:service_token_id': {
    about: 'service_token',
    needs: 'owner',
    ask: ({ id }) => ({ path: `/v1/service_token/${id}` }),
  },
  'DELETE /v1/service_token': {
    about: 'service_token',
    needs: 'owner',
    destroys: true,
    ask: ({ id }) => ({ body: { id } }),
  },
  'DELETE /v1/service_token/:service_token_id': {
    about: 'service_token',
    needs: 'owner',
    destroys: true,
    ask: ({ id }) => ({ path: `/v1/service_token/${id}` }),
  },
  ...made('/v1/role', own('role'), ({ name }) => ({ name })),
  ...listed('/v1/role'),
  ...byId('role', '/v1/role', own('role'), { description: 'changed' }),
  ...made('/v1/group', own('group'), ({ name }) => ({ name })),
  ...listed('/v1/group'),
  ...byId('group', '/v1/group', own('group'), { description: 'changed' }),
  ...Object.fromEntries(
    ['POST', 'PUT'].map((method) => [
      `${method} /v1/acl`,
      {
        about: 'project',
        needs: [
          ['create_acls', 'project'],
          ['read_acls', 'project'],
        ],
        destroys: true,
        ask: ({ id, world }) => ({ body: aclOn(id, world) }),
      } satisfies Line,
    ]),
  ),
  'GET /v1/acl': {
    about: 'project',
    needs: [['read_acls', 'project']],
    ask: ({ id }) => ({ path: `/v1/acl?object_type=project&object_id=${id}` }),
  },
  'GET /v1/acl/list_org': { needs: [['read_acls', 'organization']], ask: () => ({}) },
  'POST /v1/acl/batch_update': {
    about: 'project',
    needs: [
      ['create_acls', 'project'],
      ['read_acls', 'project'],
    ],
    destroys: true,
    ask: ({ id, world }) => ({ body: { add_acls: [aclOn(id, world)] } }),
  },
  'DELETE /v1/acl': {
    about: 'project',
    needs: [['delete_acls', 'project']],
    destroys: true,
    ask: ({ id, world }) => ({ body: aclOn(id, world) }),
  },
  'GET /v1/acl/:acl_id': {
    about: 'acl',
    needs: [['read_acls', 'project']],
    ask: ({ id }) => ({ path: `/v1/acl/${id}` }),
  },
  'DELETE /v1/acl/:acl_id': {
    about: 'acl',
    needs: [['delete_acls', 'project']],
    destroys: true,
    ask: ({ id }) => ({ path: `/v1/acl/${id}` }),
  },
  'GET /v1/audit_trail': { needs: [['read', 'org_audit_logs']], ask: () => ({}) },
}

function aclOn(object_id: string, world: World): object {
  const group_id = thing(world, 'group')
  return { object_type: 'project', object_id, group_id, permission: 'read' }
}

function promptRoutes(kind: 'prompt' | 'function', fields: object): Table {
  const path = `/v1/${kind}`
  const all = [['update', 'new prompt']] as const
  return {
    ...made(path, { ...own('prompt'), create: [...all, ['read', 'new prompt']] }, (given) => ({
      project_id: thing(given.world, 'project'),
      name: given.name,
      slug: given.name,
      ...fields,
    })),
    ...listed(path),
    ...byId(kind, path, own(kind), { description: 'changed' }),
  }
}

const records: Table = {
  ...Object.fromEntries(
    (
      [
        ['project_logs', 'project_log'],
        ['experiment', 'experiment'],
        ['dataset', 'dataset'],
      ] as const
    ).flatMap(([type, kind]) => [
      [
        `POST /v1/${type}/:id/insert`,
        about(kind, 'update', `/v1/${type}/ID/insert`, { events: [{ id: 'new' }] }),
      ],
      [`POST /v1/${type}/:id/fetch`, about(kind, 'read', `/v1/${type}/ID/fetch`, {})],
      [`GET /v1/${type}/:id/fetch`, about(kind, 'read', `/v1/${type}/ID/fetch`)],
      [
        `POST /v1/${type}/:id/feedback`,
        about(kind, 'update', `/v1/${type}/ID/feedback`, {
          feedback: [{ id: 'row', comment: 'c' }],
        }),
      ],
    ]),
  ),
  'POST /v1/insert': {
    about: 'experiment',
    needs: [['update', 'experiment']],
    ask: ({ id }) => ({ body: { experiment: { [id]: { events: [{ id: 'new' }] } } } }),
  },
  'POST /logs3': {
    about: 'experiment',
    needs: [['update', 'experiment']],
    ask: ({ id }) => ({ body: { rows: [{ id: 'new', experiment_id: id }] } }),
  },
  'POST /logs': {
    about: 'experiment',
    needs: [['update', 'experiment']],
    ask: ({ id }) => ({ body: { rows: [{ id: 'new', experiment_id: id }] } }),
  },
  'POST /logs3/overflow': { needs: 'anyone', ask: () => ({ body: { size_bytes: 1 } }) },
  'GET /v1/experiment/:id/summarize': about('experiment', 'read', '/v1/experiment/ID/summarize'),
  'GET /v1/dataset/:id/summarize': about(
    'dataset',
    'read',
    '/v1/dataset/ID/summarize?summarize_data=true',
  ),
  'POST /v1/dataset/:id/restore/preview': about(
    'dataset',
    'read',
    '/v1/dataset/ID/restore/preview',
    { version: '1000' },
  ),
  'POST /v1/dataset/:id/restore': {
    ...about('dataset', 'update', '/v1/dataset/ID/restore', { version: '1000' }),
    destroys: true,
  },
  'GET /xact-id': { needs: 'anyone', ask: () => ({}) },
}

function about(kind: string, permission: string, path: string, body?: object): Line {
  return {
    about: kind,
    needs: [[permission, kind]],
    ask: ({ id }) => ({ path: path.replace('ID', id), ...(body && { body }) }),
  }
}

const app: Table = {
  'POST /api/apikey/login': { needs: 'open', ask: () => ({ body: {} }) },
  'POST /api/project/register': {
    needs: [
      ['create', 'new project'],
      ['read', 'new project'],
    ],
    destroys: true,
    ask: ({ name }) => ({ body: { project_name: name } }),
  },
  'POST /api/project/get': found('project'),
  'GET /api/project': {
    about: 'project',
    needs: [['read', 'project']],
    ask: ({ id }) => ({ path: `/api/project?id=${id}` }),
  },
  'POST /api/experiment/register': {
    about: 'project',
    needs: [
      ['read', 'project'],
      ['create', 'new experiment'],
      ['read', 'new experiment'],
    ],
    destroys: true,
    ask: ({ id }) => ({ body: { project_id: id, experiment_name: 'e', update: true } }),
  },
  'POST /api/experiment/get': found('experiment'),
  'POST /api/base_experiment/get_id': {
    about: 'experiment',
    needs: [['read', 'experiment']],
    // It is the first in its project, and so has no base.
    status: 400,
    ask: ({ id }) => ({ body: { id } }),
  },
  'POST /api/dataset/register': {
    about: 'project',
    needs: [
      ['read', 'project'],
      ['create', 'new dataset'],
      ['read', 'new dataset'],
    ],
    destroys: true,
    ask: ({ id }) => ({ body: { project_id: id, dataset_name: 'd' } }),
  },
  'POST /api/dataset/get': found('dataset'),
  'POST /api/dataset_snapshot/register': {
    about: 'dataset',
    needs: partOf('dataset').create,
    destroys: true,
    ask: ({ id }) => ({
      body: { dataset_id: id, dataset_snapshot_name: 'v', xact_id: '1000' },
    }),
  },
  'POST /api/dataset_snapshot/get': {
    about: 'dataset',
    needs: [['read', 'dataset']],
    ask: ({ id }) => ({ body: { dataset_id: id } }),
  },
  'POST /api/dataset_snapshot/patch_id': {
    about: 'dataset_snapshot',
    needs: [['update', 'dataset']],
    ask: ({ id }) => ({ body: { id, description: 'changed' } }),
  },
  'POST /api/dataset_snapshot/delete_id': {
    about: 'dataset_snapshot',
    needs: [['update', 'dataset']],
    destroys: true,
    ask: ({ id }) => ({ body: { id } }),
  },
  'POST /api/project_automation/register': {
    about: 'project',
    needs: partOf('project').create,
    destroys: true,
    ask: ({ id, name }) => ({
      body: { project_id: id, project_automation_name: name, config: retention },
    }),
  },
  'POST /api/project_automation/get': {
    about: 'project',
    needs: 'anyone',
    filters: true,
    ask: ({ id }) => ({ body: { project_id: id } }),
  },
  'POST /api/project_automation/patch_id': {
    about: 'project_automation',
    needs: [['update', 'project']],
    ask: ({ id }) => ({ body: { id, description: 'changed' } }),
  },
  'POST /api/actions/getPromptSessionSummary': {
    about: 'project',
    needs: 'anyone',
    filters: true,
    ask: ({ id }) => ({ body: { function_args: { project_id: id } } }),
  },
  'POST /api/actions/getPromptSessionMeta': {
    about: 'prompt_session',
    needs: 'anyone',
    filters: true,
    ask: ({ name, world }) => ({
      body: { function_args: { project_id: thing(world, 'project'), playground: name } },
    }),
  },
  'POST /api/prompt_session/patch_id': {
    about: 'prompt_session',
    needs: own('prompt_session').update,
    ask: ({ id }) => ({ body: { id, description: 'changed' } }),
  },
  'POST /api/prompt_session/delete_id': {
    about: 'prompt_session',
    needs: own('prompt_session').delete,
    destroys: true,
    ask: ({ id }) => ({ body: { id } }),
  },
  'POST /api/ai_secret/get': { needs: 'anyone', filters: true, ask: () => ({ body: {} }) },
  'POST /api/self/get_object_info': {
    about: 'experiment',
    needs: 'anyone',
    filters: true,
    ask: ({ id }) => ({ body: { object_type: 'experiment', object_ids: [id] } }),
  },
  'GET /api/self/me': { needs: 'anyone', ask: () => ({}) },
  'POST /api/self/me': { needs: 'anyone', ask: () => ({ body: {} }) },
  'GET /ping': { needs: 'anyone', ask: () => ({}) },
  'GET /experiment-comparison2': {
    about: 'experiment',
    needs: [['read', 'experiment']],
    ask: ({ id }) => ({ path: `/experiment-comparison2?experiment_id=${id}` }),
  },
  'GET /dataset-summary': {
    about: 'dataset',
    needs: [['read', 'dataset']],
    ask: ({ id }) => ({ path: `/dataset-summary?dataset_id=${id}` }),
  },
  'POST /attachment': {
    needs: 'anyone',
    ask: ({ name }) => ({ body: { key: name, filename: 'f', content_type: 'text/plain' } }),
  },
  'POST /attachment/status': {
    needs: 'anyone',
    ask: ({ name }) => ({ body: { key: name, status: { upload_status: 'done' } } }),
  },
  // A key that nobody was told finds nothing.
  'GET /attachment': {
    needs: 'anyone',
    status: 403,
    ask: ({ name }) => ({ path: `/attachment?key=${name}` }),
  },
  // These are for who was given a signed URL.
  'PUT /attachment/content/:name': {
    needs: 'anyone',
    status: 403,
    ask: () => ({ path: '/attachment/content/a', body: {} }),
  },
  'GET /attachment/content/:name': {
    needs: 'anyone',
    status: 403,
    ask: () => ({ path: '/attachment/content/a' }),
  },
}

/** Answers a list, which is empty when there is nothing to be seen. */
function found(kind: string): Line {
  return {
    about: kind,
    needs: 'anyone',
    filters: true,
    ask: ({ id }) => ({ body: { id } }),
  }
}

const oneSpan = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'span',
              startTimeUnixNano: '1700000000000000000',
              endTimeUnixNano: '1700000001000000000',
            },
          ],
        },
      ],
    },
  ],
}

const oneLogRecord = {
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'line' } }] }] }],
}

const service: Table = {
  'GET /healthz': { needs: 'open', ask: () => ({}) },
  'GET /version': { needs: 'open', ask: () => ({}) },
  'GET /v1': { needs: 'open', ask: () => ({}) },
  'GET /metrics': { needs: [['update', 'organization']], ask: () => ({}) },
  'GET /admin/status': { needs: [['update', 'organization']], ask: () => ({}) },
  'POST /admin/backup/read': {
    needs: 'operator',
    ask: () => ({ body: { question: { part: 'state', transaction: 0 } } }),
  },
  // The feed itself has no end.
  'GET /admin/nodes/feed': {
    needs: 'operator',
    status: 400,
    ask: () => ({ path: '/admin/nodes/feed?position=x' }),
  },
  'POST /admin/backup/done': { needs: 'operator', ask: () => ({ body: {} }) },
  'GET /admin/queries': { needs: 'anyone', filters: true, ask: () => ({}) },
  'DELETE /admin/queries/:id': {
    needs: 'anyone',
    status: 404,
    ask: ({ id }) => ({ path: `/admin/queries/${id}` }),
  },
  'POST /admin/queries/:id/cancel': {
    needs: 'anyone',
    status: 404,
    ask: ({ id }) => ({ path: `/admin/queries/${id}/cancel`, body: {} }),
  },
  'POST /btql/async': queryLine('/btql/async'),
  'GET /btql/async': { needs: 'anyone', filters: true, ask: () => ({}) },
  ...Object.fromEntries(
    [
      ['GET', ''],
      ['GET', '/result'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ].map(([method, at]) => [
      `${method} /btql/async/:id${at}`,
      {
        needs: 'anyone',
        status: 404,
        ask: ({ id }) => ({
          path: `/btql/async/${id}${at}`,
          ...(method === 'POST' && { body: {} }),
        }),
      } satisfies Line,
    ]),
  ),
  'GET /session': { needs: 'open', status: 401, ask: () => ({}) },
  'POST /session': {
    needs: 'open',
    status: 401,
    ask: ({ name }) => ({ body: { email: `${name}@example.com`, password: 'a long password' } }),
  },
  'GET /session/ways': { needs: 'open', ask: () => ({}) },
  'GET /session/openid': { needs: 'open', status: 404, ask: () => ({}) },
  'GET /session/openid/callback': { needs: 'open', status: 404, ask: () => ({}) },
  'DELETE /session': { needs: 'anyone', ask: () => ({}) },
  'DELETE /session/all': { needs: 'anyone', destroys: true, ask: () => ({}) },
  'GET /session/rights': {
    needs: 'anyone',
    filters: true,
    ask: ({ id }) => ({ path: `/session/rights?object_type=project&object_id=${id}` }),
  },
  'PATCH /session/preferences': {
    needs: 'anyone',
    ask: () => ({ body: { query_language: true } }),
  },
  'PUT /session/password': {
    needs: 'anyone',
    destroys: true,
    ask: () => ({ body: { password: 'a long password' } }),
  },
  ...Object.fromEntries(
    [
      ['/otel/v1/traces', oneSpan] as const,
      ['/v1/traces', oneSpan] as const,
      ['/otel/v1/logs', oneLogRecord] as const,
      ['/v1/logs', oneLogRecord] as const,
    ].map(([path, body]) => [
      `POST ${path}`,
      {
        about: 'project_log',
        needs: [['update', 'project_log']],
        ask: ({ id }) => ({
          body,
          headers: { 'x-bt-parent': `project_id:${id}`, 'content-type': 'application/json' },
        }),
      } satisfies Line,
    ]),
  ),
  'POST /mcp': {
    needs: 'anyone',
    filters: true,
    about: 'experiment',
    ask: ({ id }) => ({
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'query', arguments: { query: `select: * | from: experiment('${id}')` } },
      },
    }),
  },
  'POST /search': {
    about: 'experiment',
    needs: [['read', 'experiment']],
    ask: ({ id }) => ({ body: { text: 'row', source: `experiment('${id}')` } }),
  },
  'POST /btql': queryLine('/btql'),
  'POST /btql/stream': queryLine('/btql/stream'),
  'GET /btql/stream': {
    about: 'experiment',
    needs: [['read', 'experiment']],
    ask: ({ id }) => {
      const query = encodeURIComponent(`select: * | from: experiment('${id}')`)
      return { path: `/btql/stream?query=${query}` }
    },
  },
  'POST /btql/explain': queryLine('/btql/explain'),
  'POST /btql/export': queryLine('/btql/export'),
  'GET /btql/export/:name': {
    needs: 'anyone',
    status: 404,
    ask: ({ name }) => ({ path: `/btql/export/${name}` }),
  },
  'POST /btql/check': { ...queryLine('/btql/check'), needs: 'anyone', filters: true },
  'POST /btql/complete': { ...queryLine('/btql/complete'), needs: 'anyone', filters: true },
}

function queryLine(path: string): Line {
  return {
    about: 'experiment',
    needs: [['read', 'experiment']],
    ask: ({ id }) => ({ path, body: { query: `select: * | from: experiment('${id}')` } }),
  }
}

export const accessTable: Readonly<Table> = {
  ...service,
  ...app,
  ...records,
  ...resources,
  ...promptRoutes('prompt', {}),
  ...promptRoutes('function', { function_data: { type: 'prompt' } }),
  'POST /v1/function/:function_id/invoke': {
    about: 'function',
    needs: [['read', 'function']],
    status: 501,
    ask: ({ id }) => ({ path: `/v1/function/${id}/invoke`, body: {} }),
  },
  'GET /crud/base_experiments': about('experiment', 'read', '/crud/base_experiments?id=ID'),
  ...Object.fromEntries(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [
      `${method} /crud/:object_type`,
      {
        needs: 'anyone',
        status: 410,
        ask: () => ({ path: '/crud/experiment', ...(method !== 'GET' && { body: {} }) }),
      } satisfies Line,
    ]),
  ),
  'POST /insert-functions': {
    about: 'project',
    needs: [
      ['update', 'new prompt'],
      ['read', 'new prompt'],
    ],
    destroys: true,
    ask: ({ id, name }) => ({
      body: {
        functions: [{ project_id: id, name, slug: name, function_data: { type: 'prompt' } }],
      },
    }),
  },
  'POST /function/code': { needs: 'anyone', ask: () => ({ body: {} }) },
  ...Object.fromEntries(
    [
      '/function/invoke',
      '/function/sandbox-list',
      '/v1/eval',
      '/v1/proxy/:path',
      '/v1/proxy/:path/:rest',
      '/v1/proxy/:path/:rest/:end',
      '/brainstore/automation/:action',
      '/topic-map-report-url',
      '/topic-map-btmap-url',
    ].map((path) => notRun('POST', path)),
  ),
  ...Object.fromEntries(
    ['', '/:rest', '/:rest/:end'].flatMap((rest) =>
      ['GET', 'POST', 'PATCH', 'DELETE'].map((method) =>
        notRun(method, `/loop/runtime/:path${rest}`),
      ),
    ),
  ),
  ...environmentObjects('/environment-object/:type/:id'),
  ...access,
}

function notRun(method: string, path: string): [string, Line] {
  const ask = () => ({ path: path.replaceAll(':', ''), ...(method !== 'GET' && { body: {} }) })
  return [`${method} ${path}`, { needs: 'anyone', status: 501, ask }]
}

/** Nothing has been assigned to an environment: who may see the object is told that. */
function environmentObjects(path: string, type = 'dataset', kind = type): Table {
  const line = (permission: string, at: string, body?: object): Line => ({
    about: kind,
    needs: [[permission, kind]],
    ask: ({ id }) => ({ path: `/environment-object/${type}/${id}${at}`, ...(body && { body }) }),
  })
  const version = { object_version: '1000' }
  return {
    [`GET ${path}`]: line('read', ''),
    [`POST ${path}`]: {
      ...line('update', '', { ...version, environment_slug: 's' }),
      destroys: true,
    },
    [`GET ${path}/:slug`]: { ...line('read', '/never'), status: 400 },
    [`PUT ${path}/:slug`]: { ...line('update', '/s', version), destroys: true },
    [`DELETE ${path}/:slug`]: { ...line('update', '/s'), destroys: true },
  }
}

/** The same routes for single prompts and functions, and states of these that are asked for by name. */
export const partsOfPrompt: readonly Readonly<Table>[] = [
  environmentObjects('/environment-object/:type/:id', 'prompt'),
  environmentObjects('/environment-object/:type/:id', 'function'),
  stateOf('prompt', 'version=1000', 403),
  stateOf('prompt', 'environment=never', 400),
  stateOf('function', 'environment=never', 400),
]

function stateOf(kind: string, query: string, status: number): Table {
  return {
    [`GET /v1/${kind}/:${kind}_id`]: {
      about: kind,
      needs: [['read', kind]],
      status,
      ask: ({ id }) => ({ path: `/v1/${kind}/${id}?${query}` }),
    },
  }
}
