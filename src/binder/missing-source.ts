import type { CatalogView } from '../catalog/catalog.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import type { AssayError } from '../error.ts'
import type { TableSource, TextClause } from '../parser/ast.ts'
import { suggest } from '../parser/suggest.ts'
import { sourceTables } from './source-table.ts'

/** Most names that are looked through for one like the given. */
const searchedNames = 10_000

/**
 * The error of a source that names nothing readable. What its hint says, a caller could find out by
 * listing what they may read.
 */
export function missingSource(
  source: TableSource,
  given: TextClause,
  view: CatalogView,
  type = source.table,
): AssayError {
  const hint = otherTable(given, view) ?? nearName(source, given, view)
  return missingAccess('read', type, given.value, {
    span: given.span,
    ...(hint !== undefined && { hint }),
  })
}

/** The given may be right and the source wrong. */
function otherTable({ value }: TextClause, view: CatalogView): string | undefined {
  if (view.readableProject(value)?.id === value) {
    return `that is the id of a project: write project_logs('${value}') or project('${value}')`
  }
  for (const [name, table] of sourceTables) {
    if (table.kind === 'objects' && view.readable(table.type, value)) {
      return `that is the id of ${articled(name)}: write ${name}('${value}')`
    }
  }
  return undefined
}

function nearName(
  source: TableSource,
  { value }: TextClause,
  view: CatalogView,
): string | undefined {
  const near = suggest(value, readableNames(source.table, view))
  return near === undefined ? undefined : `did you mean "${near}"?`
}

/** Names that the arguments of a source may have, as far as they are worth listing. */
export function readableNames(table: string, view: CatalogView): string[] {
  const known = sourceTables.get(table)
  const names = new Set<string>()
  if (known?.kind === 'organization') names.add(view.organization().name)
  else if (known && known.kind !== 'rows') {
    const type = known.kind === 'objects' ? known.type : 'project_logs'
    for (const { name, visibleIds } of view.readableOfType(type)) {
      if (visibleIds === undefined) names.add(name)
      if (names.size === searchedNames) break
    }
  }
  return [...names]
}

function articled(name: string): string {
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}
