/**
 * Who has been given what in one organization: its members, groups, roles and ACLs, linked so that
 * all that one user has can be collected in one go. Collected grants are kept until something
 * changes. Cycles of groups or roles do no harm: each is visited once.
 */
import type { AccessType, Permission } from '../catalog/permission.ts'
import { addPermission, Grants, noPermissions, type PermissionBits } from './decide.ts'

export interface GraphAcl {
  readonly id: string
  readonly object_type: AccessType
  readonly object_id: string
  readonly user_id: string | null
  readonly group_id: string | null
  readonly permission: Permission | null
  readonly restrict_object_type: AccessType | null
  readonly role_id: string | null
}

export interface GraphRole {
  readonly id: string
  readonly member_permissions: readonly RolePermission[] | null
  readonly member_roles: readonly string[] | null
}

export interface RolePermission {
  readonly permission: Permission
  readonly restrict_object_type?: AccessType | null | undefined
}

export interface GraphGroup {
  readonly id: string
  readonly member_users: readonly string[] | null
  /** Groups all of whose users are in this one, too. */
  readonly member_groups: readonly string[] | null
}

/** Kept grants, over all users of an organization; some 150 bytes for each place. */
const keptPlaces = 200_000

const nothing = new Grants()

export class AccessGraph {
  readonly #members = new Set<string>()
  readonly #groups = new Map<string, GraphGroup>()
  readonly #roles = new Map<string, GraphRole>()
  readonly #acls = new Map<string, GraphAcl>()
  /** ACLs by the user or group that they give something to. */
  readonly #aclsOf = new Links<GraphAcl>()
  /** Groups by a user or group that is directly in them. */
  readonly #groupsOf = new Links<string>()
  readonly #roleBits = new Map<string, PermissionBits>()
  readonly #grants = new Map<string, Grants>()
  #keptPlaces = 0

  /** @param systemRoles Roles that every organization has. */
  constructor(systemRoles: Iterable<GraphRole> = []) {
    for (const role of systemRoles) this.#roles.set(role.id, role)
  }

  addMember(userId: string): void {
    this.#members.add(userId)
    this.#forget()
  }

  removeMember(userId: string): void {
    this.#members.delete(userId)
    this.#forget()
  }

  isMember(userId: string): boolean {
    return this.#members.has(userId)
  }

  /** Adds the group, or puts it in the place of the one with its id. */
  putGroup(group: GraphGroup): void {
    this.removeGroup(group.id)
    this.#groups.set(group.id, group)
    for (const id of membersOf(group)) this.#groupsOf.add(id, group.id)
  }

  removeGroup(id: string): void {
    const group = this.#groups.get(id)
    this.#groups.delete(id)
    if (group) for (const member of membersOf(group)) this.#groupsOf.remove(member, id)
    this.#forget()
  }

  putRole(role: GraphRole): void {
    this.#roles.set(role.id, role)
    this.#roleBits.clear()
    this.#forget()
  }

  removeRole(id: string): void {
    this.#roles.delete(id)
    this.#roleBits.clear()
    this.#forget()
  }

  putAcl(acl: GraphAcl): void {
    this.removeAcl(acl.id)
    const subject = acl.user_id ?? acl.group_id
    if (subject === null) return
    this.#acls.set(acl.id, acl)
    this.#aclsOf.add(subject, acl)
  }

  removeAcl(id: string): void {
    const acl = this.#acls.get(id)
    this.#acls.delete(id)
    if (acl) this.#aclsOf.remove((acl.user_id ?? acl.group_id)!, acl)
    this.#forget()
  }

  /** All that the user has been given; nothing for who is no member. */
  grantsOf(userId: string): Grants {
    const kept = this.#grants.get(userId)
    if (kept) return kept
    if (!this.#members.has(userId)) return nothing
    const grants = this.#collect(userId)
    this.#keptPlaces += 1 + grants.size
    if (this.#keptPlaces > keptPlaces) this.#forget()
    this.#grants.set(userId, grants)
    return grants
  }

  members(): Iterable<string> {
    return this.#members
  }

  /** The groups that the user is in, directly or by a group. */
  groupsOf(userId: string): Set<string> {
    const found = new Set<string>()
    const open = [userId]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const group of this.#groupsOf.of(id)) {
        if (found.has(group)) continue
        found.add(group)
        open.push(group)
      }
    }
    return found
  }

  /** Whether the group would contain itself if these were in it. */
  closesGroupCycle(groupId: string, memberGroups: Iterable<string>): boolean {
    return reaches(groupId, memberGroups, (id) => this.#groups.get(id)?.member_groups ?? [])
  }

  /** Whether the role would inherit from itself if it did from these. */
  closesRoleCycle(roleId: string, memberRoles: Iterable<string>): boolean {
    return reaches(roleId, memberRoles, (id) => this.#roles.get(id)?.member_roles ?? [])
  }

  #collect(userId: string): Grants {
    const grants = new Grants()
    for (const subject of [userId, ...this.groupsOf(userId)]) {
      for (const acl of this.#aclsOf.of(subject)) {
        const bits = this.#bitsOf(acl)
        if (bits) grants.add(acl.object_type, acl.object_id, bits)
      }
    }
    return grants
  }

  #bitsOf({ permission, restrict_object_type, role_id }: GraphAcl): PermissionBits | undefined {
    if (role_id !== null) return this.#bitsOfRole(role_id)
    if (permission === null) return undefined
    const bits = noPermissions()
    addPermission(bits, permission, restrict_object_type)
    return bits
  }

  #bitsOfRole(roleId: string): PermissionBits {
    const known = this.#roleBits.get(roleId)
    if (known) return known
    const bits = noPermissions()
    const seen = new Set([roleId])
    for (const id of seen) {
      const role = this.#roles.get(id)
      for (const { permission, restrict_object_type } of role?.member_permissions ?? []) {
        addPermission(bits, permission, restrict_object_type ?? null)
      }
      // A set is walked to its end, with what is added on the way.
      for (const inherited of role?.member_roles ?? []) seen.add(inherited)
    }
    this.#roleBits.set(roleId, bits)
    return bits
  }

  #forget(): void {
    this.#grants.clear()
    this.#keptPlaces = 0
  }
}

function membersOf({ member_users, member_groups }: GraphGroup): Set<string> {
  return new Set([...(member_users ?? []), ...(member_groups ?? [])])
}

function reaches(
  wanted: string,
  from: Iterable<string>,
  next: (id: string) => readonly string[],
): boolean {
  const seen = new Set(from)
  for (const id of seen) for (const following of next(id)) seen.add(following)
  return seen.has(wanted)
}

class Links<Value> {
  readonly #values = new Map<string, Set<Value>>()

  of(key: string): Iterable<Value> {
    return this.#values.get(key) ?? []
  }

  add(key: string, value: Value): void {
    const values = this.#values.get(key)
    if (values) values.add(value)
    else this.#values.set(key, new Set([value]))
  }

  remove(key: string, value: Value): void {
    const values = this.#values.get(key)
    if (!values?.delete(value)) return
    if (values.size === 0) this.#values.delete(key)
  }
}
