import { assert } from '../error.ts'
import type { Entries, EntryKind } from './entry.ts'
import type { StoredEntry } from './entry-store.ts'
import { type KindRules, nameOf, rulesOf, uniqueKey } from './kind-rules.ts'
import { OrderedEntries } from './ordered-entries.ts'

/** What a list of entries is narrowed to; at most one of the ids, and the name within it. */
export interface EntryScope {
  readonly parentId?: string
  readonly organizationId?: string
  readonly name?: string
}

/** Where a page of a list begins: beyond this entry, on its older or newer side. */
export interface PagePosition {
  readonly beyond: number
  readonly direction: 'older' | 'newer'
}

/** Parents whose entries are listed, and single entries. */
export interface Among {
  readonly parentIds: readonly string[]
  readonly ids: readonly string[]
}

const newestFirst: PagePosition = { beyond: Number.MAX_SAFE_INTEGER, direction: 'older' }

/** The entries of one kind in memory, by everything that they are looked up by. */
export class KindTable<K extends EntryKind> {
  readonly kind: K
  readonly #rules: KindRules<K>
  readonly #organizationOf: (entry: Entries[K]) => string | null
  readonly #byId = new Map<string, StoredEntry<K>>()
  readonly #all = new OrderedEntries<K>()
  readonly #byParent = new Map<string, OrderedEntries<K>>()
  readonly #byOrganization = new Map<string, OrderedEntries<K>>()
  readonly #byKey = new Map<string, StoredEntry<K>>()
  /** By parent and name, and by organization and name. */
  readonly #byName = new Map<string, OrderedEntries<K>>()

  constructor(kind: K, organizationOf: (entry: Entries[K]) => string | null) {
    this.kind = kind
    this.#rules = rulesOf(kind)
    this.#organizationOf = organizationOf
  }

  get(id: string): StoredEntry<K> | undefined {
    return this.#byId.get(id)
  }

  /** The one entry of a parent that has this unique key. */
  keyed(parentId: string, key: string): StoredEntry<K> | undefined {
    return this.#byKey.get(uniqueKey(parentId, key))
  }

