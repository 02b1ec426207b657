/** What one catalog tells another that follows it: each commit as it happens, or all that there is. */
import type { CatalogState } from './catalog-state.ts'
import type { Counters, Step } from './change.ts'
import { type EntryKind, entryKinds } from './entry.ts'
import type { StoredEntry, Writes } from './entry-store.ts'
import { projectObjectNumbers } from './object-index.ts'

/** What has become of an entry; of one that was removed, null. */
export type FollowedEntry = readonly [
  kind: EntryKind,
  id: string,
  stored: StoredEntry<EntryKind> | null,
]

export interface FollowedChange extends Counters {
  /** How far the catalog is with it: the number of its last record in the trail. */
  readonly position: number
  /** What is in something comes after it. */
  readonly entries: readonly FollowedEntry[]
}

export function followedEntries(steps: readonly Step[]): FollowedEntry[] {
  return steps.map(({ kind, stored, after }) => [
    kind,
    stored.entry.id,
    after ? { ...stored, entry: after } : null,
  ])
}

/** All that there is, which stays as it is while the catalog changes. */
export function wholeCatalog(state: CatalogState): FollowedEntry[] {
  return entryKinds.flatMap((kind) =>
    Array.from(state.table(kind).all(), (stored): FollowedEntry => {
      return [kind, stored.entry.id, { ...stored }]
    }),
  )
}

/** The steps that bring a catalog to what is told of entries. */
export function stepsOf(state: CatalogState, entries: readonly FollowedEntry[]): Step[] {
  return entries.flatMap(([kind, id, stored]): Step[] => {
    const known = state.table(kind).get(id)
    if (stored) return [step(kind, stored, known?.entry, stored.entry)]
    return known ? [step(kind, known, known.entry, undefined)] : []
  })
}

/** The same, where nothing is there but the entries. */
export function stepsOfWhole(state: CatalogState, entries: readonly FollowedEntry[]): Step[] {
  const kept = new Set(entries.map(([kind, id]) => `${kind}/${id}`))
  const gone = wholeCatalog(state).flatMap(([kind, id]): FollowedEntry[] => {
    return kept.has(`${kind}/${id}`) ? [] : [[kind, id, null]]
  })
  return stepsOf(state, [...gone, ...entries])
}

/** What is written of the steps: records of objects that are gone are removed here, too. */
export function writesOf(
  steps: readonly Step[],
  now: string,
): Pick<Writes, 'puts' | 'removals' | 'purges'> {
  const gone = steps.filter(({ before, after }) => before && !after)
  return {
    puts: steps.flatMap(({ kind, stored, after }) =>
      after ? [[kind, after.id, { ...stored, entry: after }] as const] : [],
    ),
    removals: gone.map(({ kind, stored }) => {
      return [kind, stored.entry.id, { ...stored, deleted: now }] as const
    }),
    purges: gone.flatMap(({ kind, stored: { number } }) => {
      if (number === undefined) return []
      return kind === 'project' ? projectObjectNumbers(number) : [number]
    }),
  }
}

function step(
  kind: EntryKind,
  stored: StoredEntry<EntryKind>,
  before: Step['before'],
  after: Step['after'],
): Step {
  return { kind, stored, before, after, isImplied: false }
}
