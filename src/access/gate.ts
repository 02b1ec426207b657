/**
 * The one gate between requests and the catalog. Whatever a route or a query looks up or changes goes
 * through a `Gate` of the request's principal, so that what may be seen and done is decided here and
 * nowhere else. It remembers no decision: a right that is taken away is gone at the next question.
 */
import type { AuditRecord } from '../catalog/audit-trail.ts'
import type {
  Catalog,
  CatalogObject,
  CatalogView,
  EntryScope,
  NamedEntry,
  PagePosition,
} from '../catalog/catalog.ts'
import type { Change } from '../catalog/change.ts'
import {
  type Acl,
  type Entries,
  type EntryKind,
  entrySchemas,
  type FoundOrCreated,
  type Given,
  type Organization,
  type PatchOf,
  type Project,
} from '../catalog/entry.ts'
import { aclKey, builtInOwner, rulesOf } from '../catalog/kind-rules.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import { type AccessType, type Permission, permissions } from '../catalog/permission.ts'
import { AssayError, assert } from '../error.ts'
import type { ObjectType } from '../type/record.ts'
import { checkEntry } from './access-entry.ts'
import type { AccessIndex } from './access-index.ts'
import { nowhere, type Target } from './decide.ts'
import type { Action } from './entry-right.ts'
import { guardedChange } from './guarded-change.ts'
import { Keys } from './keys.ts'
import { People } from './people.ts'
import type { Principal } from './principal.ts'
import { viewOfPrompt } from './prompt-view.ts'
import { type Reach, reachOf, reachOfObjects } from './reach.ts'
import { type Prompts, Rights } from './rights.ts'
import {
  atOrganization,
  inProject,
  kindOfObject,
  recordsTarget,
  targetOf,
  typesWithin,
} from './target.ts'

/** What a new entry is given by its creator; the gate says in whose name it is made. */
export type GivenToGate<K extends EntryKind> = Omit<
  Given<K>,
  'org_id' | 'user_id' | '_object_org_id'
> & { readonly user_id?: string | null }

export interface GateOptions {
  readonly prompts?: Prompts | undefined
  /** Names the request in logs, headers and errors. */
  readonly requestId?: string
}

/** All but who made it and when, and what it is called. */
export type AclContents = Omit<Acl, 'id' | 'created' | '_object_org_id'>

const noPrompts: Prompts = { projectOfPrompt: () => undefined }

export interface GivenPermissions {
  /** Whether the principal may do everything in the organization. */
  readonly owner: boolean
  readonly permissions: readonly Permission[]
  /** By type of what is in it, or could be made there. */
  readonly within: { readonly [type in AccessType]?: readonly Permission[] }
}

/** What `readableInProject` may find. */
const accessTypesInProject: readonly AccessType[] = [
  'project_log',
  'experiment',
  'dataset',
  'prompt_session',
]
const typesInProject: readonly ObjectType[] = ['experiment', 'dataset', 'playground_logs']

/** What entries are listed of; all but prompts, which are rows. */
const parentTypes: readonly AccessType[] = [
  'organization',
  'project',
  'experiment',
  'dataset',
  'prompt_session',
  'group',
  'role',
]

/** The order in which entries were made. */
const oldestFirst: PagePosition = { beyond: 0, direction: 'newer' }

export class Gate implements CatalogView {
  readonly principal: Principal
  readonly #catalog: Catalog
  readonly #index: AccessIndex
  readonly #rights: Rights
  readonly #requestId: string
  #people: People | undefined
  #keys: Keys | undefined

  constructor(
    catalog: Catalog,
    index: AccessIndex,
    principal: Principal,
    { prompts = noPrompts, requestId = '' }: GateOptions = {},
  ) {
    this.#catalog = catalog
    this.#index = index
    this.principal = principal
    this.#rights = new Rights(catalog, index, principal, prompts)
    this.#requestId = requestId
  }

  get people(): People {
    this.#people ??= new People(this.#catalog, this.#index, this.#rights)
    return this.#people
  }

  get keys(): Keys {
    this.#keys ??= new Keys(this.#catalog, this.#index, this.#rights)
    return this.#keys
  }

  /** In whose name queries run that see the catalog through this gate. */
  get owner() {
    const { organizationId, userId, keyId } = this.principal
    const requestId = this.#requestId
    return { organizationId, userId: userId ?? '', keyId: keyId ?? '', requestId }
  }

