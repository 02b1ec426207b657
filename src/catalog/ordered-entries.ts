import type { EntryKind } from './entry.ts'
import type { StoredEntry } from './entry-store.ts'

/** Where a page of a list begins: beyond this entry, on its older or newer side. */
export interface PagePosition {
  readonly beyond: number
  readonly direction: 'older' | 'newer'
}

/**
 * Entries in the order in which they were made. Removed ones leave holes, which are closed when they
 * are half of the list, so that nothing takes time in proportion to the list but listing it. What
 * is read must be read before the list changes.
 */
export class OrderedEntries<K extends EntryKind> {
  #entries: StoredEntry<K>[] = []
  #holes = 0

  static of<K extends EntryKind>(...entries: readonly StoredEntry<K>[]): OrderedEntries<K> {
    const made = new OrderedEntries<K>()
    for (const entry of entries) made.add(entry)
    return made
  }

  get size(): number {
    return this.#entries.length - this.#holes
  }

  add(entry: StoredEntry<K>): void {
    const at = this.#firstFrom(entry.sequence)
    if (at === this.#entries.length) this.#entries.push(entry)
    else this.#entries.splice(at, 0, entry)
  }

  /** Of an entry that is gone everywhere. */
  noteGone(): void {
    this.#holes++
    if (this.#holes * 2 <= this.#entries.length) return
    this.#entries = this.#entries.filter(({ isGone }) => !isGone)
    this.#holes = 0
  }

  /** Of an entry that lives on in other lists. */
  take(entry: StoredEntry<K>): void {
    const at = this.#firstFrom(entry.sequence)
    if (this.#entries[at] === entry) this.#entries.splice(at, 1)
  }

  /** What lies beyond the position, nearest first. */
  from({ beyond, direction }: PagePosition): Iterable<StoredEntry<K>> {
    return direction === 'older' ? this.olderThan(beyond) : this.newerThan(beyond)
  }

  /** Newest first, of those made before `sequence`. */
  *olderThan(sequence: number): Generator<StoredEntry<K>> {
    for (let i = this.#firstFrom(sequence) - 1; i >= 0; i--) {
      const entry = this.#entries[i]!
      if (!entry.isGone) yield entry
    }
  }

  /** Oldest first, of those made after `sequence`. */
  *newerThan(sequence: number): Generator<StoredEntry<K>> {
    for (let i = this.#firstFrom(sequence + 1); i < this.#entries.length; i++) {
      const entry = this.#entries[i]!
      if (!entry.isGone) yield entry
    }
  }

  /** The place of the first entry that was not made before `sequence`. */
  #firstFrom(sequence: number): number {
    let low = 0
    let high = this.#entries.length
    const newest = this.#entries[high - 1]
    if (!newest || newest.sequence < sequence) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#entries[middle]!.sequence < sequence) low = middle + 1
      else high = middle
    }
    return low
  }
}
