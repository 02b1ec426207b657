import { randomUUID } from 'node:crypto'
import { AssayError, assert } from '../error.ts'
import type { CatalogState, Referrer } from './catalog-state.ts'
import {
  accessKinds,
  type Entries,
  type EntryKind,
  entryKinds,
  entrySchemas,
  type FoundOrCreated,
  type Given,
  type PatchOf,
} from './entry.ts'
import type { StoredEntry } from './entry-store.ts'
import { furtherFields } from './further-fields.ts'
import { nameOf, organizationOf, referencesOf, rulesOf } from './kind-rules.ts'
import { missingAccess } from './missing-access.ts'
import { endOfNumbers, projectObjectNumbers } from './object-index.ts'
import { lostEntry } from './restore-entries.ts'

/** What becomes of one entry. */
export interface Step<K extends EntryKind = EntryKind> {
  readonly kind: K
  readonly stored: StoredEntry<K>
  /** Undefined for a new entry. */
  readonly before: Entries[K] | undefined
  /** Undefined for one that is removed. */
  readonly after: Entries[K] | undefined
  /** It goes because what it is in goes: that is written once, not here. */
  readonly isImplied: boolean
}

export interface Counters {
  lastNumber: number
  lastSequence: number
}

/** What changes have made that are not written yet. */
export class Staged {
  readonly #steps = new Map<string, Step>()
  readonly #keys = new Map<string, string>()
  /** Those of the last change. */
  counters: Counters | undefined

  add(change: Change): void {
    for (const step of change.steps) this.#steps.set(`${step.kind}/${step.stored.entry.id}`, step)
    for (const [key, id] of change.keys) this.#keys.set(key, id)
    this.counters = change.counters
  }

  step<K extends EntryKind>(kind: K, id: string): Step<K> | undefined {
    return this.#steps.get(`${kind}/${id}`) as Step<K> | undefined
  }

  /** Id of the entry that has got a unique key. */
  keyed(kind: EntryKind, key: string): string | undefined {
    return this.#keys.get(`${kind}/${key}`)
  }
}

/**
 * Several changes of the catalog that happen together or not at all. What is looked up here has the
 * changes in it already; nobody else sees them before they are on disk.
 */
export class Change {
  readonly #state: CatalogState
  readonly #staged: Staged
  readonly #steps = new Map<string, Step>()
  readonly #keys = new Map<string, string>()
  /** By id: entries that have come to be in it, or to name it, in this change. */
  readonly #joined = new Map<string, Map<string, Referrer>>()
  readonly counters: Counters
  readonly now = new Date().toISOString()
  #isPlain = true

  constructor(state: CatalogState, staged: Staged, counters: Counters) {
    this.#state = state
    this.#staged = staged
    this.counters = { ...counters }
  }

  /** Whether it takes nothing away and changes nothing that rights are made of. */
  get isPlain(): boolean {
    return this.#isPlain
  }

  /** Ids by kind and unique key, of entries that are new or renamed. */
  get keys(): Iterable<readonly [key: string, id: string]> {
    return this.#keys
  }

  /** In the order in which they were asked for; what is removed comes before what is in it. */
  get steps(): Iterable<Step> {
    return this.#steps.values()
  }

  get<K extends EntryKind>(kind: K, id: string): Entries[K] | undefined {
    const step = this.#steps.get(`${kind}/${id}`)
    if (step) return step.after as Entries[K] | undefined
    const earlier = this.#staged.step(kind, id)
    return earlier ? earlier.after : this.#state.table(kind).get(id)?.entry
  }

  /** The one entry of a parent that has this unique key. */
  named<K extends EntryKind>(kind: K, parentId: string, key: string): Entries[K] | undefined {
    const unique = uniqueKey(parentId, key)
    const found =
      this.#keys.get(`${kind}/${unique}`) ??
      this.#staged.keyed(kind, unique) ??
      this.#state.table(kind).keyed(parentId, key)?.entry.id
    const entry = this.get(kind, found ?? '')
    // It may have got another key in this change.
    return entry && rulesOf(kind).uniqueKey?.(entry) === key ? entry : undefined
  }

  /** Throws when there is one of its unique key already. */
  create<K extends EntryKind>(kind: K, given: Given<K>): Entries[K] {
    const { entry, found } = this.findOrCreate(kind, given)
    if (found) throw taken(kind, entry)
    return entry
  }

  /** The entry that has the unique key of what is given. */
  find<K extends EntryKind>(kind: K, given: Given<K>): Entries[K] | undefined {
    return this.#sameKey(kind, this.#complete(kind, given))
  }

