/**
 * Groups that a member is in because the provider says so. A member's entry has their ids, so that
 * whoever was put into a group by hand stays in it, whatever the provider says.
 */
import type { Change } from '../catalog/change.ts'
import type { Group } from '../catalog/entry.ts'
import type { AccessIndex } from './access-index.ts'
import { ownsOrganization } from './decide.ts'
import type { OpenIdSettings } from './sign-in-settings.ts'

/**
 * The groups that are meant by names at the provider: those that the operator has said, and those of the same
 * name. Of the latter none that makes owners: at some providers anybody may make a group of any name. Names that
 * no group has are passed over.
 */
export function groupsOfClaim(
  change: Change,
  index: AccessIndex,
  organizationId: string,
  claimed: readonly string[],
  { groups: map }: Pick<OpenIdSettings, 'groups'>,
): Group[] {
  const named = (name: string) => change.named('group', organizationId, name)
  const found = claimed.flatMap((name) => {
    const chosen = (map.get(name) ?? []).map(named)
    const same = named(name)
    const isSafe = same !== undefined && !makesOwners(index, organizationId, same)
    return [...chosen, ...(isSafe ? [same] : [])]
  })
  const byId = new Map(found.flatMap((group) => (group ? [[group.id, group] as const] : [])))
  return [...byId.values()]
}

/** @param isTaking whether groups that are not named any more are left */
export function setProviderGroups(
  change: Change,
  organizationId: string,
  userId: string,
  groups: readonly Group[],
  isTaking: boolean,
): void {
  const member = change.named('member', organizationId, userId)
  if (!member) return
  const before = member.provider_groups ?? []
  const wanted = new Set(groups.map(({ id }) => id))
  const left = isTaking ? before.filter((id) => !wanted.has(id)) : []
  for (const id of left) setMember(change, id, userId, false)
  const joined = groups.filter(({ member_users }) => !member_users?.includes(userId))
  for (const { id } of joined) setMember(change, id, userId, true)
  const after = [...before.filter((id) => !left.includes(id)), ...joined.map(({ id }) => id)]
  const provider_groups = [...new Set(after)]
  if (provider_groups.join() === before.join()) return
  change.update('member', member.id, { provider_groups })
}

function setMember(change: Change, groupId: string, userId: string, isIn: boolean): void {
  const group = change.get('group', groupId)
  if (!group) return
  const others = (group.member_users ?? []).filter((id) => id !== userId)
  change.update('group', groupId, { member_users: isIn ? [...others, userId] : others })
}

/** Whether somebody who is in this group alone may do everything. */
function makesOwners(index: AccessIndex, organizationId: string, group: Group): boolean {
  const id = 'somebody'
  const member = {
    id,
    org_id: organizationId,
    user_id: id,
    given_name: null,
    family_name: null,
    avatar_url: null,
    created: null,
    query_language: null,
    provider_groups: null,
  }
  const within = { ...group, member_users: [...(group.member_users ?? []), id] }
  const changes = [
    { kind: 'member' as const, before: undefined, after: member },
    { kind: 'group' as const, before: group, after: within },
  ]
  return index.supposing(changes, () =>
    ownsOrganization(index.grants(organizationId, id), organizationId),
  )
}
