import type { Gate } from '../../access/gate.ts'
import {
  objectField,
  parseJsonBody,
  requiredString,
  stringField,
  stringsField,
} from '../json-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'
import { createReply, deprecated, projectOf } from './create.ts'
import { listInProject } from './list-in-project.ts'

/** `/v1/dataset`: find or create by name, look up, list. */
export const datasetRoutes: readonly Route[] = [
  { method: 'POST', path: '/v1/dataset', access: 'key', handle: create },
  { method: 'PUT', path: '/v1/dataset', access: 'key', handle: deprecated(create) },
  {
    method: 'GET',
    path: '/v1/dataset',
    access: 'key',
    handle: ({ query }, gate) =>
      listInProject([...gate.list('dataset')], query, gate, 'dataset_name'),
  },
  {
    method: 'GET',
    path: '/v1/dataset/:id',
    access: 'key',
    handle: ({ parameters }, gate) => jsonReply(gate.require('read', 'dataset', parameters[0]!)),
  },
]

async function create(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = parseJsonBody(await request.body)
  return createReply(
    await gate.findOrCreate('dataset', {
      project_id: projectOf(body, gate),
      name: requiredString(body, 'name'),
      description: stringField(body, 'description') ?? null,
      tags: stringsField(body, 'tags') ?? null,
      metadata: objectField(body, 'metadata') ?? null,
    }),
  )
}
