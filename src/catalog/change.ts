import { randomUUID } from 'node:crypto'
import { AssayError, assert } from '../error.ts'
import type { CatalogState } from './catalog-state.ts'
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
import { nameOf, rulesOf } from './kind-rules.ts'
import { missingAccess } from './missing-access.ts'
import { endOfNumbers, projectObjectNumbers } from './object-index.ts'

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

  /** Removes the entry and all that belongs to it; returns it with the time of its removal. */
  remove<K extends EntryKind>(kind: K, id: string): Entries[K] {
    const entry = this.get(kind, id)
    if (!entry) throw missingAccess('delete', kind, id)
    this.#remove(kind, id, false)
    return 'deleted_at' in entry ? { ...entry, deleted_at: this.now } : entry
  }

  /** Removes what belongs to something that is no entry of the catalog: a prompt. */
  removeWithin(parentId: string): void {
    this.#isPlain = false
    for (const kind of entryKinds) {
      for (const { entry } of this.#state.table(kind).childrenOf(parentId)) {
        this.#remove(kind, entry.id, false)
      }
    }
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

  #remove<K extends EntryKind>(kind: K, id: string, isImplied: boolean): void {
    this.#isPlain = false
    const key = `${kind}/${id}`
    const step = this.#steps.get(key)
    if (step) {
      if (!step.after) return
      this.#stage({ ...step, after: undefined })
    } else {
      const stored = this.#stored(kind, id)
      if (!stored) return
      this.#stage({ kind, stored, before: this.get(kind, id), after: undefined, isImplied })
    }
    for (const childKind of entryKinds) {
      for (const { entry } of this.#state.table(childKind).childrenOf(id)) {
        const parentKind = rulesOf(childKind).parentKind?.(entry)
        if (parentKind === kind) this.#remove(childKind, entry.id, true)
      }
    }
    for (const referrer of this.#state.referrersOf(id)) this.#dropReference(referrer, id)
  }

  #dropReference({ kind, id }: { kind: EntryKind; id: string }, removed: string): void {
    const entry = this.get(kind, id)
    if (!entry) return
    for (const { field, onRemove } of rulesOf(kind).references ?? []) {
      const value: unknown = entry[field as keyof typeof entry]
      if (value === removed && onRemove === 'remove') this.#remove(kind, id, false)
      else if (Array.isArray(value) && value.includes(removed)) {
        this.update(kind, id, { [field]: value.filter((one) => one !== removed) })
      }
    }
  }

  #stage<K extends EntryKind>(step: Step<K>): void {
    const { kind, stored, after } = step
    if (accessKinds.has(kind)) this.#isPlain = false
    this.#steps.set(`${kind}/${stored.entry.id}`, step as unknown as Step)
    if (after) this.#claim(kind, after)
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
