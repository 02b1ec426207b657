/** Which version of a prompt or dataset each environment has. */
import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import { AssayError } from '../../../error.ts'
import { formatTransaction, parseTransaction } from '../../../type/transaction.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { requiredString } from '../../json-body.ts'
import { jsonReply } from '../../reply.ts'
import type { PromptStore } from '../../resource/prompt-store.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { checkOrganization } from './request.ts'

type ObjectType = 'prompt' | 'dataset'

interface Place {
  readonly type: ObjectType
  readonly id: string
}

export function environmentObjectRoutes(prompts: PromptStore): Route[] {
  const path = '/environment-object/:type/:id'
  return [
    {
      method: 'GET',
      path,
      access: 'key',
      handle: async (request, gate) => {
        const { type, id } = await objectOf(prompts, request, gate, 'read')
        const all = [...gate.list('environment_object', { parentId: id })]
        return jsonReply({ objects: all.filter(({ object_type }) => object_type === type) })
      },
    },
    {
      method: 'POST',
      path,
      access: 'key',
      handle: async (request, gate) => {
        const place = await objectOf(prompts, request, gate, 'update')
        const body = await readJsonBody(request)
        checkOrganization(body, gate)
        const slug = requiredString(body, 'environment_slug')
        const version = normalized(requiredString(body, 'object_version'))
        const { entry, found } = await assign(gate, place, slug, version)
        if (!found || entry.object_version === version) return jsonReply(entry)
        throw new AssayError('REQUEST_CONFLICT', `"${slug}" has another version of it already`, {
          path: 'environment_slug',
          hint: `PUT it to ${path.replace(':type/:id', `${place.type}/${place.id}`)}/${slug}`,
        })
      },
    },
    {
      method: 'GET',
      path: `${path}/:slug`,
      access: 'key',
      handle: async (request, gate) => {
        const place = await objectOf(prompts, request, gate, 'read')
        return jsonReply(assigned(gate, place, request.parameters[2]!))
      },
    },
    {
      method: 'PUT',
      path: `${path}/:slug`,
      access: 'key',
      handle: async (request, gate) => {
        const place = await objectOf(prompts, request, gate, 'update')
        const body = await readJsonBody(request)
        checkOrganization(body, gate)
        const version = normalized(requiredString(body, 'object_version'))
        const { entry, found } = await assign(gate, place, request.parameters[2]!, version)
        if (!found) return jsonReply(entry)
        return jsonReply(
          await gate.update('environment_object', entry.id, { object_version: version }),
        )
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:slug`,
      access: 'key',
      handle: async (request, gate) => {
        const place = await objectOf(prompts, request, gate, 'update')
        const { id } = assigned(gate, place, request.parameters[2]!)
        return jsonReply(await gate.remove('environment_object', id))
      },
    },
  ]
}

/** The object that the path names; throws unless the principal has the right to it. */
async function objectOf(
  prompts: PromptStore,
  { parameters: [type, id] }: RouteRequest,
  gate: Gate,
  right: 'read' | 'update',
): Promise<Place> {
  if (type === 'dataset') return { type, id: gate.require(right, 'dataset', id!).id }
  if (type === 'prompt' || type === 'function') {
    await prompts.require(gate, right, 'function', id!)
    return { type: 'prompt', id: id! }
  }
  throw new AssayError('REQUEST_INVALID', `environments have no versions of a ${type}`, {
    hint: 'they have versions of a prompt or a dataset',
  })
}

function assign(gate: Gate, { type, id }: Place, slug: string, version: string) {
  return gate.findOrCreate('environment_object', {
    object_type: type,
    object_id: id,
    environment_slug: slug,
    object_version: version,
  })
}

/** Clients take 400 for "there is none". */
function assigned(gate: Gate, { type, id }: Place, slug: string) {
  const entry = gate.named('environment_object', id, `${type}/${slug}`)
  if (entry) return entry
  const { message } = missingAccess('read', 'environment', slug)
  throw new AssayError('REQUEST_INVALID', message, { path: 'environment' })
}

function normalized(version: string): string {
  return formatTransaction(parseTransaction(version))
}
