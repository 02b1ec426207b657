import { system } from '../catalog/audit-trail.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { accessKinds } from '../catalog/entry.ts'
import type { Access, KeyOwner } from './access.ts'
import { hasOwner, isOwner } from './guarded-change.ts'
import { foundOrganization, giveGroups, seedRoles } from './organization.ts'

/**
 * Gives an empty catalog an organization, its owner and the owner's key; and the groups it starts
 * with to an organization that has no owner, as those of older data directories.
 *
 * Returns the text of a key that was made up here, which has to be shown now; undefined when the
 * key was given, or when there is a key already. A given key is added to the owner's if it is not
 * one of them, so that it can be changed from one start to the next.
 */
export async function bootstrap(
  access: Access,
  givenKey: string | undefined,
): Promise<string | undefined> {
  const { catalog } = access
  if (isUncertain(catalog)) return undefined
  await prepareOrganizations(access)
  if ([...catalog.list('organization')].length === 0) await foundFirst(access)
  if (givenKey === undefined && [...catalog.list('api_key')].length > 0) return undefined
  const owner = firstOwner(access)
  if (!owner) return undefined
  const { text } = await access.issueKey(owner, 'owner', givenKey)
  return givenKey === undefined ? text : undefined
}

/** Nobody's address, but a name by which requests can be made on the owner's behalf. */
const firstOwnerEmail = 'owner@localhost'

/** As long as it is not known who had which rights, nobody is given any. */
function isUncertain(catalog: Catalog): boolean {
  return catalog.damaged.some(({ kind, state }) => state !== 'restored' && accessKinds.has(kind))
}

/** Built-in roles as they are now, and owners for organizations that never had any. */
export async function prepareOrganizations({ catalog, index }: Access): Promise<void> {
  if (isUncertain(catalog)) return
  await catalog.change(system, (change) => {
    seedRoles(change)
    for (const { id: organizationId } of catalog.list('organization')) {
      if (hasOwner(catalog, index, organizationId)) continue
      // Where others have rights, those of the owners were lost with what was damaged.
      if ([...catalog.list('acl', { organizationId })].length > 0) continue
      const members = Array.from(catalog.list('member', { organizationId }))
      const people = members.map(({ user_id }) => user_id)
      const owners = people.filter((id) => catalog.get('user', id)?.is_service_account === false)
      giveGroups(change, organizationId, owners)
    }
  })
}

function foundFirst({ catalog }: Access): Promise<void> {
  return catalog.change(system, (change) => {
    const user = change.create('user', { email: firstOwnerEmail })
    const { id } = foundOrganization(change, 'default', [user.id])
    const member = change.named('member', id, user.id)
    if (member) change.update('member', member.id, { given_name: 'owner' })
  })
}

/** Of the oldest organization that has one, its oldest member who is an owner. */
function firstOwner({ catalog, index }: Access): KeyOwner | undefined {
  for (const { id: organizationId } of [...catalog.list('organization')].reverse()) {
    for (const { user_id } of [...catalog.list('member', { organizationId })].reverse()) {
      if (isOwner(catalog, index, organizationId, user_id)) {
        return { org_id: organizationId, user_id }
      }
    }
  }
  return undefined
}
