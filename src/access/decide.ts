/**
 * The one decision: may this user do that to this object? Rights are only ever added, never taken
 * away, so the answer is yes as soon as one grant says so, on the object or on what it is in:
 *
 *     organization ─┬─ org_project ── project ─┬─ experiment, dataset, prompt, prompt_session
 *                   ├─ org_member              └─ project_log
 *                   ├─ org_audit_logs, org_ai_secret ── ai_secret
 *                   └─ group, role, project_group
 *
 * A grant that is restricted to a type counts for objects of that type alone, wherever it hangs.
 */
import {
  type AccessType,
  accessTypes,
  type Permission,
  permissions,
} from '../catalog/permission.ts'

/** What is asked about. Without an `id`, one that is still to be made, or all of them at once. */
export interface Target {
  readonly type: AccessType
  readonly id: string | undefined
  /** What it is in; undefined for what hangs at the organization. */
  readonly projectId: string | undefined
  readonly organizationId: string
}

/**
 * Permissions given at one place, a bit each: first those for everything there and below, then
 * those restricted to a type, in the order of `accessTypes`.
 */
export type PermissionBits = Uint8Array

const bitOf = Object.fromEntries(permissions.map((name, index) => [name, 1 << index])) as {
  readonly [name in Permission]: number
}
const indexOf = Object.fromEntries(accessTypes.map((name, index) => [name, index])) as {
  readonly [name in AccessType]: number
}

/** Everything that one user has been given in one organization, by the object it was given on. */
export class Grants {
  readonly #byType: readonly Map<string, PermissionBits>[] = accessTypes.map(() => new Map())
  #size = 0

  /** How many objects it was given on. */
  get size(): number {
    return this.#size
  }

  at(type: AccessType, id: string): PermissionBits | undefined {
    return this.#byType[indexOf[type]]!.get(id)
  }

  /** Objects of a type on which this is given, for all that is in them of the type `of`. */
  placesWith(permission: Permission, type: AccessType, of: AccessType): string[] {
    const bit = bitOf[permission]
    const slot = 1 + indexOf[of]
    const found: string[] = []
    for (const [id, bits] of this.#byType[indexOf[type]]!) {
      if (gives(bits, slot, bit)) found.push(id)
    }
    return found
  }

  add(type: AccessType, id: string, given: PermissionBits): void {
    const places = this.#byType[indexOf[type]]!
    const known = places.get(id)
    if (!known) this.#size++
    places.set(id, known ? union(known, given) : given)
  }
}

export function noPermissions(): PermissionBits {
  return new Uint8Array(1 + accessTypes.length)
}

/** Adds a permission; the bits must belong to nobody else yet. */
export function addPermission(
  bits: PermissionBits,
  permission: Permission,
  restrictedTo: AccessType | null,
): void {
  const slot = restrictedTo === null ? 0 : 1 + indexOf[restrictedTo]
  bits[slot]! |= bitOf[permission]
}

export function union(left: PermissionBits, right: PermissionBits): PermissionBits {
  return left.map((bits, slot) => bits | right[slot]!)
}

/** Id of nothing. */
export const nowhere = ''

/**
 * Whether the grants allow it. Tells nothing of whether the target exists: all four places are looked
 * at whatever the target is and whatever is found, so that the time that it takes does not tell either.
 */
export function decide(grants: Grants, permission: Permission, target: Target): boolean {
  const bit = bitOf[permission]
  const slot = 1 + indexOf[target.type]
  const { type, id, projectId, organizationId } = target
  const isInProjects = projectId !== undefined || type === 'project'
  const onIt = gives(grants.at(type, id ?? nowhere), slot, bit)
  const onProject = gives(grants.at('project', projectId ?? nowhere), slot, bit)
  const all = type === 'ai_secret' ? 'org_ai_secret' : 'org_project'
  const ofAll = isInProjects || type === 'ai_secret' ? organizationId : nowhere
  const onAll = gives(grants.at(all, ofAll), slot, bit)
  const onOrganization = gives(grants.at('organization', organizationId), slot, bit)
  return onIt || onProject || onAll || onOrganization
}

/** Whether the user has every permission on everything of the organization. */
export function ownsOrganization(grants: Grants, organizationId: string): boolean {
  const bits = grants.at('organization', organizationId)
  return bits !== undefined && bits[0] === everyPermission
}

const everyPermission = 2 ** permissions.length - 1

function gives(bits: PermissionBits | undefined, slot: number, bit: number): boolean {
  return bits !== undefined && ((bits[0]! | bits[slot]!) & bit) !== 0
}