  /** Whether the principal may see and cancel the queries of others in its organization. */
  mayManageQueries(): boolean {
    const { organizationId } = this.principal
    return this.#rights.may(
      'update',
      atOrganization('organization', organizationId, organizationId),
    )
  }

  readable(type: ObjectType, id: string): CatalogObject | undefined {
    const object = this.#object('read', type, id)
    return object ?? (type === 'project_prompts' ? this.#somePrompts(id) : undefined)
  }

  writable(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#object('update', type, id)
  }

  readableInProject(projectId: string): readonly CatalogObject[] | undefined {
    if (!this.find('project', projectId)) return undefined
    const { organizationId } = this.principal
    const mayAll = accessTypesInProject.every((type) =>
      this.#rights.may('read', { type, id: undefined, projectId, organizationId }),
    )
    if (mayAll) return this.#catalog.objectsInProject(projectId)
    const logs = this.readable('project_logs', projectId)
    const others = typesInProject.flatMap((type) => [
      ...this.#readableObjects(type, { parentId: projectId }),
    ])
    return [...(logs ? [logs] : []), ...others].sort((a, b) => a.number - b.number)
  }

  readableOfType(type: ObjectType): Iterable<CatalogObject> {
    return this.#readableObjects(type, {})
  }

  /** What may be seen only in part is not found by its name, which then is not for the caller. */
  readableByName(type: ObjectType, name: string): CatalogObject[] {
    const found = Array.from(this.#readableObjects(type, { name }))
      .filter(({ visibleIds }) => visibleIds === undefined)
      .sort((a, b) => a.number - b.number)
    if (found.length === 0) this.#catalog.refuseLost(nowhere, kindOfObject(type))
    return found
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
  require<K extends EntryKind>(action: Action, kind: K, id: string): Entries[K] {
    const entry = this.#entry(action, kind, id)
    if (!entry) throw missingAccess(action, kind, id)
    return entry
  }

  /** Throws unless the principal has the permission on the object, which then is there. */
  requirePermission(permission: Permission, type: AccessType, id: string): void {
    if (!this.#rights.may(permission, targetOf(this.#rights, type, id))) {
      throw missingAccess(permission, type, id)
    }
  }

  /** What the principal may do on an object, and on all of each type in it; nothing if it is not there. */
  permissionsOn(type: AccessType, id: string): GivenPermissions {
    const target = targetOf(this.#rights, type, id)
    const allowed = (at: Target | undefined) =>
      permissions.filter((permission) => this.#rights.may(permission, at))
    const within = typesWithin(type).map((each) => {
      const isOfProject = type === 'project'
      const at = isOfProject
        ? inProject(this.#catalog, each, undefined, id)
        : atOrganization(each, undefined, id)
      return [each, allowed(at)] as const
    })
    return {
      owner: this.#rights.owns(),
      permissions: allowed(target),
      within: Object.fromEntries(within),
    }
  }

  /** Throws unless the principal may do everything in the organization. */
  requireOwner(): void {
    if (this.#rights.owns()) return
    throw missingAccess('update', 'organization', this.principal.organizationId)
  }

  /**
   * For work on this one prompt or function alone: a view in which it is there if the principal has the
   * permission on it, as those have who may do that to all of its project.
   */
  forPrompt(permission: 'read' | 'update' | 'delete', id: string): CatalogView {
    const target = targetOf(this.#rights, 'prompt', id)
    const prompts = this.#catalog.object('project_prompts', target?.projectId ?? nowhere)
    if (!this.#rights.may(permission, target) || !prompts) return this
    return viewOfPrompt(this, prompts, permission !== 'read')
  }

  /** The entry if it may be read. */
  find<K extends EntryKind>(kind: K, id: string): Entries[K] | undefined {
    return this.#entry('read', kind, id)
  }

  /** The one entry of a parent with this unique key, which for most kinds is its name. */
  named<K extends EntryKind>(kind: K, parentId: string, key: string): Entries[K] | undefined {
    const entry = this.#catalog.named(kind, parentId, key)
    if (!entry) this.#catalog.refuseLost(parentId, kind)
    return this.#rights.mayTouch('read', kind, entry) ? entry : undefined
  }

  /** What may be read, newest first unless the position says otherwise; of the organization at most. */
  *list<K extends EntryKind>(
    kind: K,
    scope: Pick<EntryScope, 'parentId' | 'name'> = {},
    position?: PagePosition,
  ): Generator<Entries[K]> {
    for (const narrowed of this.#scopes(kind, scope, position)) {
      for (const entry of this.#reached(reachOf(this.#rights, kind), kind, narrowed, position)) {
        if (this.#rights.mayTouch('read', kind, entry)) yield entry
      }
    }
  }

  /** Where a page of a list begins that was left at this entry, removed or not. */
  positionOf(kind: EntryKind, id: string): number | undefined {
    const found = this.#catalog.positionOf(kind, id)
    return this.#rights.mayTouch('read', kind, found?.entry) ? found?.sequence : undefined
  }

  /**
   * An entry that has the unique key already is returned as it is. Whether there is one can only be
   * learnt by who may read all that could have that key.
   */
  findOrCreate<K extends EntryKind>(
    kind: K,
    given: GivenToGate<K>,
  ): Promise<FoundOrCreated<Entries[K]>> {
    return this.#change((change) => this.#findOrCreate(change, kind, given))
  }

  update<K extends EntryKind>(kind: K, id: string, patch: PatchOf<K>): Promise<Entries[K]> {
    return this.#change((change) => {
      const before = change.get(kind, id)
      if (!before) this.#catalog.refuseLost(id)
      if (!this.#rights.mayTouch('update', kind, before) || !before) {
        throw missingAccess('update', kind, id)
      }
      const values = typeof patch === 'function' ? patch(before) : patch
      const { uniqueKey } = rulesOf(kind)
      const isRenamed = uniqueKey && uniqueKey(before) !== uniqueKey({ ...before, ...values })
      if (isRenamed && !this.#rights.mayName(kind, before)) {
        const message = `To rename a ${kind} takes the right to read all that could have its name`
        throw new AssayError('ACCESS_DENIED', message)
      }
      const after = change.update(kind, id, values)
      this.#check(kind, after, before)
      return after
    })
  }

  /** The entry as it was, with the time of its removal. */
  remove<K extends EntryKind>(kind: K, id: string): Promise<Entries[K]> {
    return this.#change((change) => {
      const entry = change.get(kind, id)
      if (!entry) this.#catalog.refuseLost(id)
      if (!this.#rights.mayTouch('delete', kind, entry)) throw missingAccess('delete', kind, id)
      return change.remove(kind, id)
    })
  }

  /** Removes what belongs to a prompt, which is no entry itself: rights, views, variables, versions. */
  removePartsOfPrompt(id: string): Promise<void> {
    this.requirePermission('delete', 'prompt', id)
    return this.#change((change) => change.removeWithin(id))
  }

  /** The ACL with these contents, which is gone then. */
  removeAcl(given: AclContents): Promise<Acl> {
    return this.#change((change) => {
      const removed = this.#takeAcl(change, given)
      if (removed) return removed
      throw missingAccess('delete_acls', given.object_type, given.object_id)
    })
  }

  /** Gives and takes ACLs together; those that are there, or gone, already are left out. */
  changeAcls(
    added: readonly AclContents[],
    removed: readonly AclContents[],
  ): Promise<{ added: Acl[]; removed: Acl[] }> {
    return this.#change((change) => ({
      removed: removed
        .map((given) => this.#takeAcl(change, given))
        .filter((acl) => acl !== undefined),
      added: added
        .map((given) => this.#findOrCreate(change, 'acl', given))
        .flatMap(({ entry, found }) => (found ? [] : [entry])),
    }))
  }

  /** Who changed what in the organization, newest first. */
  auditTrail(entryId?: string, before?: string): Iterable<AuditRecord> {
    const { organizationId } = this.principal
    this.requirePermission('read', 'org_audit_logs', organizationId)
    return this.#catalog.auditTrail(organizationId, entryId, before)
  }

  #findOrCreate<K extends EntryKind>(
    change: Change,
    kind: K,
    given: GivenToGate<K>,
  ): FoundOrCreated<Entries[K]> {
    const owned = this.#owned(kind, given)
    const may = this.#rights.mayTouch('create', kind, owned) && this.#rights.mayName(kind, owned)
    if (!may) {
      // Somebody may see one that is there and not make one. Where nothing may be made is not told.
      const known = change.find(kind, owned)
      if (!this.#rights.mayTouch('read', kind, known) || !known) {
        throw this.#missingCreate(kind, owned)
      }
      return { entry: known, found: true }
    }
    const result = change.findOrCreate(kind, owned)
    if (!result.found) this.#check(kind, result.entry, undefined)
    else if (!this.#rights.mayTouch('read', kind, result.entry)) {
      throw this.#missingCreate(kind, owned)
    }
    return result
  }

  /** Undefined when there is none. Whether there is one is for those who may read it. */
  #takeAcl(change: Change, given: AclContents): Acl | undefined {
    const { object_type, object_id } = given
    this.requirePermission('read_acls', object_type, object_id)
    this.requirePermission('delete_acls', object_type, object_id)
    const acl = change.named('acl', object_id, aclKey(given))
    return acl && change.remove('acl', acl.id)
  }

  /** All of it or nothing. What `run` looks up is still so when it is written. */
  #change<T>(run: (change: Change) => T): Promise<T> {
    return guardedChange(this.#catalog, this.#index, this.principal, run)
  }

  /** Built-in roles, which belong to no organization, are older than those of any. */
  #scopes(
    kind: EntryKind,
    scope: Pick<EntryScope, 'parentId' | 'name'>,
    position: PagePosition | undefined,
  ): EntryScope[] {
    if (scope.parentId !== undefined) return [scope]
    const own = { ...scope, organizationId: this.principal.organizationId }
    if (kind !== 'role') return [own]
    const scopes = [own, { ...scope, parentId: builtInOwner }]
    return position?.direction === 'newer' ? scopes.reverse() : scopes
  }

  /** Everything that is built in is for everybody. */
  #reached<K extends EntryKind>(
    reach: Reach,
    kind: K,
    { organizationId, ...scope }: EntryScope,
    position: PagePosition | undefined,
  ): Iterable<Entries[K]> {
    if (scope.parentId) this.#catalog.refuseLost(scope.parentId)
    if (scope.parentId && !this.#mayBeOurs(scope.parentId)) return []
    return reach === 'all' || scope.parentId === builtInOwner
      ? this.#catalog.list(kind, { ...scope, ...(organizationId && { organizationId }) }, position)
      : this.#catalog.listAmong(kind, reach, scope, position)
  }

  /** False for what belongs to another organization. */
  #mayBeOurs(parentId: string): boolean {
    const { organizationId } = this.principal
    const targets = parentTypes.map((type) => targetOf(this.#rights, type, parentId))
    return targets.every((target) => !target || target.organizationId === organizationId)
  }

  /** In the order in which they were made. */
  *#readableObjects(
    type: ObjectType,
    scope: Pick<EntryScope, 'parentId' | 'name'>,
  ): Generator<CatalogObject> {
    const reach = reachOfObjects(this.#rights, type)
    const narrowed =
      scope.parentId === undefined
        ? { ...scope, organizationId: this.principal.organizationId }
        : scope
    for (const { id } of this.#reached(reach, kindOfObject(type), narrowed, oldestFirst)) {
      const object = this.readable(type, id)
      if (object) yield object
    }
  }

  #owned<K extends EntryKind>(kind: K, given: GivenToGate<K>): Given<K> {
    const { organizationId, userId } = this.principal
    const shape = entrySchemas[kind].shape
    const owned = {
      ...('org_id' in shape && { org_id: organizationId }),
      ...('_object_org_id' in shape && { _object_org_id: organizationId }),
      // Of an ACL it is not who made it, but whom it is for.
      ...('user_id' in shape && kind !== 'acl' && { user_id: userId }),
      ...given,
    }
    return owned as unknown as Given<K>
  }

  #entry<K extends EntryKind>(action: Action, kind: K, id: string): Entries[K] | undefined {
    const entry = this.#catalog.get(kind, id)
    if (!entry) this.#catalog.refuseLost(id)
    return this.#rights.mayTouch(action, kind, entry) ? entry : undefined
  }

  #object(permission: Permission, type: ObjectType, id: string): CatalogObject | undefined {
    const object = this.#catalog.object(type, id)
    if (!object) this.#catalog.refuseLost(id)
    return this.#rights.may(permission, object && recordsTarget(object)) ? object : undefined
  }

  /** The prompts of a project as far as there are rights on single ones. */
  #somePrompts(projectId: string): CatalogObject | undefined {
    const visibleIds = this.#rights
      .placesWith('read', 'prompt', 'prompt')
      .filter((id) => this.#rights.projectOfPrompt(id) === projectId)
    const object = this.#catalog.object('project_prompts', projectId)
    return object && visibleIds.length > 0 ? { ...object, name: '', visibleIds } : undefined
  }

  #check<K extends EntryKind>(kind: K, entry: Entries[K], before: Entries[K] | undefined): void {
    const graph = this.#index.graph(this.principal.organizationId)
    const has = (kind: EntryKind) => (id: string) => this.find(kind, id) !== undefined
    const named = { hasUser: has('user'), hasGroup: has('group'), hasRole: has('role') }
    checkEntry(kind, entry, before, named, graph)
  }

  /** Names what the entry was to be in, which who asked has named. */
  #missingCreate<K extends EntryKind>(kind: K, given: Given<K>): AssayError {
    const entry: { readonly [field: string]: unknown } = given
    const { object_type, object_id, project_id, dataset_id } = entry
    if (object_type !== undefined) {
      return missingAccess('create', String(object_type), String(object_id))
    }
    if (project_id !== undefined) return missingAccess('create', 'project', String(project_id))
    if (dataset_id !== undefined && kind === 'dataset_snapshot') {
      return missingAccess('create', 'dataset', String(dataset_id))
    }
    return missingAccess('create', 'organization', this.principal.organizationId)
  }
}
