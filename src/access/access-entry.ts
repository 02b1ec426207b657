/** What has to hold for groups, roles and ACLs before they are written. */
import type { Acl, Entries, EntryKind, Group, Role } from '../catalog/entry.ts'
import type { AccessType } from '../catalog/permission.ts'
import { AssayError } from '../error.ts'
import type { AccessGraph } from './access-graph.ts'

/** What may be named. Who asks sees what is not there and what is not for them alike. */
export interface Nameable {
  hasUser(id: string): boolean
  hasGroup(id: string): boolean
  hasRole(id: string): boolean
}

/** Throws REQUEST_INVALID, with the field at fault. Entries of other kinds have no such rules. */
export function checkEntry<K extends EntryKind>(
  kind: K,
  entry: Entries[K],
  before: Entries[K] | undefined,
  named: Nameable,
  graph: AccessGraph,
): void {
  if (kind === 'group') checkGroup(entry as Group, before as Group | undefined, named, graph)
  else if (kind === 'role') checkRole(entry as Role, before as Role | undefined, named, graph)
  else if (kind === 'acl') checkAcl(entry as Acl, named)
}

/** Users and groups that are named newly have to be there; what was named before may stay. */
function checkGroup(
  group: Group,
  before: Group | undefined,
  named: Nameable,
  graph: AccessGraph,
): void {
  checkNamed(group.member_users, before?.member_users, 'user', 'member_users', named.hasUser)
  checkNamed(group.member_groups, before?.member_groups, 'group', 'member_groups', named.hasGroup)
  if (graph.closesGroupCycle(group.id, group.member_groups ?? [])) {
    throw invalid('a group cannot contain itself, directly or through others', 'member_groups')
  }
}

function checkRole(
  role: Role,
  before: Role | undefined,
  named: Nameable,
  graph: AccessGraph,
): void {
  checkNamed(role.member_roles, before?.member_roles, 'role', 'member_roles', named.hasRole)
  if (graph.closesRoleCycle(role.id, role.member_roles ?? [])) {
    throw invalid('a role cannot inherit from itself, directly or through others', 'member_roles')
  }
}

/** Types of what can be within an object of a type, and that type itself. */
const within: { readonly [type in AccessType]?: readonly AccessType[] } = {
  project: ['project', 'experiment', 'dataset', 'prompt', 'prompt_session', 'project_log'],
  org_ai_secret: ['ai_secret', 'org_ai_secret'],
  org_project: ['project', 'experiment', 'dataset', 'prompt', 'prompt_session', 'project_log'],
}

function checkAcl(acl: Acl, named: Nameable): void {
  const { user_id, group_id, permission, role_id, object_type, restrict_object_type } = acl
  if ((user_id === null) === (group_id === null)) {
    throw invalid(
      'an ACL is for either a user or a group: give one of user_id and group_id',
      'user_id',
    )
  }
  if ((permission === null) === (role_id === null)) {
    const message = 'an ACL gives either a permission or a role: give one of permission and role_id'
    throw invalid(message, 'permission')
  }
  if (restrict_object_type !== null) {
    if (role_id !== null) {
      throw invalid(
        'restrict_object_type goes with a permission, not with a role',
        'restrict_object_type',
      )
    }
    const types =
      object_type === 'organization' ? undefined : (within[object_type] ?? [object_type])
    if (types && !types.includes(restrict_object_type)) {
      const message = `nothing of the type ${restrict_object_type} is in a ${object_type}`
      throw invalid(message, 'restrict_object_type')
    }
  }
  if (user_id !== null) checkNamed([user_id], [], 'user', 'user_id', named.hasUser)
  if (group_id !== null) checkNamed([group_id], [], 'group', 'group_id', named.hasGroup)
  if (role_id !== null) checkNamed([role_id], [], 'role', 'role_id', named.hasRole)
}

function checkNamed(
  now: readonly string[] | null,
  before: readonly string[] | null | undefined,
  kind: EntryKind,
  path: string,
  has: (id: string) => boolean,
): void {
  const known = new Set(before)
  const missing = now?.find((id) => !known.has(id) && !has(id))
  if (missing === undefined) return
  throw invalid(`there is no ${kind} ${missing} that you may see`, path)
}

function invalid(message: string, path: string): AssayError {
  return new AssayError('REQUEST_INVALID', message, { path })
}