  /** An entry that has the unique key already is returned as it is. */
  findOrCreate<K extends EntryKind>(kind: K, given: Given<K>): FoundOrCreated<Entries[K]> {
    const entry = this.#complete(kind, given)
    const known = this.#sameKey(kind, entry)
    if (known) return { entry: known, found: true }
    this.#requireNoneLost(kind)
    this.#requireParent(kind, entry)
    assert(!this.get(kind, entry.id), `the id of a new ${kind} is taken`)
    const hasNumber = rulesOf(kind).records !== undefined
    const sequence = ++this.counters.lastSequence
    if (hasNumber) {
      assert(this.counters.lastNumber + 1 < endOfNumbers, 'there are no numbers left for objects')
      this.counters.lastNumber++
    }
    const stored = {
      sequence,
      ...(hasNumber && { number: this.counters.lastNumber }),
      entry,
    }
    this.#stage({ kind, stored, before: undefined, after: entry, isImplied: false })
    return { entry, found: false }
  }

  /**
   * Throws when the entry is not there, or when another one has its new unique key. A function is
   * given the entry as it is at that moment.
   */
  update<K extends EntryKind>(kind: K, id: string, patch: PatchOf<K>): Entries[K] {
    const before = this.get(kind, id)
    if (!before) throw missingAccess('update', kind, id)
    const after = { ...before, ...(typeof patch === 'function' ? patch(before) : patch) }
    const other = this.#sameKey(kind, after)
    if (other && other.id !== id) throw taken(kind, after)
    const step = this.#steps.get(`${kind}/${id}`)
    if (step) {
      this.#stage({ ...step, kind, after } as unknown as Step<K>)
    } else {
      const stored = this.#stored(kind, id)
      assert(stored, `an update of an unknown ${kind}`)
      this.#stage({ kind, stored, before, after, isImplied: false })
    }
    return after
  }

  /** Removes the entry and all that depends on it; returns it with the time of its removal. */
  remove<K extends EntryKind>(kind: K, id: string): Entries[K] {
    const removed = this.discard(kind, id)
    if (!removed) throw missingAccess('delete', kind, id)
    return removed
  }

  /** The same; undefined for one that is not there any more. */
  discard<K extends EntryKind>(kind: K, id: string): Entries[K] | undefined {
    this.#isPlain = false
    const entry = this.get(kind, id)
    if (!entry) return undefined
    this.#remove(kind, id, false)
    return 'deleted_at' in entry ? { ...entry, deleted_at: this.now } : entry
  }

  /**
   * Removes those entries of a kind that name another one and pass, as they are at that moment: who goes
   * through a list of its own may meet what has gone with an entry before.
   */
  removeNaming<K extends EntryKind>(
    kind: K,
    named: string,
    passes: (entry: Entries[K]) => boolean,
  ): void {
    this.#isPlain = false
    for (const referrer of this.#referrersOf(named)) {
      if (referrer.kind !== kind) continue
      const entry = this.get(kind, referrer.id)
      if (entry && passes(entry)) this.#remove(kind, entry.id, false)
    }
  }

  /** Removes what belongs to something that is no entry of the catalog: a prompt. */
  removeWithin(parentId: string): void {
    this.#isPlain = false
    for (const { kind, id } of this.#childrenOf(parentId)) this.#remove(kind, id, false)
  }

  /** Numbers of the objects that lose their records. */
  purges(): number[] {
    const numbers: number[] = []
    for (const { kind, stored, before, after } of this.#steps.values()) {
      if (after || !before || stored.number === undefined) continue
      if (kind === 'project') numbers.push(...projectObjectNumbers(stored.number))
      else numbers.push(stored.number)
    }
    return numbers
  }

  #stored<K extends EntryKind>(kind: K, id: string): StoredEntry<K> | undefined {
    return this.#staged.step(kind, id)?.stored ?? this.#state.table(kind).get(id)
  }

  /**
   * Removes the entry, then all that depends on it. What that is, is asked once the entry is gone, and
   * each entry of it is looked up when its turn comes: it may have gone, or changed, in another way.
   */
  #remove<K extends EntryKind>(kind: K, id: string, isImplied: boolean): void {
    const entry = this.get(kind, id)
    if (!entry) return
    const step = this.#steps.get(`${kind}/${id}`)
    if (step) this.#stage({ ...step, after: undefined })
    else {
      const stored = this.#stored(kind, id)
      assert(stored, `a removal of an unknown ${kind}`)
      this.#stage({ kind, stored, before: entry, after: undefined, isImplied })
    }
    for (const child of this.#childrenOf(id)) {
      const inIt = this.get(child.kind, child.id)
      const parentKind = inIt && rulesOf(child.kind).parentKind?.(inIt)
      if (parentKind === kind) this.#remove(child.kind, child.id, true)
    }
    for (const referrer of this.#referrersOf(id)) this.#dropReference(referrer, id)
    const stoodFor = rulesOf(kind).standsFor?.(entry)
    if (stoodFor === undefined) return
    const organizationId = this.#organizationOf(kind, entry)
    for (const referrer of this.#referrersOf(stoodFor)) {
      const other = this.get(referrer.kind, referrer.id)
      if (!other || this.#organizationOf(referrer.kind, other) !== organizationId) continue
      this.#dropReference(referrer, stoodFor)
    }
  }

  /** What was in something before this change, or has come to be. */
  #childrenOf(parentId: string): Referrer[] {
    const before = entryKinds.flatMap((kind) =>
      this.#state
        .table(kind)
        .childrenOf(parentId)
        .map(({ entry: { id } }) => ({ kind, id })),
    )
    return [...before, ...(this.#joined.get(parentId)?.values() ?? [])].filter(({ kind, id }) => {
      const entry = this.get(kind, id)
      return entry !== undefined && this.#state.table(kind).parentOf(entry) === parentId
    })
  }

