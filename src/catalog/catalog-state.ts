import { assert } from '../error.ts'
import { type Entries, type EntryKind, entryKinds } from './entry.ts'
import type { StoredEntry } from './entry-store.ts'
import { nameOf, organizationOf, referencesOf, rulesOf } from './kind-rules.ts'
import { KindTable } from './kind-table.ts'
import { ObjectIndex } from './object-index.ts'
import type { DamagedEntry } from './restore-entries.ts'

type Tables = { readonly [K in EntryKind]: KindTable<K> }

/** An entry that names another one. */
export interface Referrer {
  readonly kind: EntryKind
  readonly id: string
}

/** All of the catalog in memory, with what is derived from it. Knows nothing of disks and rights. */
export class CatalogState {
  readonly objects = new ObjectIndex()
  readonly #tables: Tables
  /** By the id of the named entry; then by kind and id of those that name it. */
  readonly #referrers = new Map<string, Map<string, Referrer>>()

  /** What is damaged and cannot be made again, by its id, with all that is in it. */
  readonly #lost = new Map<string, DamagedEntry>()

  constructor() {
    this.#tables = Object.fromEntries(
      entryKinds.map((kind) => [
        kind,
        new KindTable(kind, (entry) => this.organizationOf(kind, entry)),
      ]),
    ) as unknown as Tables
  }

  table<K extends EntryKind>(kind: K): KindTable<K> {
    return this.#tables[kind]
  }

  /** Null for what belongs to none. */
  organizationOf<K extends EntryKind>(kind: K, entry: Entries[K]): string | null {
    return organizationOf(kind, entry, (parentKind, id) => this.table(parentKind).get(id)?.entry)
  }

  /** Whether what the entry belongs to is there. */
  hasParent<K extends EntryKind>(kind: K, entry: Entries[K]): boolean {
    const parentKind = rulesOf(kind).parentKind?.(entry)
    if (parentKind === undefined) return true
    return this.table(parentKind).get(this.table(kind).parentOf(entry)) !== undefined
  }

  /** Nobody knows what it was, nor that of what belongs to it. */
  addLost(id: string, damaged: DamagedEntry): void {
    this.#lost.set(id, damaged)
  }

  lost(id: string): DamagedEntry | undefined {
    return this.#lost.get(id)
  }

  /** One of the kind of which nothing is known: it may have any name. */
  lostOfKind(kind: EntryKind): DamagedEntry | undefined {
    for (const [id, damaged] of this.#lost) {
      if (damaged.kind === kind && damaged.id === id) return damaged
    }
    return undefined
  }

  referrersOf(id: string): Iterable<Referrer> {
    return this.#referrers.get(id)?.values() ?? []
  }

  add<K extends EntryKind>(kind: K, stored: StoredEntry<K>): void {
    this.table(kind).add(stored)
    this.#refer(kind, stored.entry)
    this.#addObject(kind, stored)
  }

  replace<K extends EntryKind>(kind: K, id: string, entry: Entries[K]): void {
    const stored = this.table(kind).get(id)
    assert(stored, `an update of an unknown ${kind}`)
    const before = stored.entry
    this.#unrefer(kind, before)
    this.table(kind).replace(id, entry)
    this.#refer(kind, entry)
    if (nameOf(before) !== nameOf(entry)) this.#addObject(kind, stored)
  }

  remove<K extends EntryKind>(kind: K, id: string): void {
    const stored = this.table(kind).get(id)
    if (!stored) return
    this.#unrefer(kind, stored.entry)
    const { records } = rulesOf(kind)
    if (kind === 'project') this.objects.removeProject(id)
    else if (records !== undefined) this.objects.remove(records, id)
    this.table(kind).remove(id)
  }

  #addObject<K extends EntryKind>(kind: K, { number, entry }: StoredEntry<K>): void {
    const { records } = rulesOf(kind)
    const organizationId = records && this.organizationOf(kind, entry)
    if (!records || !organizationId) return
    assert(number !== undefined, `a ${kind} without a number`)
    const { id } = entry
    const name = nameOf(entry) ?? ''
    if (kind === 'project') {
      this.objects.setProject(number, { id, name, organizationId, projectId: id })
    } else {
      const projectId = this.table(kind).parentOf(entry)
      this.objects.set({ id, name, organizationId, number, type: records, projectId })
    }
  }

  #refer<K extends EntryKind>(kind: K, entry: Entries[K]): void {
    for (const id of referencesOf(kind, entry)) {
      const key = `${kind}/${entry.id}`
      const referrer = { kind, id: entry.id }
      const referrers = this.#referrers.get(id)
      if (referrers) referrers.set(key, referrer)
      else this.#referrers.set(id, new Map([[key, referrer]]))
    }
  }

  #unrefer<K extends EntryKind>(kind: K, entry: Entries[K]): void {
    for (const id of referencesOf(kind, entry)) {
      const referrers = this.#referrers.get(id)
      referrers?.delete(`${kind}/${entry.id}`)
      if (referrers?.size === 0) this.#referrers.delete(id)
    }
  }
}
