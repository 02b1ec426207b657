/** `/v1/acl`: who has been given what on an object. An ACL is never changed, only given and taken. */
import { z } from 'zod'
import type { Acl } from '../../catalog/entry.ts'
import {
  aclBatchUpdate,
  aclItem,
  aclObjectType,
  aclSchema,
  permission,
} from '../../catalog/schema/access.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { pageQuery, readPage } from './list-query.ts'
import { putIsDeprecated } from './resource.ts'

type AclItem = z.infer<typeof aclItem>

const path = '/v1/acl'
const tag = 'ACL'

const filters = {
  user_id: identifier.optional(),
  group_id: identifier.optional(),
  permission: permission.optional(),
  restrict_object_type: aclObjectType.optional(),
  role_id: identifier.optional(),
}

const objectQuery = pageQuery.extend({
  object_type: aclObjectType,
  object_id: identifier,
  ...filters,
})

const organizationQuery = pageQuery.extend({
  object_type: aclObjectType.optional(),
  object_id: identifier.optional(),
  ...filters,
})

export const aclRoutes: readonly Route[] = [
  operation({
    method: 'POST',
    path,
    tag,
    summary: 'Gives a permission or a role to a user or a group; what is given already stays',
    body: aclItem,
    answer: aclSchema,
    handle: async ({ body }, gate) => {
      const { entry, found } = await gate.findOrCreate('acl', given(body))
      return jsonReply(entry, found ? { 'x-bt-found-existing': 'true' } : {})
    },
  }),
  operation({
    method: 'PUT',
    path,
    tag,
    summary: 'The same as POST',
    body: aclItem,
    answer: aclSchema,
    isDeprecated: true,
    handle: async ({ body }, gate) => {
      const { entry } = await gate.findOrCreate('acl', given(body))
      return jsonReply(entry, putIsDeprecated(path))
    },
  }),
  operation({
    method: 'GET',
    path,
    tag,
    summary: 'Lists what is given on an object itself, newest first',
    query: objectQuery,
    answer: z.object({ objects: z.array(aclSchema) }),
    handle: ({ query }, gate) => {
      const { object_type, object_id } = query
      gate.requirePermission('read_acls', object_type, object_id)
      const selection = {
        scope: { parentId: object_id },
        names: undefined,
        matches: matching(query),
      }
      return jsonReply({ objects: readPage(gate, 'acl', query, selection) })
    },
  }),
  operation({
    method: 'GET',
    path: `${path}/list_org`,
    tag,
    summary: 'Lists all ACLs of the organization, newest first',
    query: organizationQuery,
    answer: z.array(aclSchema),
    handle: ({ query }, gate) => {
      gate.requirePermission('read_acls', 'organization', gate.organization().id)
      const selection = { scope: {}, names: undefined, matches: matching(query) }
      return jsonReply(readPage(gate, 'acl', query, selection))
    },
  }),
  operation({
    method: 'POST',
    path: `${path}/batch_update`,
    tag,
    summary: 'Gives and takes several together; what is there or gone already is left out',
    body: aclBatchUpdate,
    answer: z.object({ added_acls: z.array(aclSchema), removed_acls: z.array(aclSchema) }),
    handle: async ({ body }, gate) => {
      const { add_acls, remove_acls } = body
      const added = (add_acls ?? []).map(given)
      const { added: added_acls, removed: removed_acls } = await gate.changeAcls(
        added,
        (remove_acls ?? []).map(given),
      )
      return jsonReply({ added_acls, removed_acls })
    },
  }),
  operation({
    method: 'DELETE',
    path,
    tag,
    summary: 'Takes back what these fields describe',
    body: aclItem,
    answer: aclSchema,
    handle: async ({ body }, gate) => jsonReply(await gate.removeAcl(given(body))),
  }),
  operation({
    method: 'GET',
    path: `${path}/:acl_id`,
    tag,
    summary: 'Reads an ACL',
    answer: aclSchema,
    handle: ({ ids }, gate) => jsonReply(gate.require('read', 'acl', ids[0]!)),
  }),
  operation({
    method: 'DELETE',
    path: `${path}/:acl_id`,
    tag,
    summary: 'Takes back an ACL',
    answer: aclSchema,
    handle: async ({ ids }, gate) => jsonReply(await gate.remove('acl', ids[0]!)),
  }),
]

/** What is not set is null: one ACL has one description. */
function given({ object_type, object_id, ...item }: AclItem) {
  return {
    object_type,
    object_id,
    user_id: item.user_id ?? null,
    group_id: item.group_id ?? null,
    permission: item.permission ?? null,
    restrict_object_type: item.restrict_object_type ?? null,
    role_id: item.role_id ?? null,
  }
}

function matching(query: z.infer<typeof organizationQuery>): (acl: Acl) => boolean {
  const wanted = (['object_type', 'object_id', ...filterNames] as const).filter(
    (name) => query[name] !== undefined,
  )
  return (acl) => wanted.every((name) => acl[name] === query[name])
}

const filterNames = Object.keys(filters) as readonly (keyof typeof filters)[]
