import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import { AssayError } from '../../../error.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { stringField } from '../../json-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { checkOrganization, registeredProject } from './request.ts'

export const appProjectRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/project/register',
    access: 'key',
    handle: async (request, gate) =>
      jsonReply({ project: await registeredProject(await readJsonBody(request), gate) }),
  },
  { method: 'POST', path: '/api/project/get', access: 'key', handle: find },
  { method: 'GET', path: '/api/project', access: 'key', handle: read },
]

/** All projects that the body selects by `id` or name, as a list. */
async function find(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  checkOrganization(body, gate)
  const id = stringField(body, 'id') ?? stringField(body, 'project_id')
  const name = stringField(body, 'name') ?? stringField(body, 'project_name')
  if (id === undefined && name === undefined) return jsonReply([...gate.list('project')])
  const found = gate.readableProject(id ?? name!)
  const isSelected =
    found && (id === undefined || found.id === id) && (name === undefined || found.name === name)
  return jsonReply(isSelected ? [gate.require('read', 'project', found.id)] : [])
}

function read({ query }: RouteRequest, gate: Gate): Reply {
  const asked = query.get('id') ?? query.get('project_id') ?? query.get('name')
  if (asked === null) throw new AssayError('REQUEST_INVALID', '"id" is missing', { path: 'id' })
  const found = gate.readableProject(asked)
  if (!found) throw missingAccess('read', 'project', asked)
  return jsonReply(gate.require('read', 'project', found.id))
}
