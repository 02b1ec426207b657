/** How an organization begins. */
import type { Change } from '../catalog/change.ts'
import type { Organization } from '../catalog/entry.ts'
import { type BuiltInRole, builtInRoles, ownerRole } from './built-in-roles.ts'

/** The built-in roles as entries, so that they can be listed and named like all others. */
export function seedRoles(change: Change): void {
  for (const { id, name, description, member_permissions } of builtInRoles) {
    const contents = { name, description, member_permissions: [...member_permissions] }
    if (change.get('role', id)) change.update('role', id, contents)
    else change.create('role', { ...contents, id, org_id: null })
  }
}

/** Makes an organization with the groups that it starts with. */
export function foundOrganization(
  change: Change,
  name: string,
  owners: readonly string[],
): Organization {
  seedRoles(change)
  const organization = change.create('organization', { name })
  for (const userId of owners) {
    change.findOrCreate('member', { org_id: organization.id, user_id: userId })
  }
  giveGroups(change, organization.id, owners)
  return organization
}

/** A group for each built-in role, which has it on the whole organization. */
export function giveGroups(change: Change, org_id: string, owners: readonly string[]): void {
  for (const role of builtInRoles) {
    const { entry: group } = change.findOrCreate('group', { org_id, ...role.group })
    if (role === ownerRole) {
      const member_users = [...new Set([...(group.member_users ?? []), ...owners])]
      change.update('group', group.id, { member_users })
    }
    change.findOrCreate('acl', groupGrant(org_id, group.id, role))
  }
}

function groupGrant(organizationId: string, group_id: string, role: BuiltInRole) {
  return {
    object_type: 'organization' as const,
    object_id: organizationId,
    _object_org_id: organizationId,
    group_id,
    role_id: role.id,
  }
}
