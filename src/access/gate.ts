/**
 * The one gate between requests and the catalog. Whatever a route or a query looks up goes through
 * a `Gate` of the request's principal, so that what may be seen is decided here and nowhere else.
 *
 * A key may read and write everything of its organization and nothing of any other.
 */
import type { Actor, AuditRecord } from '../catalog/audit-trail.ts'
import type {
  Catalog,
  CatalogObject,
  CatalogView,
  EntryScope,
  NamedEntry,
  PagePosition,
} from '../catalog/catalog.ts'
import {
  type Entries,
  type EntryKind,
  entrySchemas,
  type FoundOrCreated,
  type Given,
  type Organization,
  type PatchOf,
  type Project,
} from '../catalog/entry.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import { assert } from '../error.ts'
import type { ObjectType } from '../type/record.ts'
import type { Principal } from './authenticate.ts'

type Permission = 'read' | 'create' | 'update' | 'delete'

/** What a new entry is given by its creator; the gate says in whose name it is made. */
export type GivenToGate<K extends EntryKind> = Omit<
  Given<K>,
  'org_id' | 'user_id' | '_object_org_id'
> & { readonly user_id?: string | null }

export class Gate implements CatalogView {
  readonly principal: Principal
  readonly #catalog: Catalog
  readonly #requestId: string

  /** @param requestId names the request in logs, headers and errors */
  constructor(catalog: Catalog, principal: Principal, requestId = '') {
    this.#catalog = catalog
    this.principal = principal
    this.#requestId = requestId
  }

  /** In whose name queries run that see the catalog through this gate. */
  get owner() {
    const { organizationId, userId, keyId } = this.principal
    return { organizationId, userId, keyId, requestId: this.#requestId }
  }

  /** Whether the principal may see and cancel the queries of others in its organization. */
  mayManageQueries(): boolean {
    return this.#allows('update', this.principal.organizationId)
  }

  readable(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#object('read', type, id)
  }

  writable(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#object('update', type, id)
  }

  readableInProject(projectId: string): readonly CatalogObject[] | undefined {
    if (!this.find('project', projectId)) return undefined
    return this.#catalog.objectsInProject(projectId)
  }

  *readableOfType(type: ObjectType): Generator<CatalogObject> {
    for (const object of this.#catalog.objects()) {
      if (object.type === type && this.#allows('read', object.organizationId)) yield object
    }
  }

  readableByName(type: ObjectType, name: string): CatalogObject[] {
    return this.#catalog
      .objectsByName(this.principal.organizationId, type, name)
      .filter(({ organizationId }) => this.#allows('read', organizationId))
  }

  readableProject(idOrName: string): NamedEntry | undefined {
    return this.find('project', idOrName) ?? this.projectByName(idOrName)
  }

  /** The organization of the principal. */
  organization(): Organization {
    const organization = this.#catalog.get('organization', this.principal.organizationId)
    assert(organization, 'a key without an organization')
    return organization
  }

  projectByName(name: string): Project | undefined {
    return this.named('project', this.principal.organizationId, name)
  }

  /** The entry, or the error that says it is not there or not for this principal. */
  require<K extends EntryKind>(permission: Permission, kind: K, id: string): Entries[K] {
    const entry = this.#entry(permission, kind, id)
    if (!entry) throw missingAccess(permission, kind, id)
    return entry
  }

  /** The entry if it may be read. */
  find<K extends EntryKind>(kind: K, id: string): Entries[K] | undefined {
    return this.#entry('read', kind, id)
  }

  /** The one entry of a parent with this unique key, which for most kinds is its name. */
  named<K extends EntryKind>(kind: K, parentId: string, key: string): Entries[K] | undefined {
    const entry = this.#catalog.named(kind, parentId, key)
    return entry && this.find(kind, entry.id)
  }

  /** What may be read, newest first unless the position says otherwise; of the organization at most. */
  *list<K extends EntryKind>(
    kind: K,
    scope: Pick<EntryScope, 'parentId' | 'name'> = {},
    position?: PagePosition,
  ): Generator<Entries[K]> {
    const { organizationId } = this.principal
    // People and built-in roles belong to no organization.
    const isShared = kind === 'user' || kind === 'role'
    const narrowed =
      scope.parentId === undefined && !isShared ? { ...scope, organizationId } : scope
    for (const entry of this.#catalog.list(kind, narrowed, position)) {
      if (this.#mayTouch('read', kind, entry)) yield entry
    }
  }

  /** Where a page of a list begins that was left at this entry, removed or not. */
  positionOf(kind: EntryKind, id: string): number | undefined {
    const found = this.#catalog.positionOf(kind, id)
    return found && this.#mayTouch('read', kind, found.entry) ? found.sequence : undefined
  }

  /** An entry that has the unique key already is returned as it is. */
  async findOrCreate<K extends EntryKind>(
    kind: K,
    given: GivenToGate<K>,
  ): Promise<FoundOrCreated<Entries[K]>> {
    const { organizationId, userId } = this.principal
    const projectId: unknown = 'project_id' in given ? given.project_id : undefined
    if (typeof projectId === 'string') this.#mayCreateIn(projectId)
    const shape = entrySchemas[kind].shape
    const owned = {
      ...('org_id' in shape && { org_id: organizationId }),
      ...('_object_org_id' in shape && { _object_org_id: organizationId }),
      ...('user_id' in shape && { user_id: userId }),
      ...given,
    }
    return this.#catalog.findOrCreate(kind, owned as unknown as Given<K>, this.#actor)
  }

  async update<K extends EntryKind>(kind: K, id: string, patch: PatchOf<K>): Promise<Entries[K]> {
    this.require('update', kind, id)
    return this.#catalog.update(kind, id, patch, this.#actor)
  }

  /** The entry as it was, with the time of its removal. */
  async remove<K extends EntryKind>(kind: K, id: string): Promise<Entries[K]> {
    this.require('delete', kind, id)
    return this.#catalog.remove(kind, id, this.#actor)
  }

  /** Who changed what in the organization, newest first. */
  auditTrail(entryId?: string, before?: string): Iterable<AuditRecord> {
    return this.#catalog.auditTrail(this.principal.organizationId, entryId, before)
  }

  get #actor(): Actor {
    const { userId, keyId, organizationId } = this.principal
    return { userId, keyId, organizationId }
  }

  #mayCreateIn(projectId: string): void {
    if (!this.#entry('create', 'project', projectId)) {
      throw missingAccess('create', 'project', projectId)
    }
  }

  #entry<K extends EntryKind>(permission: Permission, kind: K, id: string): Entries[K] | undefined {
    const entry = this.#catalog.get(kind, id)
    return entry && this.#mayTouch(permission, kind, entry) ? entry : undefined
  }

  #mayTouch<K extends EntryKind>(permission: Permission, kind: K, entry: Entries[K]): boolean {
    const { organizationId } = this.principal
    if (kind === 'user') {
      return this.#catalog.named('member', organizationId, entry.id) !== undefined
    }
    const owner = this.#catalog.organizationOf(kind, entry)
    if (owner === null) return permission === 'read'
    return this.#allows(permission, owner)
  }

  #object(permission: Permission, type: ObjectType, id: string): CatalogObject | undefined {
    const object = this.#catalog.object(type, id)
    return object && this.#allows(permission, object.organizationId) ? object : undefined
  }

  #allows(_permission: Permission, organizationId: string): boolean {
    return organizationId === this.principal.organizationId
  }
}
