/**
 * Everything that has a name, a right or a setting: organizations, people, keys, projects and what
 * they have. All of it is in memory; changes are written to LMDB first, one after the other, so
 * that memory never holds what a crash can lose.
 */
import { AssayError, toAssayError } from '../error.ts'
import type { RecordsEnvironment } from '../storage/environment.ts'
import { objectText } from '../storage/record-damage.ts'
import type { CatalogWrite } from '../storage/write/catalog-batch.ts'
import { writeExactJson } from '../type/exact-json.ts'
import type { ObjectReference, ObjectType } from '../type/record.ts'
import { type Actor, type AuditRecord, auditRecord } from './audit-trail.ts'
import { CatalogState } from './catalog-state.ts'
import { Change, type Counters, type Step } from './change.ts'
import { ChangeQueue, type MadeChange } from './change-queue.ts'
import {
  type Entries,
  type Entry,
  type EntryKind,
  entryKinds,
  type FoundOrCreated,
  type Given,
  type PatchOf,
} from './entry.ts'
import { type EntryKey, EntryStore, type StoredEntry, type Writes } from './entry-store.ts'
import {
  type FollowedChange,
  type FollowedEntry,
  followedEntries,
  stepsOf,
  stepsOfWhole,
  wholeCatalog,
  writesOf,
} from './followed-change.ts'
import { organizationOf, rulesOf } from './kind-rules.ts'
import type { Among, EntryScope } from './kind-table.ts'
import { migrate } from './migrate.ts'
import type { CatalogObject } from './object-index.ts'
import { kindsOfObjects } from './object-kinds.ts'
import type { PagePosition } from './ordered-entries.ts'
import { type DamagedEntry, lostEntry, restoreEntries } from './restore-entries.ts'
import type { Fields } from './schema/field.ts'

export type { Among, EntryScope } from './kind-table.ts'
export type { CatalogObject } from './object-index.ts'
export { objectTypesOf } from './object-kinds.ts'
export type { PagePosition } from './ordered-entries.ts'

/** What one principal may see. Absent and not allowed are indistinguishable. */
export interface CatalogView {
  readable(type: ObjectType, id: string): CatalogObject | undefined
  writable(type: ObjectType, id: string): CatalogObject | undefined
  /**
   * The logs, experiments, datasets and playgrounds of a project; undefined when the project is not
   * there or may not be read.
   */
  readableInProject(projectId: string): readonly CatalogObject[] | undefined
  /** The objects of a type that may be read, in any order. */
  readableOfType(type: ObjectType): Iterable<CatalogObject>
  /** Objects of a type that have the name; in different projects there may be several. */
  readableByName(type: ObjectType, name: string): readonly CatalogObject[]
  /** The project of that id or, if there is none, of that name. */
  readableProject(idOrName: string): NamedEntry | undefined
  /** The principal's organization. */
  organization(): NamedEntry
}

export interface NamedEntry {
  readonly id: string
  readonly name: string
}

/** One entry before and after; without `before` it is new, without `after` it is gone. */
export interface CatalogChange {
  readonly kind: EntryKind
  readonly id: string
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

export interface CatalogOptions {
  /** How changes come to disk; when not given, by this thread, which waits for that. */
  readonly write?: CatalogWrite
  /** Throws when nothing may grow. Asked for each change that only adds something, or changes what is there. */
  readonly requireRoom?: () => void
}

export interface FilePlaces {
  readonly isNamed: boolean
  readonly isLost: boolean
  readonly objects: CatalogObject[]
}

export type ChangeListener = (changes: readonly CatalogChange[]) => void

/** Knows everything and asks nobody for rights: only `access/` may hand out parts of it. */
export class Catalog {
  readonly #store: EntryStore
  readonly #state = new CatalogState()
  readonly #listeners = new Set<ChangeListener>()
  readonly #followers = new Set<(change: FollowedChange) => void>()
  #counters: Counters
  #lastAudit: number
  readonly #requireRoom: (() => void) | undefined
  /** Entries that could not be read at the start. */
  readonly damaged: readonly DamagedEntry[]
  readonly #queue = new ChangeQueue({
    begin: (staged) => new Change(this.#state, staged, staged.counters ?? this.#counters),
    check: (made) => this.#checkRoom(made),
    commit: (changes) => this.#commit(changes),
  })

