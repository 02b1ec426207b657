import type { Gate } from '../../../access/gate.ts'
import { AssayError } from '../../../error.ts'
import type { ObjectType } from '../../../type/record.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { requiredString, stringsField } from '../../json-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

/** What clients ask about themselves and about objects of which they only know the id. */
export const appSelfRoutes: readonly Route[] = [
  { method: 'POST', path: '/api/self/get_object_info', access: 'key', handle: objectInfo },
  {
    method: 'GET',
    path: '/api/self/me',
    access: 'key',
    handle: (_, gate) => jsonReply(self(gate)),
  },
  {
    method: 'POST',
    path: '/api/self/me',
    access: 'key',
    handle: (_, gate) => jsonReply(self(gate)),
  },
  { method: 'GET', path: '/ping', access: 'key', handle: (_, gate) => jsonReply(self(gate)) },
]

const types: ReadonlyMap<string, ObjectType> = new Map([
  ['project', 'project_logs'],
  ['project_log', 'project_logs'],
  ['experiment', 'experiment'],
  ['dataset', 'dataset'],
  ['prompt_session', 'playground_logs'],
])

/** The user who asks, and the one organization that the key is for. */
function self(gate: Gate) {
  const { id, name } = gate.organization()
  return { ...gate.people.self(), organizations: [{ id, name }] }
}

/** Names and places of those objects that may be read; the others are left out. */
async function objectInfo(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const given = requiredString(body, 'object_type')
  const type = types.get(given)
  if (!type) {
    throw new AssayError('REQUEST_INVALID', `"${given.slice(0, 100)}" is no type of objects`, {
      path: 'object_type',
      hint: `one of ${[...types.keys()].join(', ')}`,
    })
  }
  const organization = gate.organization()
  const ids = stringsField(body, 'object_ids') ?? []
  return jsonReply(
    ids.flatMap((id) => {
      const object = gate.readable(type, id)
      if (!object) return []
      const project = gate.find('project', object.projectId)
      return {
        object_id: object.id,
        object_name: object.name,
        parent_cols: {
          organization: { id: organization.id, name: organization.name },
          ...(project &&
            type !== 'project_logs' && { project: { id: project.id, name: project.name } }),
        },
      }
    }),
  )
}
