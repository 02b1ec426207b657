import type { Catalog } from '../catalog/catalog.ts'
import type { Entries, EntryKind } from '../catalog/entry.ts'
import type { Permission } from '../catalog/permission.ts'
import type { AccessIndex } from './access-index.ts'
import { decide, ownsOrganization, type Target } from './decide.ts'
import { type Action, type Described, rightTo } from './entry-right.ts'
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

  may(permission: Permission, target: Target | undefined): boolean {
    const { userId, organizationId } = this.principal
    if (!target || target.organizationId !== organizationId) return false
    if (userId === null) return true
    return decide(this.#index.grants(organizationId, userId), permission, target)
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

  mayTouch<K extends EntryKind>(action: Action, kind: K, entry: Described<K>): boolean {
    const { userId, organizationId } = this.principal
    if (kind === 'user') return action === 'read' && this.#maySeeUser((entry as Entries['user']).id)
    if (isOwn(kind, entry, userId, organizationId)) return action !== 'create'
    if (kind === 'role' && 'org_id' in entry && entry.org_id === null) return action === 'read'
    const right = rightTo(this, action, kind, entry)
    if (right?.kind === 'permission') return this.may(right.permission, right.target)
    if (right?.organizationId !== organizationId) return false
    return right.kind === 'owner' ? this.owns() : userId === null || this.isMember(userId)
  }

  /**
   * Names are unique, so who chooses one learns whether it is taken. Only who may read all that
   * could have it may do that.
   */
  mayName<K extends EntryKind>(kind: K, entry: Described<K>): boolean {
    return this.mayTouch('read', kind, { ...entry, id: undefined })
  }

  #maySeeUser(userId: string): boolean {
    if (!this.isMember(userId)) return false
    const { organizationId } = this.principal
    return (
      userId === this.principal.userId ||
      this.may('read', atOrganization('org_member', organizationId, organizationId))
    )
  }
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
