/**
 * Says who may do what by reading the rules aloud: no index, no cache, every grant looked at for
 * every question. Shares no code with `src/access`, so that the two can be held against each other.
 */

export interface ReferenceObject {
  readonly type: string
  readonly id: string
  /** Undefined for an organization. */
  readonly parent: ReferenceObject | undefined
}

export interface ReferenceAcl {
  readonly on: { readonly type: string; readonly id: string }
  readonly to: string
  readonly permission: string | null
  readonly restrictedTo: string | null
  readonly role: string | null
}

export interface ReferenceRole {
  permissions: { permission: string; restrictedTo: string | null }[]
  roles: string[]
}

export interface ReferenceGroup {
  users: string[]
  groups: string[]
}

/** One organization as it is now; tests change it in step with what they test. */
export class ReferenceAccess {
  readonly members = new Set<string>()
  readonly groups = new Map<string, ReferenceGroup>()
  readonly roles = new Map<string, ReferenceRole>()
  readonly acls = new Map<string, ReferenceAcl>()

  allows(user: string, permission: string, object: ReferenceObject): boolean {
    if (!this.members.has(user)) return false
    const places: { type: string; id: string }[] = []
    for (let place: ReferenceObject | undefined = object; place; place = place.parent) {
      places.push(place)
    }
    return [...this.acls.values()].some(
      (acl) =>
        places.some(({ type, id }) => acl.on.type === type && acl.on.id === id) &&
        (acl.to === user || this.#contains(acl.to, user, [])) &&
        this.#permissionsOf(acl).some(
          (given) =>
            given.permission === permission &&
            (given.restrictedTo === null || given.restrictedTo === object.type),
        ),
    )
  }

  #contains(groupId: string, user: string, within: readonly string[]): boolean {
    const group = this.groups.get(groupId)
    if (!group || within.includes(groupId)) return false
    return (
      group.users.includes(user) ||
      group.groups.some((inner) => this.#contains(inner, user, [...within, groupId]))
    )
  }

  #permissionsOf({ permission, restrictedTo, role }: ReferenceAcl) {
    if (role !== null) return this.#permissionsOfRole(role, [])
    return permission === null ? [] : [{ permission, restrictedTo }]
  }

  #permissionsOfRole(roleId: string, within: readonly string[]): ReferenceRole['permissions'] {
    const role = this.roles.get(roleId)
    if (!role || within.includes(roleId)) return []
    const inherited = role.roles.flatMap((inner) =>
      this.#permissionsOfRole(inner, [...within, roleId]),
    )
    return [...role.permissions, ...inherited]
  }
}
