import type { Gate } from '../../access/gate.ts'
import type { FoundOrCreated } from '../../catalog/entry.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import { AssayError } from '../../error.ts'
import { type JsonBody, stringField } from '../json-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { RouteRequest } from '../route.ts'

type Handle = (request: RouteRequest, gate: Gate) => Promise<Reply>

/** 200 with the entry as it is, and a header when it was there before. */
export function createReply({ entry, found }: FoundOrCreated<unknown>): Reply {
  return jsonReply(entry, found ? { 'x-bt-found-existing': 'true' } : {})
}

/** PUT does what POST does, and says that it will go. */
export function deprecated(handle: Handle): Handle {
  return async (request, gate) => {
    const reply = await handle(request, gate)
    return { ...reply, headers: { ...reply.headers, deprecation: 'true' } }
  }
}

/** The project that a body names by `project_id` or `project_name`. */
export function projectOf(body: JsonBody, gate: Gate): string {
  const id = stringField(body, 'project_id')
  if (id !== undefined) return gate.require('read', 'project', id).id
  const name = stringField(body, 'project_name')
  if (name === undefined) {
    throw new AssayError('REQUEST_INVALID', '"project_id" is missing', { path: 'project_id' })
  }
  const project = gate.projectByName(name)
  if (!project) throw missingAccess('read', 'project', name)
  return project.id
}
