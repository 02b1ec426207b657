import { assert } from '../error.ts'
import type { Entries, EntryKind } from './entry.ts'
import type { StoredEntry } from './entry-store.ts'
import { isNamedUniquely, type KindRules, nameOf, rulesOf } from './kind-rules.ts'
import { NameIndex } from './name-index.ts'
import { OrderedEntries, type PagePosition } from './ordered-entries.ts'

/** What a list of entries is narrowed to; at most one of the ids, and the name within it. */
export interface EntryScope {
  readonly parentId?: string
  readonly organizationId?: string
  readonly name?: string
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
  /** By parent, then by unique key. */
  readonly #byKey = new Map<string, Map<string, StoredEntry<K>>>()
  /** By organization and name, and by parent and name where the name is not the unique key. */
  readonly #byName = new NameIndex<K>()

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
    return this.#byKey.get(parentId)?.get(key)
  }

  /** As they are stored, in the order of making. */
  all(): Iterable<StoredEntry<K>> {
    return this.#all.from({ beyond: -1, direction: 'newer' })
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

  #storedIn(
    { parentId, organizationId, name }: EntryScope,
    position: PagePosition,
  ): Iterable<StoredEntry<K>> {
    const owner = parentId ?? organizationId
    if (owner === undefined) return this.#all.from(position)
    if (name === undefined) {
      const lists = parentId === undefined ? this.#byOrganization : this.#byParent
      return lists.get(owner)?.from(position) ?? []
    }
    if (parentId === undefined || !isNamedUniquely(this.kind)) {
      return this.#byName.from(owner, name, position)
    }
    const stored = this.keyed(parentId, name)
    return stored ? OrderedEntries.of(stored).from(position) : []
  }

  #index(stored: StoredEntry<K>): void {
    const { entry } = stored
    const key = this.#rules.uniqueKey?.(entry)
    if (key !== undefined) {
      const parent = this.parentOf(entry)
      const keys = this.#byKey.get(parent)
      if (keys) keys.set(key, stored)
      else this.#byKey.set(parent, new Map([[key, stored]]))
    }
    const name = nameOf(entry)
    if (name === undefined) return
    for (const owner of this.#ownersOf(entry)) this.#byName.add(owner, name, stored)
  }

  #unindex(stored: StoredEntry<K>): void {
    const { entry } = stored
    const key = this.#rules.uniqueKey?.(entry)
    if (key !== undefined) {
      const parent = this.parentOf(entry)
      const keys = this.#byKey.get(parent)
      if (keys?.delete(key) && keys.size === 0) this.#byKey.delete(parent)
    }
    const name = nameOf(entry)
    if (name === undefined) return
    for (const owner of this.#ownersOf(entry)) this.#byName.take(owner, name, stored)
  }

  /** Of what the entry can be found by its name. */
  #ownersOf(entry: Entries[K]): Iterable<string> {
    const organization = this.#organizationOf(entry) ?? ''
    return isNamedUniquely(this.kind)
      ? [organization]
      : new Set([this.parentOf(entry), organization])
  }
}

function addTo<K extends EntryKind>(
  lists: Map<string, OrderedEntries<K>>,
  key: string,
  stored: StoredEntry<K>,
): void {
  const list = lists.get(key)
  if (list) list.add(stored)
  else lists.set(key, OrderedEntries.of(stored))
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