  constructor(records: RecordsEnvironment, { write, requireRoom }: CatalogOptions = {}) {
    this.#requireRoom = requireRoom
    migrate(records)
    this.#store = new EntryStore(records, write)
    this.#counters = {
      lastNumber: this.#store.lastNumber(),
      lastSequence: this.#store.lastSequence(),
    }
    this.#lastAudit = this.#store.lastAudit()
    const damaged: EntryKey[] = []
    const read = entryKinds.map((kind) => {
      return [kind, [...this.#store.entries(kind, (key) => damaged.push(key))]] as const
    })
    this.damaged = damaged.length === 0 ? [] : restoreEntries(this.#store, damaged)
    for (const each of this.damaged) if (each.state === 'lost') this.#state.addLost(each.id, each)
    for (const [kind, stored] of read) {
      const restored = this.damaged.flatMap((each) =>
        each.kind === kind && each.stored ? [each.stored] : [],
      )
      // In the order of their making, in which they are added to the end of every list.
      const entries = [...stored, ...restored].sort((a, b) => a.sequence - b.sequence)
      for (const stored of entries) this.#load(kind, stored)
    }
  }

  /**
   * What is damaged is not gone: throws STORAGE_CORRUPT for an id that is not there as it, or what it is in, cannot be
   * read. With a kind the same for a name that is not found: any may have been that of one of the kind that holds records.
   */
  refuseLost(id: string, kind?: EntryKind): void {
    const isNamed = kind !== undefined && rulesOf(kind).records !== undefined
    const lost = this.#state.lost(id) ?? (isNamed ? this.#state.lostOfKind(kind) : undefined)
    if (lost) throw lostEntry(lost)
  }

  get<K extends EntryKind>(kind: K, id: string): Entries[K] | undefined {
    return this.#state.table(kind).get(id)?.entry
  }

  /** The one entry of a parent with this unique key, which for most kinds is its name. */
  named<K extends EntryKind>(kind: K, parentId: string, key: string): Entries[K] | undefined {
    return this.#state.table(kind).keyed(parentId, key)?.entry
  }

  /** Newest first unless the position says otherwise. Must be read before anything changes. */
  list<K extends EntryKind>(
    kind: K,
    scope: EntryScope = {},
    position?: PagePosition,
  ): Iterable<Entries[K]> {
    return this.#state.table(kind).list(scope, position)
  }

  /** The same of some parents and of single entries together. */
  listAmong<K extends EntryKind>(
    kind: K,
    among: Among,
    scope: Omit<EntryScope, 'organizationId'> = {},
    position?: PagePosition,
  ): Iterable<Entries[K]> {
    return this.#state.table(kind).listAmong(among, scope, position)
  }

  /** Ids of the entries of a kind that name another entry. */
  referrers(kind: EntryKind, id: string): string[] {
    return Array.from(this.#state.referrersOf(id)).flatMap((one) =>
      one.kind === kind ? [one.id] : [],
    )
  }

  /**
   * Where an entry is in the lists of its kind, also if it has been removed: who reads pages may
   * have it as the last of a page. Both are looked up, so that the time does not tell which it was.
   */
  positionOf<K extends EntryKind>(
    kind: K,
    id: string,
  ): { readonly entry: Entries[K]; readonly sequence: number } | undefined {
    const deleted = this.#store.deleted(kind, id)
    return this.#state.table(kind).get(id) ?? deleted
  }

  /** Null for what belongs to none. */
  organizationOf<K extends EntryKind>(kind: K, entry: Entries[K]): string | null {
    return this.#state.organizationOf(kind, entry)
  }

  object(type: ObjectType, id: string): CatalogObject | undefined {
    return this.#state.objects.get(type, id)
  }

  /** All that holds records, in no order. */
  allObjects(): Iterable<CatalogObject> {
    return this.#state.objects.all()
  }

  /** What was thrown, with the name of the object that is damaged where the message has only its number. */
  withName(thrown: unknown): AssayError {
    const error = toAssayError(thrown)
    const object =
      error.object === undefined ? undefined : this.#state.objects.numbered(error.object)
    if (!object) return error
    const { type, id, name, number } = object
    const text = `${type} ${JSON.stringify(name)} (${id})`
    const message = error.message.replace(objectText(number), text)
    return AssayError.fromWire({ ...error.toWire(), message })
  }

  /** Those of a name in all projects of an organization. */
  objectsByName(organizationId: string, type: ObjectType, name: string): CatalogObject[] {
    const kind = kindsOfObjects.get(type) ?? 'project'
    const found: CatalogObject[] = []
    for (const { id } of this.list(kind, { organizationId, name })) {
      const object = this.object(type, id)
      if (object) found.push(object)
    }
    return found.sort((a, b) => a.number - b.number)
  }

  /**
   * What holds records of runs and cases in a project, in the order it was made; its logs come
   * first. Prompts and views are not among them.
   */
  objectsInProject(projectId: string): readonly CatalogObject[] {
    return this.#state.objects.inProject(projectId)
  }

  create<K extends EntryKind>(kind: K, given: Given<K>, actor: Actor): Promise<Entries[K]> {
    return this.change(actor, (change) => change.create(kind, given))
  }

  /** An entry that has the unique key already is returned as it is. */
  async findOrCreate<K extends EntryKind>(
    kind: K,
    given: Given<K>,
    actor: Actor,
  ): Promise<FoundOrCreated<Entries[K]>> {
    return this.change(actor, (change) => change.findOrCreate(kind, given))
  }

  update<K extends EntryKind>(
    kind: K,
    id: string,
    patch: PatchOf<K>,
    actor: Actor,
  ): Promise<Entries[K]> {
    return this.change(actor, (change) => change.update(kind, id, patch))
  }

  /** Removes the entry and all that belongs to it, records too. */
  remove<K extends EntryKind>(kind: K, id: string, actor: Actor): Promise<Entries[K]> {
    return this.change(actor, (change) => change.remove(kind, id))
  }

  /**
   * Changes several entries together or, when `run` throws, none. Changes run one at a time: what
   * one looks up is still so when it is written. Resolves once all of it is on disk and visible; those
   * that wait meanwhile share the next transaction.
   */
  change<T>(actor: Actor, run: (change: Change) => T): Promise<T> {
    return this.#queue.change(actor, run)
  }

  /** Notes when entries were last used: not in the trail, and nobody is told. */
  noteUse(kind: 'api_key' | 'service_token', ids: ReadonlyMap<string, string>) {
    return this.#queue.exclusively(async () => {
      const used = Array.from(ids).flatMap(([id, used]) => {
        const stored = this.#state.table(kind).get(id)
        return stored ? [{ ...stored, entry: { ...stored.entry, used } }] : []
      })
      if (used.length === 0) return
      await this.#store.rewrite(kind, used)
      for (const { entry } of used) this.#state.replace(kind, entry.id, entry)
    })
  }

