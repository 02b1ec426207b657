import type { EntryKind } from './entry.ts'
import type { StoredEntry } from './entry-store.ts'
import { OrderedEntries, type PagePosition } from './ordered-entries.ts'

/** Entries by what they are in and their name. Most names have one entry, which needs no list of its own. */
export class NameIndex<K extends EntryKind> {
  readonly #byOwner = new Map<string, Map<string, StoredEntry<K> | OrderedEntries<K>>>()

  add(owner: string, name: string, stored: StoredEntry<K>): void {
    const names = this.#byOwner.get(owner) ?? new Map()
    if (names.size === 0) this.#byOwner.set(owner, names)
    const known = names.get(name)
    if (known instanceof OrderedEntries) known.add(stored)
    else if (known === undefined) names.set(name, stored)
    else names.set(name, OrderedEntries.of(known, stored))
  }

  take(owner: string, name: string, stored: StoredEntry<K>): void {
    const names = this.#byOwner.get(owner)
    const known = names?.get(name)
    if (known instanceof OrderedEntries) known.take(stored)
    if (known === stored || (known instanceof OrderedEntries && known.size === 0)) {
      names?.delete(name)
    }
    if (names?.size === 0) this.#byOwner.delete(owner)
  }

  /** In the order of lists, from the position on. */
  from(owner: string, name: string, position: PagePosition): Iterable<StoredEntry<K>> {
    const known = this.#byOwner.get(owner)?.get(name)
    if (known === undefined) return []
    return (known instanceof OrderedEntries ? known : OrderedEntries.of(known)).from(position)
  }
}
