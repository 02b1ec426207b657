/** `/v1/role` and `/v1/group`: what can be given, and whom it can be given to. */
import {
  groupPatch,
  groupSchema,
  newGroup,
  newRole,
  rolePatch,
  roleSchema,
} from '../../catalog/schema/access.ts'
import type { Route } from '../route.ts'
import { resourceRoutes } from './resource.ts'

type Values = { readonly [field: string]: unknown }

export const roleRoutes: readonly Route[] = [
  ...resourceRoutes({
    kind: 'role',
    path: '/v1/role',
    parameter: 'role',
    title: 'role',
    schema: roleSchema,
    list: {},
    creation: { body: newRole, put: 'replace' },
    patch: {
      body: rolePatch,
      changes: (body) => (before) => ({
        ...named(body),
        ...membersChanged(body, 'member_permissions', before.member_permissions, permissionKey),
        ...membersChanged(body, 'member_roles', before.member_roles, String),
      }),
    },
    isRemovable: true,
  }),
  ...resourceRoutes({
    kind: 'group',
    path: '/v1/group',
    parameter: 'group',
    title: 'group',
    schema: groupSchema,
    list: {},
    creation: { body: newGroup, put: 'replace' },
    patch: {
      body: groupPatch,
      changes: (body) => (before) => ({
        ...named(body),
        ...membersChanged(body, 'member_users', before.member_users, String),
        ...membersChanged(body, 'member_groups', before.member_groups, String),
      }),
    },
    isRemovable: true,
  }),
]

export function named({ name, description }: Values): { name?: string; description?: string } {
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
  }
}

/** Applies `add_<field>` and `remove_<field>`. What is in both is out. */
export function membersChanged<Field extends string, Member>(
  body: Values,
  field: Field,
  before: readonly Member[] | null,
  keyOf: (member: Member) => string,
): { [name in Field]?: Member[] } {
  const [added, removed] = [body[`add_${field}`], body[`remove_${field}`]]
  if (added === undefined && removed === undefined) return {}
  const members = new Map((before ?? []).map((member) => [keyOf(member), member]))
  // The body's schema has vouched for them.
  for (const member of (added ?? []) as Member[]) members.set(keyOf(member), member)
  for (const member of (removed ?? []) as Member[]) members.delete(keyOf(member))
  return { [field]: [...members.values()] } as { [name in Field]?: Member[] }
}

function permissionKey(given: {
  readonly permission: string
  readonly restrict_object_type?: string | null | undefined
}): string {
  return `${given.permission}/${given.restrict_object_type ?? ''}`
}
