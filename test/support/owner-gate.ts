import { Access } from '../../src/access/access.ts'
import type { Gate } from '../../src/access/gate.ts'
import { isOwner } from '../../src/access/guarded-change.ts'
import { foundOrganization } from '../../src/access/organization.ts'
import { system } from '../../src/catalog/audit-trail.ts'
import type { Catalog } from '../../src/catalog/catalog.ts'

/** The gate of the owner of the organization of that name, which is made if it is not there. */
export async function ownerGate(catalog: Catalog, name = 'test'): Promise<Gate> {
  const access = new Access(catalog)
  const known = Array.from(catalog.list('organization')).find((one) => one.name === name)
  const organizationId = known?.id ?? (await found(catalog, name))
  const members = Array.from(catalog.list('member', { organizationId }), (one) => one.user_id)
  const userId = members.find((id) => isOwner(catalog, access.index, organizationId, id))
  if (userId === undefined) throw new Error(`the organization ${name} has no owner`)
  return access.gate({ userId, organizationId, keyId: null })
}

function found(catalog: Catalog, name: string): Promise<string> {
  return catalog.change(system, (change) => {
    const user = change.create('user', {})
    return foundOrganization(change, name, [user.id]).id
  })
}
