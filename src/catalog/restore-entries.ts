/**
 * Makes damaged entries again from the trail of changes, which has all fields of an entry but those that are never
 * shown. What the trail does not have, the place of an entry among the others and the number of its records, follows
 * from the entries that were made just before and after it.
 */
import { randomBytes } from 'node:crypto'
import type { AssayError } from '../error.ts'
import { damageAt, damageError } from '../storage/record-damage.ts'
import { writeExactJson } from '../type/exact-json.ts'
import type { AuditRecord } from './audit-trail.ts'
import type { Entry, EntryKind } from './entry.ts'
import type { EntryKey, EntryStore, StoredEntry } from './entry-store.ts'
import { nameOf, rulesOf } from './kind-rules.ts'
import { projectObjectNumbers } from './object-index.ts'

export interface DamagedEntry extends EntryKey {
  /** As the subject of a sentence. */
  readonly what: string
  /**
   * `restored`: it is there as it was, but for a secret that it may have had. `closed`: somebody was let in by it, and is
   * not any more. `lost`: nothing tells what it was.
   */
  readonly state: 'restored' | 'closed' | 'lost'
  /** Of one that is restored, or is in the way of another one as long as it is closed. */
  readonly stored?: StoredEntry<EntryKind>
}

/** Told to whoever asks for what is lost, or is in it, or might be it. */
export function lostEntry({ kind, id }: DamagedEntry): AssayError {
  return damageError(damageAt('catalog', Buffer.from(`${kind}/${id}`)))
}

const consequences = {
  restored: 'it is made again from the trail of changes',
  closed: 'nobody gets in with it',
  lost: 'it is left out with all that belongs to it',
} as const

/** What is told of it at a start. */
export function startSentence({ what, state }: DamagedEntry): string {
  return (
    `${what} is damaged in the catalog: ${consequences[state]}; ` +
    'to mend the catalog, stop the service and run "assay check --repair"'
  )
}

/** What stands in the place of fields that the trail does not have; undefined where an entry is nothing without them. */
type Hidden = (record: AuditRecord) => { readonly [field: string]: unknown }

const withoutSecret: Hidden = () => ({ sealed: null, preview_secret: null })

const hiddenFields: { readonly [kind in EntryKind]?: Hidden } = {
  view: ({ org_id }) => ({ org_id }),
  env_var: (record) => ({ org_id: record.org_id, ...withoutSecret(record) }),
  ai_secret: withoutSecret,
  // No password makes that hash, so that none can be set without it either.
  password: () => ({
    salt: randomBytes(16).toString('base64'),
    hash: Buffer.alloc(32).toString('base64'),
  }),
}

/** Kinds that let somebody in by what is never shown. */
const keyKinds: ReadonlySet<EntryKind> = new Set<EntryKind>([
  'api_key',
  'service_token',
  'session',
  'password',
])

interface Traced extends EntryKey {
  readonly entry: Entry
  /** Of the record that tells of its making. */
  readonly made: string
}

/** In the order of `damaged`. */
export function restoreEntries(store: EntryStore, damaged: readonly EntryKey[]): DamagedEntry[] {
  const traced = new Map<string, Traced>()
  for (const key of damaged) {
    const found = trace(key, store.trailOf(key.id))
    if (found) traced.set(key.id, found)
  }
  const places = new Places(store, damaged, [...traced.values()])
  return damaged.map((key): DamagedEntry => {
    const found = traced.get(key.id)
    const what = textOf(key, found?.entry)
    const stored = found && places.stored(found)
    const isUnique = rulesOf(key.kind).uniqueKey !== undefined
    if (keyKinds.has(key.kind) && (stored || !isUnique)) {
      return { ...key, what, state: 'closed', ...(stored && isUnique && { stored }) }
    }
    return stored ? { ...key, what, state: 'restored', stored } : { ...key, what, state: 'lost' }
  })
}

/** The entry as its trail tells, if that is whole. */
function trace({ kind, id }: EntryKey, trail: readonly AuditRecord[] | undefined) {
  const first = trail?.[0]
  if (!trail || !first) return undefined
  let entry: { readonly [field: string]: unknown } | undefined
  for (const { action, before, after } of trail) {
    if (action === 'create') entry = after ?? undefined
    else if (!entry || action === 'delete' || !isPart(before, entry)) return undefined
    else entry = { ...entry, ...after }
  }
  const hidden = hiddenFields[kind]?.(first)
  if (entry?.id !== id || (!hidden && rulesOf(kind).hidden && !keyKinds.has(kind))) return undefined
  return { kind, id, entry: { ...entry, ...hidden } as unknown as Entry, made: first.id }
}

