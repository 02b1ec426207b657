/** Which objects have been removed, told from the stored catalog alone. */
import { parseExactJson } from '../type/exact-json.ts'
import { type EntryKind, entryKinds } from './entry.ts'
import type { StoredEntry } from './entry-store.ts'
import { rulesOf } from './kind-rules.ts'
import { projectObjectNumbers } from './object-index.ts'

interface Place {
  readonly parent: string | undefined
  readonly number: number | undefined
  readonly isProject: boolean
  readonly isRemoved: boolean
}

const kinds: ReadonlySet<EntryKind> = new Set(
  entryKinds.filter((kind) => rulesOf(kind).records || kind === 'organization'),
)

/** Is given the stored entries one by one, in any order. */
export class RemovedObjects {
  readonly #places = new Map<string, Place>()

  note(key: string, value: Buffer): void {
    const parts = key.split('/')
    const isRemoved = parts[0] === 'deleted'
    const kind = parts[isRemoved ? 1 : 0] as EntryKind
    if (!kinds.has(kind) || parts.length !== (isRemoved ? 3 : 2)) return
    const { number, entry } = parseExactJson(value.toString()) as StoredEntry<EntryKind>
    const parent = rulesOf(kind).parent?.(entry as never)
    this.#places.set(entry.id, { parent, number, isProject: kind === 'project', isRemoved })
  }

  /** Numbers of the objects that are removed, or lie in what is. */
  numbers(): Set<number> {
    const numbers = new Set<number>()
    for (const place of this.#places.values()) {
      if (place.number === undefined || !this.#isRemoved(place)) continue
      const own = place.isProject ? projectObjectNumbers(place.number) : [place.number]
      for (const number of own) numbers.add(number)
    }
    return numbers
  }

  #isRemoved({ parent, isRemoved }: Place): boolean {
    if (isRemoved) return true
    const above = parent === undefined ? undefined : this.#places.get(parent)
    return above !== undefined && this.#isRemoved(above)
  }
}
