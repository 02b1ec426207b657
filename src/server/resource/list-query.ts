/** What all lists of resources take, and how their pages are cut. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { EntryScope, PagePosition } from '../../catalog/catalog.ts'
import type { Entries, EntryKind } from '../../catalog/entry.ts'
import { rulesOf } from '../../catalog/kind-rules.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { AssayError } from '../../error.ts'

const defaultLimit = 1000
const largestLimit = 10_000

export const pageQuery = z.object({
  limit: z.int().min(0).max(largestLimit).optional(),
  starting_after: identifier.optional(),
  ending_before: identifier.optional(),
  ids: z.array(identifier).optional(),
  id: z.array(identifier).optional(),
  org_name: z.string().optional(),
  org_id: z.string().optional(),
})

export type PageQuery = z.infer<typeof pageQuery>

export interface Selection<K extends EntryKind> {
  readonly scope: Pick<EntryScope, 'parentId'>
  /** Undefined for any. */
  readonly names: readonly string[] | undefined
  readonly matches: (entry: Entries[K]) => boolean
}

/** A page of what may be read, newest first. */
export function readPage<K extends EntryKind>(
  gate: Gate,
  kind: K,
  query: PageQuery,
  selection: Selection<K>,
): Entries[K][] {
  return cutPage(gate, query, {
    positionOf: (id) => gate.positionOf(kind, id),
    from: (position) => entriesOf(gate, kind, query, selection, position),
    matches: selection.matches,
  })
}

/** Something that pages are cut from. */
export interface Listing<Item> {
  /** Where a page begins that was left at this id; undefined when it is not in the list. */
  positionOf(id: string): number | undefined
  /** What lies beyond the position, nearest first. */
  from(position: PagePosition): Iterable<Item>
  matches(item: Item): boolean
}

export function cutPage<Item>(gate: Gate, query: PageQuery, listing: Listing<Item>): Item[] {
  if (!isOwnOrganization(gate, query)) return []
  const { limit = defaultLimit } = query
  const position = positionIn(query, listing)
  const page: Item[] = []
  if (limit === 0) return page
  for (const item of listing.from(position)) {
    if (listing.matches(item)) page.push(item)
    if (page.length === limit) break
  }
  return position.direction === 'newer' ? page.reverse() : page
}

/** A key is of one organization: asking for another finds nothing. */
export function isOwnOrganization(
  gate: Gate,
  { org_name, org_id }: Pick<PageQuery, 'org_name' | 'org_id'>,
): boolean {
  const { id, name } = gate.organization()
  return (org_name === undefined || org_name === name) && (org_id === undefined || org_id === id)
}

function positionIn<Item>(query: PageQuery, listing: Listing<Item>): PagePosition {
  const { starting_after, ending_before } = query
  if (starting_after !== undefined && ending_before !== undefined) {
    throw new AssayError('REQUEST_INVALID', 'starting_after and ending_before exclude each other', {
      path: 'ending_before',
    })
  }
  const id = starting_after ?? ending_before
  const direction = ending_before === undefined ? 'older' : 'newer'
  if (id === undefined) return { beyond: Number.MAX_SAFE_INTEGER, direction }
  const beyond = listing.positionOf(id)
  if (beyond !== undefined) return { beyond, direction }
  throw new AssayError('REQUEST_INVALID', `"${id}" is not in this list`, {
    path: ending_before === undefined ? 'starting_after' : 'ending_before',
    hint: 'give the id of an object of the page before',
  })
}

function entriesOf<K extends EntryKind>(
  gate: Gate,
  kind: K,
  { ids, id }: PageQuery,
  { scope, names }: Selection<K>,
  position: PagePosition,
): Iterable<Entries[K]> {
  const wanted = ids || id ? new Set([...(ids ?? []), ...(id ?? [])]) : undefined
  if (!wanted && names === undefined) return gate.list(kind, scope, position)
  if (!wanted && names?.length === 1)
    return gate.list(kind, { ...scope, name: names[0]! }, position)
  const found = wanted
    ? Array.from(wanted, (one) => gate.find(kind, one)).filter((entry) => entry !== undefined)
    : (names ?? []).flatMap((name) => [...gate.list(kind, { ...scope, name })])
  return found
    .filter((entry) => isNamed(entry, names) && isIn(kind, entry, scope.parentId))
    .map((entry) => ({ entry, at: gate.positionOf(kind, entry.id) ?? 0 }))
    .filter(({ at }) =>
      position.direction === 'older' ? at < position.beyond : at > position.beyond,
    )
    .sort((a, b) => (position.direction === 'older' ? b.at - a.at : a.at - b.at))
    .map(({ entry }) => entry)
}

function isNamed(entry: object, names: readonly string[] | undefined): boolean {
  return names === undefined || ('name' in entry && names.includes(String(entry.name)))
}

function isIn<K extends EntryKind>(kind: K, entry: Entries[K], parentId: string | undefined) {
  return parentId === undefined || rulesOf(kind).parent?.(entry) === parentId
}
