import type { Catalog, CatalogChange } from '../catalog/catalog.ts'
import type { Entries, EntryKind } from '../catalog/entry.ts'
import { AccessGraph } from './access-graph.ts'
import { builtInRoles } from './built-in-roles.ts'
import type { Grants } from './decide.ts'

/** What a graph is made of. */
type GraphChange = Pick<CatalogChange, 'kind' | 'before' | 'after'>

const noGraph = new AccessGraph()

/**
 * The access graphs of all organizations. They follow the catalog: its listeners are called in the
 * step in which a change becomes visible, so no decision sees one without the other.
 */
export class AccessIndex {
  readonly #graphs = new Map<string, AccessGraph>()

  constructor(catalog: Catalog) {
    for (const kind of ['member', 'group', 'role', 'acl'] as const) {
      for (const after of catalog.list(kind)) this.#apply({ kind, before: undefined, after })
    }
    catalog.onChange((changes) => {
      for (const change of changes) this.#apply(change)
    })
  }

  graph(organizationId: string): AccessGraph {
    const known = this.#graphs.get(organizationId)
    if (known) return known
    const graph = new AccessGraph(builtInRoles.map((role) => ({ ...role, member_roles: null })))
    this.#graphs.set(organizationId, graph)
    return graph
  }

  /** As much work for an organization that is not there as for one that is. */
  isMember(organizationId: string, userId: string): boolean {
    return (this.#graphs.get(organizationId) ?? noGraph).isMember(userId)
  }

  grants(organizationId: string, userId: string): Grants {
    return this.graph(organizationId).grantsOf(userId)
  }

  /** What `ask` answers as if the changes had been made. They are not: it must not wait. */
  supposing<T>(changes: readonly GraphChange[], ask: () => T): T {
    for (const change of changes) this.#apply(change)
    try {
      return ask()
    } finally {
      for (const { kind, before, after } of changes.toReversed()) {
        this.#apply({ kind, before: after, after: before })
      }
    }
  }

  #apply({ kind, before, after }: GraphChange): void {
    const gone = after ? undefined : before
    if (kind === 'organization') {
      if (gone) this.#graphs.delete(gone.id)
      return
    }
    const entry = after ?? before
    if (!entry || !isOfGraph(kind, entry)) return
    const organizationId = '_object_org_id' in entry ? entry._object_org_id : entry.org_id
    if (organizationId !== null) applyTo(this.graph(organizationId), entry, gone !== undefined)
  }
}

type GraphEntry = Entries['member' | 'group' | 'role' | 'acl']

function isOfGraph(kind: EntryKind, _entry: unknown): _entry is GraphEntry {
  return kind === 'member' || kind === 'group' || kind === 'role' || kind === 'acl'
}

function applyTo(graph: AccessGraph, entry: GraphEntry, isGone: boolean): void {
  if ('object_type' in entry) {
    if (isGone) graph.removeAcl(entry.id)
    else graph.putAcl(entry)
  } else if ('member_permissions' in entry) {
    if (isGone) graph.removeRole(entry.id)
    else graph.putRole(entry)
  } else if ('member_users' in entry) {
    if (isGone) graph.removeGroup(entry.id)
    else graph.putGroup(entry)
  } else if (isGone) graph.removeMember(entry.user_id)
  else graph.addMember(entry.user_id)
}
