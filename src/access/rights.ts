import type { Catalog } from '../catalog/catalog.ts'
import type { Entries, EntryKind } from '../catalog/entry.ts'
import type { AccessType, Permission } from '../catalog/permission.ts'
import type { AccessIndex } from './access-index.ts'
import { decide, nowhere, ownsOrganization, type Target } from './decide.ts'
import { type Action, absent, type Described, rightTo } from './entry-right.ts'
import type { Principal } from './principal.ts'
import { atOrganization, type Places } from './target.ts'

/** Finds the project of a prompt or function: they are rows, no entries of the catalog. */
export interface Prompts {
  projectOfPrompt(organizationId: string, id: string): string | undefined
}

/** What one principal may do, as things are at the moment of each question. */
export class Rights implements Places {
  readonly catalog: Catalog
  readonly principal: Principal
  readonly #index: AccessIndex
  readonly #prompts: Prompts

  constructor(catalog: Catalog, index: AccessIndex, principal: Principal, prompts: Prompts) {
    this.catalog = catalog
    this.principal = principal
    this.#index = index
    this.#prompts = prompts
  }

  projectOfPrompt(id: string): string | undefined {
    return this.#prompts.projectOfPrompt(this.principal.organizationId, id)
  }

  /** What is not there, and what is of another organization, is decided like all else, and then denied. */
  may(permission: Permission, target: Target | undefined): boolean {
    const { userId, organizationId } = this.principal
    const given =
      userId === null ||
      decide(this.#index.grants(organizationId, userId), permission, target ?? noTarget)
    return given && target?.organizationId === organizationId
  }

  /** Objects of a type on which the permission is given for all that is in them of the type `of`. */
  placesWith(permission: Permission, type: AccessType, of: AccessType): string[] {
    const { userId, organizationId } = this.principal
    if (userId === null) return []
    return this.#index.grants(organizationId, userId).placesWith(permission, type, of)
  }

  /** The permission on every object of a type that is in some project, or on every project. */
  mayInAllProjects(permission: Permission, type: AccessType): boolean {
    const { organizationId } = this.principal
    return this.may(permission, { type, id: undefined, projectId: nowhere, organizationId })
  }

  /** Whether everything is allowed. */
  owns(): boolean {
    const { userId, organizationId } = this.principal
    if (userId === null) return true
    return ownsOrganization(this.#index.grants(organizationId, userId), organizationId)
  }

  isMember(userId: string): boolean {
    return this.#index.graph(this.principal.organizationId).isMember(userId)
  }

  /** No entry is denied, after the same work as for one that may not be touched. */
  mayTouch<K extends EntryKind>(action: Action, kind: K, given: Described<K> | undefined): boolean {
    const { userId, organizationId } = this.principal
    const entry = given ?? absent(kind)
    if (kind === 'user') return action === 'read' && this.#maySeeUser((entry as Entries['user']).id)
    if (isOwn(kind, entry, userId, organizationId)) return action !== 'create'
    if (kind === 'role' && 'org_id' in entry && entry.org_id === null) return action === 'read'
    const right = rightTo(this, action, kind, entry)
    if (!right) return this.may('read', undefined)
    if (right.kind === 'permission') return this.may(right.permission, right.target)
    const has = right.kind === 'owner' ? this.owns() : userId === null || this.isMember(userId)
    return has && right.organizationId === organizationId
  }

  /**
   * Names are unique, so who chooses one learns whether it is taken. Only who may read all that
   * could have it may do that.
   */
  mayName<K extends EntryKind>(kind: K, entry: Described<K>): boolean {
    return this.mayTouch('read', kind, { ...entry, id: undefined })
  }

  /** Whether other members may be seen. */
  maySeeMembers(): boolean {
    const { organizationId } = this.principal
    return this.may('read', atOrganization('org_member', organizationId, organizationId))
  }

  #maySeeUser(userId: string): boolean {
    const seesAll = this.maySeeMembers()
    return this.isMember(userId) && (seesAll || userId === this.principal.userId)
  }
}

const noTarget: Target = {
  type: 'project',
  id: nowhere,
  projectId: nowhere,
  organizationId: nowhere,
}

/** One's own membership can be seen, one's own keys can be seen and revoked, without any grant. */
function isOwn<K extends EntryKind>(
  kind: K,
  entry: Described<K>,
  userId: string | null,
  organizationId: string,
): boolean {
  if (kind !== 'api_key') return false
  const key = entry as Entries['api_key']
  return key.user_id === userId && key.org_id === organizationId
}
