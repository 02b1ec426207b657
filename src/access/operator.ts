import { missingAccess } from '../catalog/missing-access.ts'
import type { Access } from './access.ts'
import { ownsOrganization } from './decide.ts'
import type { Principal } from './principal.ts'

/** Throws unless the principal owns all organizations of the service: what it asks for has the data of all. */
export function requireOperator({ catalog, index }: Access, principal: Principal): void {
  const { userId, organizationId } = principal
  for (const { id } of catalog.list('organization')) {
    const owns = userId === null || ownsOrganization(index.grants(id, userId), id)
    if (!owns) throw missingAccess('update', 'organization', organizationId)
  }
}