  /** The listener is called after a change is visible. Returns what ends that. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** How far it is: greater with each change. */
  get position(): number {
    return this.#lastAudit
  }

  /**
   * All that there is now, and from then on each commit once it is visible, for whoever follows this catalog.
   *
   * @returns what ends that
   */
  lead(follower: (change: FollowedChange) => void): { whole: FollowedChange; end: () => void } {
    this.#followers.add(follower)
    return {
      whole: this.#followed(wholeCatalog(this.#state)),
      end: () => this.#followers.delete(follower),
    }
  }

  #followed(entries: readonly FollowedEntry[]): FollowedChange {
    return { ...this.#counters, position: this.#lastAudit, entries }
  }

  /**
   * Becomes as the catalog that it follows; visible, and on disk, when this resolves.
   *
   * @param isWhole what the change does not name is gone
   */
  follow(change: FollowedChange, isWhole: boolean): Promise<void> {
    return this.#queue.exclusively(async () => {
      const { entries, position, lastNumber, lastSequence } = change
      const told = (isWhole ? stepsOfWhole : stepsOf)(this.#state, entries)
      const steps = told.filter(isChange)
      const counters = { lastNumber, lastSequence }
      const writes = writesOf(steps, new Date().toISOString())
      await this.#store.write({ ...writes, audit: [], ...counters, lastAudit: position })
      this.#lastAudit = position
      this.#counters = counters
      this.#apply(steps)
    })
  }

  /** Newest first, before the record `before`; of one entry if `entryId` is given. */
  auditTrail(organizationId: string, entryId?: string, before?: string): Iterable<AuditRecord> {
    return this.#store.audit(organizationId, entryId, before)
  }

  /** Notes in the trail what the service has done within an entry, which itself stays as it is. */
  noteInTrail(kind: EntryKind, id: string, done: Fields, actor: Actor): Promise<void> {
    return this.#queue.exclusively(async () => {
      const entry = this.get(kind, id)
      if (!entry) return
      const organizationId = this.organizationOf(kind, entry)
      const lastAudit = this.#lastAudit + 1
      const audited = { kind, id, before: entry, after: undefined, organizationId }
      const now = new Date().toISOString()
      const record = { ...auditRecord(lastAudit, now, actor, audited), before: null, after: done }
      const audit = [record]
      const nothing = { puts: [], removals: [], purges: [] }
      await this.#store.write({ ...nothing, audit, ...this.#counters, lastAudit })
      this.#lastAudit = lastAudit
      this.#lead([])
    })
  }

  /** Numbers of removed objects whose records are still on disk. */
  purges(): number[] {
    return this.#store.purges()
  }

  /** The records of these objects are gone from disk. */
  purged(numbers: readonly number[]): Promise<void> {
    return this.#store.purged(numbers)
  }

  /** Notes that records of an object name these files, which live as long as one such object does. */
  noteFiles(names: readonly string[], object: ObjectReference): Promise<void> {
    return this.#store.noteFiles(names, object)
  }

  /**
   * Objects that are there and have records that named a file once; `isNamed` if any ever had. `isLost`: one of these is
   * damaged, or in what is.
   */
  filePlaces(name: string): FilePlaces {
    const named = this.#store.objectsNaming(name)
    return {
      isNamed: named.length > 0,
      isLost: named.some(({ id }) => this.#state.lost(id)),
      objects: named.flatMap(({ type, id }) => this.object(type, id) ?? []),
    }
  }

  forgetFile(name: string): Promise<void> {
    return this.#store.forgetFile(name)
  }

  #load<K extends EntryKind>(kind: K, stored: StoredEntry<K>): void {
    const { entry } = stored
    // What a removed project had is removed with it, and keeps its place on disk.
    if ('deleted_at' in entry && entry.deleted_at !== null) return
    const lost = this.#state.lost(this.#state.table(kind).parentOf(entry))
    if (this.#state.hasParent(kind, entry)) this.#state.add(kind, stored)
    else if (lost) this.#state.addLost(entry.id, lost)
  }

  /** Whoever takes something away, or signs in to do so, needs no room; nor does the service itself wait for it. */
  #checkRoom({ actor, change }: MadeChange): void {
    if (!this.#requireRoom || actor.userId === null) return
    const steps = [...change.steps].filter(isChange)
    const takesAway = steps.some(({ before, after }) => before && !after)
    const isSignIn = steps.every(({ kind }) => kind === 'session' || kind === 'password')
    if (!takesAway && !isSignIn) this.#requireRoom()
  }

  async #commit(changes: readonly MadeChange[]): Promise<void> {
    const made = changes
      .map(({ actor, change }) => ({ actor, change, steps: [...change.steps].filter(isChange) }))
      .filter(({ steps }) => steps.length > 0)
    const last = made.at(-1)
    if (!last) return
    let lastAudit = this.#lastAudit
    const audit = made.flatMap(({ actor, change, steps }) =>
      steps
        .filter(({ isImplied }) => !isImplied)
        .map((step) => this.#auditRecord(++lastAudit, actor, change, step)),
    )
    const all = made.flatMap(({ change, steps }) =>
      steps.map((step) => ({ ...step, now: change.now })),
    )
    const writes: Writes = {
      puts: all.flatMap(({ kind, stored, after }) =>
        after ? [[kind, after.id, { ...stored, entry: after }] as const] : [],
      ),
      removals: all.flatMap(({ kind, stored, before, after, isImplied, now }) =>
        before && !after && !isImplied
          ? [[kind, before.id, { ...stored, deleted: now }] as const]
          : [],
      ),
      audit,
      purges: made.flatMap(({ change }) => change.purges()),
      ...last.change.counters,
      lastAudit,
    }
    // Nothing in memory may be ahead of the disk: this may fail.
    await this.#store.write(writes)
    this.#lastAudit = lastAudit
    this.#counters = last.change.counters
    for (const { steps } of made) this.#apply(steps)
    this.#lead(followedEntries(made.flatMap(({ steps }) => steps)))
  }

  #lead(entries: readonly FollowedEntry[]): void {
    if (this.#followers.size === 0) return
    const change = this.#followed(entries)
    for (const follower of this.#followers) follower(change)
  }

  #auditRecord(
    number: number,
    actor: Actor,
    change: Change,
    { kind, stored, before, after }: Step,
  ): AuditRecord {
    const entry = after ?? before ?? stored.entry
    const organizationId = organizationOf(
      kind,
      entry,
      (kind, id) => change.get(kind, id) ?? this.get(kind, id),
    )
    const audited = { kind, id: entry.id, before, after, organizationId }
    return auditRecord(number, change.now, actor, audited)
  }

  #apply(steps: readonly Step[]): void {
    // The other way round: what is in something goes before it does.
    for (const { kind, stored, after } of steps.toReversed()) {
      if (!after) this.#state.remove(kind, stored.entry.id)
    }
    for (const { kind, stored, before, after } of steps) {
      if (after && !before) this.#state.add(kind, { ...stored, entry: after })
      else if (after) this.#state.replace(kind, after.id, after)
    }
    const changes = steps.map(({ kind, stored, before, after }) => ({
      kind,
      id: stored.entry.id,
      before,
      after,
    }))
    for (const listener of this.#listeners) listener(changes)
  }
}

/** Not for what was made and removed in one change, nor for an update that changes nothing. */
function isChange({ before, after }: Step): boolean {
  if (!before || !after) return before !== after
  return writeExactJson(before) !== writeExactJson(after)
}
