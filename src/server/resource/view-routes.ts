/** `/v1/view`: how pages of a user interface show an object. Each request says which object it is. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { Entries, Patch } from '../../catalog/entry.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import { aclObjectType } from '../../catalog/schema/access.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { newView, viewOwner, viewPatch, viewSchema, viewType } from '../../catalog/schema/view.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { pageQuery, readPage } from './list-query.ts'
import { mergedFields } from './merge.ts'
import { present, putIsDeprecated, withoutNulls } from './resource.ts'

const path = '/v1/view'
const one = { path: `${path}/:view_id`, tag: 'view', answer: viewSchema }
const texts = z.array(z.string()).optional()
const owner = { object_type: aclObjectType, object_id: identifier }

export const viewRoutes: readonly Route[] = [
  createRoute('POST'),
  createRoute('PUT'),
  operation({
    method: 'GET',
    path,
    tag: 'view',
    summary: 'Lists the views of an object, newest first',
    query: pageQuery.extend({
      ...owner,
      view_type: viewType.optional(),
      view_name: texts,
      name: texts,
    }),
    answer: z.object({ objects: z.array(viewSchema) }),
    handle: ({ query }, gate) => {
      const names = [...(query.view_name ?? []), ...(query.name ?? [])]
      const views = readPage(gate, 'view', query, {
        scope: { parentId: query.object_id },
        names: names.length > 0 ? names : undefined,
        matches: ({ object_type, view_type }) =>
          object_type === query.object_type &&
          (query.view_type === undefined || view_type === query.view_type),
      })
      return jsonReply({ objects: views.map((view) => shown(view, gate)) })
    },
  }),
  operation({
    ...one,
    method: 'GET',
    summary: 'Reads a view',
    query: z.strictObject(owner),
    handle: ({ ids, query }, gate) => jsonReply(shown(viewOf(gate, 'read', ids[0]!, query), gate)),
  }),
  operation({
    ...one,
    method: 'PATCH',
    summary: 'Changes fields of a view; objects are merged into those that are there',
    body: viewPatch,
    handle: async ({ ids, body }, gate) => {
      const { object_type: _, object_id: __, ...patch } = withoutNulls(body)
      const { id } = viewOf(gate, 'update', ids[0]!, body)
      const changes = (before: Entries['view']) => mergedFields(before, patch) as Patch<'view'>
      return jsonReply(shown(await gate.update('view', id, changes), gate))
    },
  }),
  operation({
    ...one,
    method: 'DELETE',
    summary: 'Removes a view',
    body: viewOwner,
    handle: async ({ ids, body }, gate) => {
      const { id } = viewOf(gate, 'delete', ids[0]!, body)
      return jsonReply(shown(await gate.remove('view', id), gate))
    },
  }),
]

function createRoute(method: 'POST' | 'PUT'): Route {
  const replaces = method === 'PUT'
  return operation({
    method,
    path,
    tag: 'view',
    summary: replaces
      ? 'Makes a view, or gives the one that is there these fields'
      : 'Makes a view, or answers the one that is there as it is',
    body: newView,
    answer: viewSchema,
    isDeprecated: replaces,
    handle: async ({ body }, gate) => {
      const { view_data = null, options = null, user_id, ...place } = body
      const given = { ...place, view_data, options, ...(user_id && { user_id }) }
      const { entry, found } = await gate.findOrCreate('view', given)
      const headers: Record<string, string> = {
        ...(found && { 'x-bt-found-existing': 'true' }),
        ...(replaces && putIsDeprecated(path)),
      }
      const isReplaced = replaces && found
      const view = isReplaced ? await gate.update('view', entry.id, { view_data, options }) : entry
      return jsonReply(shown(view, gate), headers)
    },
  })
}

function viewOf(
  gate: Gate,
  permission: 'read' | 'update' | 'delete',
  id: string,
  { object_type, object_id }: { readonly object_type: string; readonly object_id: string },
): Entries['view'] {
  const view = gate.require(permission, 'view', id)
  const isOfObject = view.object_type === object_type && view.object_id === object_id
  if (!isOfObject) throw missingAccess(permission, 'view', id)
  return view
}

function shown(view: Entries['view'], gate: Gate) {
  return present({ schema: viewSchema }, view, gate)
}
