import type { CatalogView } from '../catalog/catalog.ts'
import type { TableSource } from '../parser/ast.ts'
import { recordColumns } from '../type/record.ts'
import { bindSource } from './bind-source.ts'
import type { KnownFields } from './known-fields.ts'

/** A field that a query may name, as far as is known of the records. */
export interface SourceField {
  readonly path: readonly string[]
  /** Of columns: what they hold. */
  readonly description?: string
}

/** Objects that are asked for their fields; those of one source mostly have the same. */
const askedObjects = 100

/** Columns of a source, then other fields of its records, each once; shorter paths first. */
export function sourceFields(
  source: TableSource,
  view: CatalogView,
  knownFields: (object: number) => KnownFields,
): SourceField[] {
  const { types, wholeObjects } = bindSource(source, view)
  const columns = recordColumns.filter((column) => column.in.some((type) => types.has(type)))
  const names = new Set(columns.map(({ name }) => name))
  const others = new Map<string, readonly string[]>()
  for (const number of wholeObjects.slice(0, askedObjects)) {
    const { extra, nestedPaths } = knownFields(number)
    for (const name of extra) if (!names.has(name)) others.set(JSON.stringify([name]), [name])
    for (const path of nestedPaths) others.set(JSON.stringify(path), path)
  }
  return [
    ...columns.map(({ name, description }) => ({ path: [name], description })),
    ...[...others.values()].sort((a, b) => a.length - b.length).map((path) => ({ path })),
  ]
}
