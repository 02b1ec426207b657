/** What the service says of a query while it is written. */
import { requestJson } from '../service/client.ts'
import { ownProject } from '../service/own-project.ts'
import { tzOffset } from '../service/query.ts'
import { shownProject } from '../state/location.ts'

export interface Problem {
  readonly severity: 'error' | 'warning' | 'info'
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** From 1; columns in code points. Absent when it is of no place. */
  readonly line?: number
  readonly column?: number
  readonly endLine?: number
  readonly endColumn?: number
}

export interface Checked {
  readonly diagnostics: readonly Problem[]
  /** The query in both languages; null while it cannot be read. */
  readonly canonical: { readonly btql: string; readonly sql: string } | null
}

export function check(query: string, signal?: AbortSignal): Promise<Checked> {
  const body = { query, tz_offset: tzOffset, ...ownProject(query) }
  return requestJson('/btql/check', { body, ...(signal && { signal }) })
}

export interface Offer {
  readonly text: string
  readonly kind:
    | 'clause'
    | 'field'
    | 'value'
    | 'function'
    | 'aggregate'
    | 'source'
    | 'object'
    | 'keyword'
  readonly detail?: string
}

export interface Offers {
  readonly from: number
  readonly to: number
  readonly items: readonly Offer[]
}

export function complete(query: string, position: number, signal: AbortSignal): Promise<Offers> {
  const project = shownProject.value
  // A query that names no source yet is taken for one of the project's logs.
  const body = { query, position, ...(project !== undefined && { project_name: project }) }
  return requestJson('/btql/complete', { body, signal })
}
