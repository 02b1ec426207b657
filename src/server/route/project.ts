import type { Gate } from '../../access/gate.ts'
import { objectField, parseJsonBody, requiredString, stringField } from '../json-body.ts'
import type { Reply } from '../reply.ts'
import { jsonReply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'
import { createReply, deprecated } from './create.ts'
import { listReply } from './list.ts'

/** `/v1/project`: find or create by name, look up, list. */
export const projectRoutes: readonly Route[] = [
  { method: 'POST', path: '/v1/project', access: 'key', handle: create },
  { method: 'PUT', path: '/v1/project', access: 'key', handle: deprecated(create) },
  {
    method: 'GET',
    path: '/v1/project',
    access: 'key',
    handle: ({ query }, gate) =>
      listReply([...gate.list('project')], query, ['project_name', 'name']),
  },
  {
    method: 'GET',
    path: '/v1/project/:id',
    access: 'key',
    handle: ({ parameters }, gate) => jsonReply(gate.require('read', 'project', parameters[0]!)),
  },
]

async function create(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = parseJsonBody(await request.body)
  return createReply(
    await gate.findOrCreate('project', {
      name: requiredString(body, 'name'),
      description: stringField(body, 'description') ?? null,
      settings: objectField(body, 'settings') ?? null,
    }),
  )
}
