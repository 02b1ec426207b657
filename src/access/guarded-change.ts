import type { Catalog } from '../catalog/catalog.ts'
import type { Change, Step } from '../catalog/change.ts'
import { AssayError } from '../error.ts'
import type { AccessIndex } from './access-index.ts'
import { ownsOrganization } from './decide.ts'
import { actorOf, type Principal } from './principal.ts'

/**
 * Changes the catalog in the name of the principal: all that `run` does or nothing. Rights that `run`
 * asks for are those of the moment in which it is written. Throws when the organization would be left
 * without an owner.
 */
export function guardedChange<T>(
  catalog: Catalog,
  index: AccessIndex,
  principal: Principal,
  run: (change: Change) => T,
): Promise<T> {
  return catalog.change(actorOf(principal), (change) => {
    const value = run(change)
    keepOwner(catalog, index, principal, change.steps)
    return value
  })
}

/** Whether somebody may do everything. Programs do not count: who has their tokens may be gone. */
export function hasOwner(catalog: Catalog, index: AccessIndex, organizationId: string): boolean {
  for (const id of index.graph(organizationId).members()) {
    if (isOwner(catalog, index, organizationId, id)) return true
  }
  return false
}

export function isOwner(
  catalog: Catalog,
  index: AccessIndex,
  organizationId: string,
  userId: string,
): boolean {
  return (
    ownsOrganization(index.grants(organizationId, userId), organizationId) &&
    catalog.get('user', userId)?.is_service_account === false
  )
}

function keepOwner(
  catalog: Catalog,
  index: AccessIndex,
  { organizationId, userId }: Principal,
  steps: Iterable<Step>,
): void {
  const taking = [...steps].filter(mayTakeOwnership)
  if (taking.length === 0) return
  const isOwned = () => {
    // Mostly it is an owner who changes something, and stays one.
    const stays = userId !== null && isOwner(catalog, index, organizationId, userId)
    return stays || hasOwner(catalog, index, organizationId)
  }
  if (!isOwned() || index.supposing(taking, isOwned)) return
  throw new AssayError('REQUEST_CONFLICT', 'this would leave the organization without an owner', {
    hint: 'make somebody else an owner first',
  })
}

function mayTakeOwnership({ kind, before }: Step): boolean {
  if (!before) return false
  if (kind === 'acl') return 'object_type' in before && before.object_type === 'organization'
  return kind === 'member' || kind === 'group' || kind === 'role'
}
