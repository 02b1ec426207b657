/** Who is in the organization, what they are given, and by which keys they come in. */

import type { Permission } from '../../catalog/permission.ts'
import { request, requestJson } from './client.ts'

export interface User {
  readonly id: string
  readonly given_name: string | null
  readonly family_name: string | null
  readonly email: string | null
  readonly created: string | null
}

export interface Group {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly member_users: readonly string[] | null
  readonly member_groups: readonly string[] | null
}

export interface RolePermission {
  readonly permission: Permission
  readonly restrict_object_type?: string | null
}

export interface Role {
  readonly id: string
  /** Null of those that are built in. */
  readonly org_id: string | null
  readonly name: string
  readonly description: string | null
  readonly member_permissions: readonly RolePermission[] | null
  readonly member_roles: readonly string[] | null
}

export interface Acl {
  readonly id: string
  readonly object_type: string
  readonly object_id: string
  readonly user_id: string | null
  readonly group_id: string | null
  readonly role_id: string | null
  readonly permission: Permission | null
  readonly restrict_object_type: string | null
}

/** The newest 10,000, which is what the service lists at a time. */
export async function listAll<Item>(path: string, signal: AbortSignal): Promise<readonly Item[]> {
  const { objects } = await requestJson<{ objects: readonly Item[] }>(`${path}?limit=10000`, {
    signal,
  })
  return objects
}

/** What cannot be seen is left out: lists of it are empty. */
export interface Directory {
  readonly users: readonly User[]
  readonly groups: readonly Group[]
  readonly roles: readonly Role[]
  readonly projects: readonly { readonly id: string; readonly name: string }[]
}

export async function loadDirectory(signal: AbortSignal): Promise<Directory> {
  const [users, groups, roles, projects] = await Promise.all([
    listAll<User>('/v1/user', signal),
    listAll<Group>('/v1/group', signal),
    listAll<Role>('/v1/role', signal),
    listAll<Directory['projects'][number]>('/v1/project', signal),
  ])
  return { users, groups, roles, projects }
}

/** Service accounts have addresses that no mail can be sent to. */
export function isServiceAccount({ email }: User): boolean {
  return email?.endsWith('@service-account.invalid') ?? false
}

export function nameOfUser(user: User | undefined): string {
  if (!user) return 'somebody else'
  const name = [user.given_name, user.family_name].filter((part) => part).join(' ')
  if (isServiceAccount(user)) return name || 'service account'
  if (user.email === null) return name || 'owner'
  return name === '' ? user.email : `${name} (${user.email})`
}

export async function remove(path: string, id: string): Promise<void> {
  await request(`${path}/${id}`, { method: 'DELETE' })
}
