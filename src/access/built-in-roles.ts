/**
 * The roles that are there from the start, in every organization and for good, and the groups that
 * a new organization has them in.
 */
import { type AccessType, type Permission, permissions } from '../catalog/permission.ts'
import type { RolePermission } from './access-graph.ts'

export interface BuiltInRole {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly member_permissions: readonly RolePermission[]
  /** The group of a new organization that has the role on it. */
  readonly group: { readonly name: string; readonly description: string }
}

const inProjects: readonly AccessType[] = [
  'project',
  'experiment',
  'dataset',
  'prompt',
  'prompt_session',
  'project_log',
]

/** What one works with others by: who is there, and what may be granted. */
const people: readonly AccessType[] = ['organization', 'org_member', 'group', 'role']

function each(given: readonly Permission[], types: readonly AccessType[]): RolePermission[] {
  return types.flatMap((restrict_object_type) =>
    given.map((permission) => ({ permission, restrict_object_type })),
  )
}

export const ownerRole: BuiltInRole = {
  id: 'b0000000-0000-4000-8000-000000000001',
  name: 'Owner',
  description: 'Everything, and deciding who else may',
  member_permissions: permissions.map((permission) => ({ permission })),
  group: { name: 'Owners', description: 'May do everything in this organization' },
}

const engineerRole: BuiltInRole = {
  id: 'b0000000-0000-4000-8000-000000000002',
  name: 'Engineer',
  description: 'Reads and changes projects and what is in them',
  member_permissions: [
    ...each(['create', 'read', 'update', 'delete'], inProjects),
    ...each(['read'], people),
  ],
  group: { name: 'Engineers', description: 'May read and change all projects' },
}

const viewerRole: BuiltInRole = {
  id: 'b0000000-0000-4000-8000-000000000003',
  name: 'Viewer',
  description: 'Reads projects and what is in them',
  member_permissions: each(['read'], [...inProjects, ...people]),
  group: { name: 'Viewers', description: 'May read all projects' },
}

export const builtInRoles: readonly BuiltInRole[] = [ownerRole, engineerRole, viewerRole]

export function isBuiltInRole(id: string): boolean {
  return builtInRoles.some((role) => role.id === id)
}
