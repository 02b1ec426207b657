/** `/v1/view`: how pages of a user interface show an object. Each request says which object it is. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { Entries, Patch } from '../../catalog/entry.ts'
import { isFurtherField } from '../../catalog/further-fields.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import { aclObjectType } from '../../catalog/schema/access.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { newView, viewOwner, viewPatch, viewSchema, viewType } from '../../catalog/schema/view.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { pageQuery, readPage } from './list-query.ts'
import { mergedFields } from './merge.ts'
import {
  clearedFurther,
  mergedFurther,
  present,
  putIsDeprecated,
  withoutNulls,
} from './resource.ts'

const path = '/v1/view'
const one = { path: `${path}/:view_id`, tag: 'view', answer: viewSchema }
const keeps = (name: string) => isFurtherField('view', name)
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
      return jsonReply({ objects: views.map((view) => presented(view, gate)) })
    },
  }),
  operation({
    ...one,
    method: 'GET',
    summary: 'Reads a view',
    query: z.object(owner),
    handle: ({ ids, query }, gate) =>
      jsonReply(presented(viewOf(gate, 'read', ids[0]!, query), gate)),
  }),
  operation({
    ...one,
    method: 'PATCH',
    summary: 'Changes fields of a view; objects are merged into those that are there',
    body: viewPatch,
    keeps,
    handle: async ({ ids, body, further }, gate) => {
      const { object_type: _, object_id: __, ...patch } = withoutNulls(body)
      const { id } = viewOf(gate, 'update', ids[0]!, body)
      const changes = (before: Entries['view']): Patch<'view'> => ({
        ...mergedFields(before, patch),
        ...mergedFurther('view', before, further),
        updated_at: new Date().toISOString(),
      })
      return jsonReply(presented(await gate.update('view', id, changes), gate))
    },
  }),
  operation({
    ...one,
    method: 'DELETE',
    summary: 'Removes a view',
    body: viewOwner,
    handle: async ({ ids, body }, gate) => {
      const { id } = viewOf(gate, 'delete', ids[0]!, body)
      return jsonReply(presented(await gate.remove('view', id), gate))
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
    keeps,
    handle: async ({ body, further }, gate) => {
      const { view_data = null, options = null, user_id, ...place } = body
      const { description = null, starred = null, object_type, object_id, view_type, name } = place
      const shown = { view_data, options, description, starred }
      const owner = { object_type, object_id, view_type, name, ...(user_id && { user_id }) }
      const given = { ...further, ...owner, ...shown }
      const { entry, found } = await gate.findOrCreate('view', given)
      const headers: Record<string, string> = {
        ...(found && { 'x-bt-found-existing': 'true' }),
        ...(replaces && putIsDeprecated(path)),
      }
      const isReplaced = replaces && found
      const changes = (before: Entries['view']) => ({
        ...clearedFurther('view', before),
        ...further,
        ...shown,
        updated_at: new Date().toISOString(),
      })
      const view = isReplaced ? await gate.update('view', entry.id, changes) : entry
      return jsonReply(presented(view, gate), headers)
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

function presented(view: Entries['view'], gate: Gate) {
  return present({ kind: 'view', schema: viewSchema }, view, gate)
}
