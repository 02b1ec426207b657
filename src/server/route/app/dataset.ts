import type { Gate } from '../../../access/gate.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { objectField, stringField, stringsField } from '../../json-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { knownProject, namedObject, registeredProject } from './request.ts'

export const appDatasetRoutes: readonly Route[] = [
  { method: 'POST', path: '/api/dataset/register', access: 'key', handle: register },
  { method: 'POST', path: '/api/dataset/get', access: 'key', handle: find },
]

/** Finds a dataset by name, or makes it, and its project. */
async function register(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const project = await registeredProject(body, gate)
  const { entry, found } = await gate.findOrCreate('dataset', {
    project_id: project.id,
    name: stringField(body, 'dataset_name') ?? madeUpName(),
    description: stringField(body, 'description') ?? null,
    tags: stringsField(body, 'tags') ?? null,
    metadata: objectField(body, 'metadata') ?? null,
  })
  return jsonReply({ project, dataset: entry, found_existing: found })
}

function madeUpName(): string {
  return `logs ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`
}

/** The dataset of an id or name, in a list, which is empty if there is none. */
async function find(request: RouteRequest, gate: Gate): Promise<Reply> {
  const body = await readJsonBody(request)
  const id = stringField(body, 'id') ?? stringField(body, 'dataset_id')
  if (id !== undefined)
    return jsonReply(gate.readable('dataset', id) ? [gate.require('read', 'dataset', id)] : [])
  const project = knownProject(body, gate)
  const name = stringField(body, 'dataset_name')
  if (!project) return jsonReply([])
  if (name === undefined) {
    return jsonReply([...gate.list('dataset', { parentId: project.id })])
  }
  const found = namedObject(gate, 'dataset', project.id, name)
  return jsonReply(found === undefined ? [] : [gate.require('read', 'dataset', found)])
}
