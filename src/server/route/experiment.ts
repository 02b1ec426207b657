import { randomBytes } from 'node:crypto'
import type { Gate } from '../../access/gate.ts'
import {
  booleanField,
  type JsonBody,
  objectField,
  parseJsonBody,
  stringField,
  stringsField,
} from '../json-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'
import { createReply, deprecated, projectOf } from './create.ts'
import { listInProject } from './list-in-project.ts'

/** `/v1/experiment`: find or create by name, look up, list. */
export const experimentRoutes: readonly Route[] = [
  { method: 'POST', path: '/v1/experiment', access: 'key', handle: create },
  { method: 'PUT', path: '/v1/experiment', access: 'key', handle: deprecated(create) },
  {
    method: 'GET',
    path: '/v1/experiment',
    access: 'key',
    handle: ({ query }, gate) =>
      listInProject([...gate.list('experiment')], query, gate, 'experiment_name'),
  },
  {
    method: 'GET',
    path: '/v1/experiment/:id',
    access: 'key',
    handle: ({ parameters }, gate) => jsonReply(gate.require('read', 'experiment', parameters[0]!)),
  },
]

async function create(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = parseJsonBody(await request.body)
  const given = fieldsOf(body, projectOf(body, gate))
  const ensureNew = booleanField(body, 'ensure_new') ?? false
  for (;;) {
    const result = await gate.findOrCreate('experiment', given)
    if (!ensureNew || !result.found) return createReply(result)
    given.name = `${result.entry.name}-${randomBytes(4).toString('hex')}`
  }
}

function fieldsOf(body: JsonBody, projectId: string) {
  const repository = objectField(body, 'repo_info') ?? null
  const commit = repository && Object.hasOwn(repository, 'commit') ? repository.commit : null
  return {
    project_id: projectId,
    name: stringField(body, 'name') ?? `experiment-${Math.floor(Date.now() / 1000)}`,
    description: stringField(body, 'description') ?? null,
    repo_info: repository,
    commit: typeof commit === 'string' ? commit : null,
    base_exp_id: stringField(body, 'base_exp_id') ?? null,
    dataset_id: stringField(body, 'dataset_id') ?? null,
    dataset_version: stringField(body, 'dataset_version') ?? null,
    internal_metadata: objectField(body, 'internal_metadata') ?? null,
    parameters_id: stringField(body, 'parameters_id') ?? null,
    parameters_version: stringField(body, 'parameters_version') ?? null,
    public: booleanField(body, 'public') ?? false,
    metadata: objectField(body, 'metadata') ?? null,
    tags: stringsField(body, 'tags') ?? null,
  }
}
