import { AssayError } from '../error.ts'
import type { Query, TableSource } from '../parser/ast.ts'
import { sourceTables } from './source-table.ts'

/** What a project has one of. */
const oneOfProject: ReadonlySet<string> = new Set([
  'project_logs',
  'project_prompts',
  'project_views',
])

/**
 * The query with the project of its request, by id or name, where a source of a project names none:
 * `project_logs()`. Throws for one without ids that is no source of a project, or when there is no project.
 */
export function inProject(query: Query, project: string | undefined): Query {
  const { from } = query
  if (from === undefined) return query
  if (from.kind === 'subquery') {
    const inner = inProject(from.query, project)
    return inner === from.query ? query : { ...query, from: { ...from, query: inner } }
  }
  const table = tableInProject(from, project)
  return table === from ? query : { ...query, from: table }
}

/** The same of a source alone. */
export function tableInProject(source: TableSource, project: string | undefined): TableSource {
  const table = sourceTables.get(source.table)
  if (source.ids.length > 0 || !table) return source
  // One of an organization is that of whoever asks; a dataset by its path has an error of its own.
  if (table.kind === 'organization' || table.kind === 'project_dataset') return source
  const isOfProject =
    table.kind === 'project' || (table.kind === 'objects' && oneOfProject.has(table.type))
  if (project === undefined || !isOfProject) throw unnamed(source, isOfProject)
  return { ...source, ids: [{ value: project, span: source.span }] }
}

function unnamed({ table, span }: TableSource, isOfProject: boolean): AssayError {
  if (!isOfProject) {
    return new AssayError('BIND_WRONG_ARGUMENTS', `${table}() needs an id in quotes`, {
      span,
      hint: `write ${table}('<id or name>')`,
    })
  }
  return new AssayError(
    'BIND_WRONG_ARGUMENTS',
    `${table}() without an id is that of the request's project, and the request names none`,
    {
      span,
      hint: `send "project_id" or "project_name" with the query, or write ${table}('<id or name>')`,
    },
  )
}