  /** What named something before this change, or has come to. */
  #referrersOf(id: string): Referrer[] {
    return [...this.#state.referrersOf(id), ...(this.#joined.get(id)?.values() ?? [])]
  }

  #organizationOf(kind: EntryKind, entry: Entries[EntryKind]): string | null {
    return organizationOf(kind, entry, (parentKind, id) => this.get(parentKind, id))
  }

  #dropReference({ kind, id }: Referrer, removed: string): void {
    for (const { field, onRemove } of rulesOf(kind).references ?? []) {
      const entry = this.get(kind, id)
      const value: unknown = entry?.[field as keyof typeof entry]
      if (value === removed && onRemove === 'remove') this.#remove(kind, id, false)
      else if (Array.isArray(value) && value.includes(removed)) {
        this.update(kind, id, { [field]: value.filter((one) => one !== removed) })
      }
    }
  }

  #stage<K extends EntryKind>(step: Step<K>): void {
    const { kind, stored, after } = step
    if (accessKinds.has(kind)) this.#isPlain = false
    const key = `${kind}/${stored.entry.id}`
    // What is removed comes after what it is in, also if this change has touched it before.
    if (!after) this.#steps.delete(key)
    this.#steps.set(key, step as unknown as Step)
    if (!after) return
    this.#claim(kind, after)
    this.#join(kind, after, step.before)
  }

  /** Notes what the entry is in and names, and was not or did not before. */
  #join<K extends EntryKind>(kind: K, after: Entries[K], before: Entries[K] | undefined): void {
    const had = new Set(before && referencesOf(kind, before))
    const table = this.#state.table(kind)
    const named = referencesOf(kind, after).filter((id) => !had.has(id))
    const parent = table.parentOf(after)
    if (!before || table.parentOf(before) !== parent) named.push(parent)
    for (const id of named) {
      const joined = this.#joined.get(id) ?? new Map<string, Referrer>()
      joined.set(`${kind}/${after.id}`, { kind, id: after.id })
      this.#joined.set(id, joined)
    }
  }

  #claim<K extends EntryKind>(kind: K, entry: Entries[K]): void {
    const rules = rulesOf(kind)
    const key = rules.uniqueKey?.(entry)
    if (key === undefined) return
    this.#keys.set(`${kind}/${uniqueKey(this.#state.table(kind).parentOf(entry), key)}`, entry.id)
  }

  #sameKey<K extends EntryKind>(kind: K, entry: Entries[K]): Entries[K] | undefined {
    const key = rulesOf(kind).uniqueKey?.(entry)
    if (key === undefined) return undefined
    return this.named(kind, this.#state.table(kind).parentOf(entry), key)
  }

  /** One that is damaged may be the very one that would be made: there would be two of a name. */
  #requireNoneLost(kind: EntryKind): void {
    const lost = rulesOf(kind).uniqueKey && this.#state.lostOfKind(kind)
    if (lost) throw lostEntry(lost)
  }

  #requireParent<K extends EntryKind>(kind: K, entry: Entries[K]): void {
    const parentKind = rulesOf(kind).parentKind?.(entry)
    if (parentKind === undefined) return
    const parentId = this.#state.table(kind).parentOf(entry)
    if (!this.get(parentKind, parentId)) throw missingAccess('create', parentKind, parentId)
  }

  /** Every key of the schema, in its order, and the further ones. */
  #complete<K extends EntryKind>(kind: K, given: Given<K>): Entries[K] {
    const known = { id: randomUUID(), ...given, created: this.now, deleted_at: null }
    const values = new Map<string, unknown>(Object.entries(known))
    const further = Object.entries(furtherFields(kind, given))
    const whole = (more: ReadonlyMap<string, unknown>) =>
      Object.fromEntries([
        ...Object.keys(entrySchemas[kind].shape).map(
          (field) => [field, values.get(field) ?? more.get(field) ?? null] as const,
        ),
        ...further,
      ]) as Entries[K]
    const entry = whole(new Map())
    const defaults = rulesOf(kind).defaults?.(entry)
    return defaults ? whole(new Map(Object.entries(defaults))) : entry
  }
}

/** Parents are UUIDs, which hold no slash: it cannot be read in two ways. */
function uniqueKey(parentId: string, key: string): string {
  return `${parentId}/${key}`
}

function taken<K extends EntryKind>(kind: K, entry: Entries[K]): AssayError {
  const name = nameOf(entry)
  const which = name === undefined ? '' : ` named "${name.slice(0, 100)}"`
  return new AssayError('REQUEST_CONFLICT', `There is a ${kind}${which} already`, {
    path: 'name',
    hint: 'choose another name',
  })
}
