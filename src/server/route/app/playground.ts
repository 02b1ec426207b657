/** Playgrounds, as later versions of the command line list, find, change and remove them. */
import type { Gate } from '../../../access/gate.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { objectField, parseJsonBody, requiredString, stringField } from '../../json-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { knownProject, namedObject } from './request.ts'

const actions = '/api/actions'

export const appPlaygroundRoutes: readonly Route[] = [
  { method: 'POST', path: `${actions}/getPromptSessionSummary`, access: 'key', handle: list },
  { method: 'POST', path: `${actions}/getPromptSessionMeta`, access: 'key', handle: find },
  { method: 'POST', path: '/api/prompt_session/patch_id', access: 'key', handle: change },
  { method: 'POST', path: '/api/prompt_session/delete_id', access: 'key', handle: remove },
]

async function list(request: RouteRequest, gate: Gate): Promise<Reply> {
  const project = knownProject(await argumentsOf(request), gate)
  if (!project) return jsonReply([])
  const playgrounds = [...gate.list('prompt_session', { parentId: project.id })]
  return jsonReply(
    playgrounds.map(({ id, name, created, project_id }) => ({ id, name, created, project_id })),
  )
}

/** Null if there is none of that name. */
async function find(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await argumentsOf(request)
  const name = requiredString(body, 'playground')
  const project = knownProject(body, gate)
  const found = project && namedObject(gate, 'playground_logs', project.id, name)
  if (found === undefined) return jsonReply(null)
  const { id, created, project_id } = gate.require('read', 'prompt_session', found)
  return jsonReply({ id, name, created, project_id })
}

async function change(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const name = stringField(body, 'name')
  const description = stringField(body, 'description')
  return jsonReply(
    await gate.update('prompt_session', requiredString(body, 'id'), {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
    }),
  )
}

async function remove(request: RouteRequest, gate: Gate): Promise<Reply> {
  const id = requiredString(await readJsonBody(request), 'id')
  return jsonReply(await gate.remove('prompt_session', id))
}

/** Actions come with who asks beside what they are given; the key says who asks. */
async function argumentsOf(request: RouteRequest) {
  const given = objectField(parseJsonBody(await request.body), 'function_args') ?? {}
  return new Map(Object.entries(given).filter(([, value]) => value !== null))
}
