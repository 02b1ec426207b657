/** Addresses of the pages of objects, and what such an address is of. */
import type { Gate } from '../../access/gate.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import { AssayError } from '../../error.ts'

export const pageTypes = ['project', 'project_logs', 'experiment', 'dataset'] as const

export type PageType = (typeof pageTypes)[number]

export interface Place {
  readonly object_type: PageType
  readonly object_id: string
  readonly object_name: string
  readonly project_id: string
  readonly project_name: string
}

export interface Within {
  readonly root_span_id?: string | undefined
  readonly row_id?: string | undefined
}

/** The object if the caller may read it, with the project that it is in. Throws as for what is not there. */
export function placeOf(gate: Gate, type: PageType, id: string): Place {
  if (type === 'project' || type === 'project_logs') {
    const project = gate.require('read', 'project', id)
    const { id: project_id, name } = project
    return { object_type: type, object_id: id, object_name: name, project_id, project_name: name }
  }
  const { name, project_id } = gate.require('read', type, id)
  const project_name = gate.find('project', project_id)?.name ?? project_id
  return { object_type: type, object_id: id, object_name: name, project_id, project_name }
}

/** The object of a name: projects by theirs, all else in a project, or where only one project has it. */
export function placeOfName(
  gate: Gate,
  type: PageType,
  name: string,
  project: string | undefined,
): Place {
  if (type === 'project' || type === 'project_logs') {
    const found = gate.projectByName(name)
    if (!found) throw missingAccess('read', 'project', name)
    return placeOf(gate, type, found.id)
  }
  const scope = project === undefined ? undefined : gate.readableProject(project)
  if (project !== undefined && !scope) throw missingAccess('read', 'project', project)
  const found = [...gate.list(type, { name, ...(scope && { parentId: scope.id }) })]
  if (found.length > 1) {
    throw new AssayError('REQUEST_INVALID', `several projects have ${type} "${name}"`, {
      hint: 'give "project" as well',
    })
  }
  const [one] = found
  if (!one) throw missingAccess('read', type, name)
  return placeOf(gate, type, one.id)
}

export function permalink(gate: Gate, url: string, place: Place, within: Within = {}): string {
  const { object_type, object_name, project_name } = place
  const project = ['app', gate.organization().name, 'p', project_name]
  const names =
    object_type === 'project' || object_type === 'project_logs'
      ? [...project, ...(object_type === 'project_logs' || within.root_span_id ? ['logs'] : [])]
      : [...project, `${object_type}s`, object_name]
  const { root_span_id, row_id } = within
  const isOfLogs = object_type === 'project' || object_type === 'project_logs'
  const search = new URLSearchParams({
    ...(isOfLogs && root_span_id !== undefined && { trace: root_span_id }),
    ...(isOfLogs && row_id !== undefined && { span: row_id }),
    ...(!isOfLogs && (row_id ?? root_span_id) !== undefined && { row: row_id ?? root_span_id! }),
  })
  const text = search.toString()
  return `${url}/${names.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

/** The page of a query, as the person who opens it would have written it. */
export function queryLink(gate: Gate, url: string, projectName: string, query: string): string {
  const names = ['app', gate.organization().name, 'p', projectName, 'query']
  const written = encodeURIComponent(query)
  const place = `${url}/${names.map(encodeURIComponent).join('/')}`
  // Longer ones stand where no server sees them.
  return written.length > 1500 ? `${place}#q=${written}` : `${place}?q=${written}`
}

/** What an address of a page is of. */
export function placeAt(gate: Gate, text: string): Place & Within {
  const parts = URL.canParse(text) ? new URL(text) : undefined
  const names = (parts?.pathname ?? '').split('/').map(decoded)
  const at = names.indexOf('app')
  const [, , p, project, section, name] = at < 0 ? [] : names.slice(at)
  if (!parts || p !== 'p' || project === undefined || project === '') {
    throw new AssayError('REQUEST_INVALID', `"${text.slice(0, 200)}" is the address of no object`, {
      hint: 'addresses are like https://host/app/<organization>/p/<project>/experiments/<name>',
    })
  }
  const root_span_id = parts.searchParams.get('trace') ?? undefined
  const row_id = parts.searchParams.get('row') ?? parts.searchParams.get('span') ?? undefined
  const type =
    section === 'experiments' ? 'experiment' : section === 'datasets' ? 'dataset' : undefined
  const place =
    type && name
      ? placeOfName(gate, type, name, project)
      : placeOfName(gate, section === 'logs' ? 'project_logs' : 'project', project, undefined)
  return { ...place, ...(root_span_id && { root_span_id }), ...(row_id && { row_id }) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
