import type { Gate } from '../../access/gate.ts'
import { parseJsonBody, requiredString, stringField } from '../json-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'
import { createReply, projectOf } from './create.ts'
import { listInProject } from './list-in-project.ts'

/** `/v1/prompt_session`: playgrounds; find or create by name, look up, list. */
export const promptSessionRoutes: readonly Route[] = [
  { method: 'POST', path: '/v1/prompt_session', access: 'key', handle: create },
  {
    method: 'GET',
    path: '/v1/prompt_session',
    access: 'key',
    handle: ({ query }, gate) =>
      listInProject([...gate.list('prompt_session')], query, gate, 'prompt_session_name'),
  },
  {
    method: 'GET',
    path: '/v1/prompt_session/:id',
    access: 'key',
    handle: ({ parameters }, gate) =>
      jsonReply(gate.require('read', 'prompt_session', parameters[0]!)),
  },
]

async function create(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = parseJsonBody(await request.body)
  return createReply(
    await gate.findOrCreate('prompt_session', {
      project_id: projectOf(body, gate),
      name: requiredString(body, 'name'),
      description: stringField(body, 'description') ?? null,
    }),
  )
}