function isPart(part: AuditRecord['before'], of: { readonly [field: string]: unknown }): boolean {
  return Object.entries(part ?? {}).every(
    ([field, value]) => writeExactJson(value) === writeExactJson(of[field] ?? null),
  )
}

function textOf({ kind, id }: EntryKey, entry: Entry | undefined): string {
  const name = entry && nameOf(entry)
  const named = name === undefined ? '' : ` ${JSON.stringify(name.slice(0, 100))}`
  return `the ${kind.replaceAll('_', ' ')}${named} with id ${id}`
}

interface Placed {
  readonly sequence: number
  readonly number: number | undefined
  readonly made: string | undefined
}

function byMaking(a: Traced, b: Traced): number {
  return a.made < b.made ? -1 : 1
}

/** Where entries stand that are made again. */
class Places {
  readonly #store: EntryStore
  /** By the record that tells of their making. */
  readonly #sequences = new Map<string, number>()
  readonly #numbers = new Map<string, number>()
  /** Entries that have a trail. */
  readonly #known: readonly Placed[]

  constructor(store: EntryStore, damaged: readonly EntryKey[], traced: readonly Traced[]) {
    this.#store = store
    const known: Placed[] = []
    const sequences = new Set<number>()
    const numbers = new Set(store.purges())
    if (traced.length > 0) {
      for (const { stored, id } of store.all()) {
        const { sequence, number } = stored
        sequences.add(sequence)
        if (number !== undefined) numbers.add(number)
        known.push({ sequence, number, made: store.firstAuditOf(id) })
      }
    }
    this.#known = known.filter(({ made }) => made !== undefined)
    this.#giveSequences(traced, sequences)
    const numbered = damaged.filter(({ kind }) => rulesOf(kind).records !== undefined)
    const isAllTraced =
      store.damagedRemovals() === 0 &&
      numbered.every((key) => traced.some(({ id }) => id === key.id))
    this.#giveNumbers(
      traced.filter(({ kind }) => rulesOf(kind).records !== undefined),
      numbers,
      isAllTraced,
    )
  }

  /** Undefined where it has records and nothing tells which. */
  stored({ kind, id, entry, made }: Traced): StoredEntry<EntryKind> | undefined {
    const number = this.#numbers.get(id)
    if (rulesOf(kind).records !== undefined && number === undefined) return undefined
    const sequence = this.#sequences.get(made) ?? 0
    return { sequence, ...(number !== undefined && { number }), entry }
  }

  #giveSequences(traced: readonly Traced[], taken: ReadonlySet<number>): void {
    const given = new Set<number>()
    for (const { made } of traced.toSorted(byMaking)) {
      const before = this.#last(made, () => true)?.sequence ?? 0
      let sequence = before + 1
      while (given.has(sequence)) sequence++
      // No place is left where something was changed together.
      if (taken.has(sequence)) sequence = before + 0.5
      given.add(sequence)
      this.#sequences.set(made, sequence)
    }
  }

  /**
   * Numbers were given in the order of making, and all others are known. What nothing was ever written to may have any
   * that is left; otherwise there must be no choice.
   */
  #giveNumbers(traced: readonly Traced[], taken: ReadonlySet<number>, isAllTraced: boolean): void {
    const ordered = traced.toSorted(byMaking)
    const groups = new Map<number, Traced[]>()
    for (const each of ordered) {
      const low = this.#last(each.made, ({ number }) => number !== undefined)?.number ?? 0
      groups.set(low, [...(groups.get(low) ?? []), each])
    }
    for (const [low, group] of groups) {
      const above = this.#known.flatMap(({ number = 0 }) => (number > low ? [number] : []))
      const high = above.reduce((a, b) => Math.min(a, b), this.#store.lastNumber() + 1)
      const free: number[] = []
      for (let n = low + 1; n < high && free.length < mostChoices; n++) {
        if (!taken.has(n)) free.push(n)
      }
      const filled = free.filter((n) =>
        projectObjectNumbers(n).some((one) => this.#store.hasRows(one)),
      )
      const chosen = [free, ...(isAllTraced ? [filled] : [])].find(
        ({ length }) => length === group.length,
      )
      const any = isAllTraced && filled.length === 0 ? free : undefined
      const given = chosen ?? any ?? []
      group.forEach(({ id }, i) => {
        if (given[i] !== undefined) this.#numbers.set(id, given[i])
      })
    }
  }

  /** The last that was made before. */
  #last(made: string, passes: (placed: Placed) => boolean): Placed | undefined {
    let last: Placed | undefined
    for (const placed of this.#known) {
      const isBefore = placed.made !== undefined && placed.made < made && passes(placed)
      if (isBefore && (!last || placed.sequence > last.sequence)) last = placed
    }
    return last
  }
}

/** Of numbers that one of several might have had. */
const mostChoices = 10_000