  /** One page after the other is read from its position; each entry costs the same. */
  *list(scope: EntryScope, position: PagePosition = newestFirst): Generator<Entries[K]> {
    for (const { entry } of this.#storedIn(scope, position)) yield entry
  }

  /** All that is in one of the parents, or is one of the entries, in the order of lists. */
  *listAmong(
    { parentIds, ids }: Among,
    { parentId, name }: Omit<EntryScope, 'organizationId'>,
    position: PagePosition = newestFirst,
  ): Generator<Entries[K]> {
    const narrowed = name === undefined ? {} : { name }
    const lists = [...new Set(parentIds)]
      .filter((id) => parentId === undefined || id === parentId)
      .map((id) => this.#storedIn({ parentId: id, ...narrowed }, position))
    const isOlder = position.direction === 'older'
    const single = [...new Set(ids)]
      .map((id) => this.get(id))
      .filter((stored) => stored !== undefined)
      .filter(
        ({ entry, sequence }) =>
          (isOlder ? sequence < position.beyond : sequence > position.beyond) &&
          (parentId === undefined || this.parentOf(entry) === parentId) &&
          (name === undefined || nameOf(entry) === name),
      )
      .sort((a, b) => (isOlder ? b.sequence - a.sequence : a.sequence - b.sequence))
    for (const { entry } of inOrder([...lists, single], isOlder)) yield entry
  }

  /** What is removed with a parent. */
  childrenOf(parentId: string): StoredEntry<K>[] {
    return [...(this.#byParent.get(parentId)?.olderThan(Number.MAX_SAFE_INTEGER) ?? [])]
  }

  add(stored: StoredEntry<K>): void {
    const { entry } = stored
    this.#byId.set(entry.id, stored)
    this.#all.add(stored)
    const parent = this.parentOf(entry)
    const organization = this.#organizationOf(entry)
    addTo(this.#byParent, parent, stored)
    if (organization !== null) addTo(this.#byOrganization, organization, stored)
    this.#index(stored)
  }

  /** The stored entry stays the same in all lists; only its contents change. */
  replace(id: string, entry: Entries[K]): void {
    const stored = this.#byId.get(id)
    assert(stored, `an update of an unknown ${this.kind}`)
    this.#unindex(stored)
    stored.entry = entry
    this.#index(stored)
  }

  remove(id: string): void {
    const stored = this.#byId.get(id)
    if (!stored) return
    const { entry } = stored
    this.#unindex(stored)
    this.#byId.delete(id)
    stored.isGone = true
    this.#all.noteGone()
    noteGone(this.#byParent, this.parentOf(entry))
    const organization = this.#organizationOf(entry)
    if (organization !== null) noteGone(this.#byOrganization, organization)
  }

  parentOf(entry: Entries[K]): string {
    return this.#rules.parent?.(entry) ?? ''
  }

  #storedIn(scope: EntryScope, { beyond, direction }: PagePosition): Iterable<StoredEntry<K>> {
    const entries = this.#entriesIn(scope)
    if (!entries) return []
    return direction === 'older' ? entries.olderThan(beyond) : entries.newerThan(beyond)
  }

  #entriesIn({ parentId, organizationId, name }: EntryScope): OrderedEntries<K> | undefined {
    const owner = parentId ?? organizationId
    if (owner === undefined) return this.#all
    if (name !== undefined) return this.#byName.get(uniqueKey(owner, name))
    return parentId === undefined ? this.#byOrganization.get(owner) : this.#byParent.get(parentId)
  }

  #index(stored: StoredEntry<K>): void {
    const { entry } = stored
    const key = this.#rules.uniqueKey?.(entry)
    if (key !== undefined) this.#byKey.set(uniqueKey(this.parentOf(entry), key), stored)
    for (const key of this.#nameKeys(entry)) addTo(this.#byName, key, stored)
  }

  #unindex(stored: StoredEntry<K>): void {
    const { entry } = stored
    const key = this.#rules.uniqueKey?.(entry)
    if (key !== undefined) this.#byKey.delete(uniqueKey(this.parentOf(entry), key))
    for (const key of this.#nameKeys(entry)) takeFrom(this.#byName, key, stored)
  }

  #nameKeys(entry: Entries[K]): Set<string> {
    const name = nameOf(entry)
    if (name === undefined) return new Set()
    const owners = [this.parentOf(entry), this.#organizationOf(entry) ?? '']
    return new Set(owners.map((owner) => uniqueKey(owner, name)))
  }
}

function addTo<K extends EntryKind>(
  lists: Map<string, OrderedEntries<K>>,
  key: string,
  stored: StoredEntry<K>,
): void {
  const list = lists.get(key)
  if (list) {
    list.add(stored)
    return
  }
  const made = new OrderedEntries<K>()
  made.add(stored)
  lists.set(key, made)
}

function takeFrom<K extends EntryKind>(
  lists: Map<string, OrderedEntries<K>>,
  key: string,
  stored: StoredEntry<K>,
): void {
  const list = lists.get(key)
  list?.take(stored)
  if (list?.size === 0) lists.delete(key)
}

function noteGone<K extends EntryKind>(lists: Map<string, OrderedEntries<K>>, key: string): void {
  const list = lists.get(key)
  list?.noteGone()
  if (list?.size === 0) lists.delete(key)
}

/** Lists that each are in an order, as one in that order; what is in several comes once. */
function* inOrder<K extends EntryKind>(
  lists: readonly Iterable<StoredEntry<K>>[],
  isOlderLater: boolean,
): Generator<StoredEntry<K>> {
  const heads = lists.flatMap((list) => {
    const rest = list[Symbol.iterator]()
    const first = rest.next()
    return first.done ? [] : [{ rest, stored: first.value }]
  })
  let last: StoredEntry<K> | undefined
  while (heads.length > 0) {
    let at = 0
    heads.forEach(({ stored }, index) => {
      const isNewer = stored.sequence > heads[at]!.stored.sequence
      if (isNewer === isOlderLater && stored !== heads[at]!.stored) at = index
    })
    const head = heads[at]!
    if (head.stored !== last) yield head.stored
    last = head.stored
    const next = head.rest.next()
    if (next.done) heads.splice(at, 1)
    else head.stored = next.value
  }
}
