/** What grants are on, by its name and with the page that shows it. */
import { pathOf } from '../state/location.ts'
import { requestJson } from './client.ts'
import type { Acl, Directory } from './people.ts'

export interface Granted {
  readonly name: string
  /** The project that it is in, where it is in one. */
  readonly project?: string | undefined
  /** Where it is shown, if the page shows it. */
  readonly path?: string | undefined
}

export type GrantedById = ReadonlyMap<string, Granted>

interface Named {
  readonly id: string
  readonly name: string
  readonly project_id: string
}

/** What is in a project and has a name: the route that lists it, and its pages. */
const inProjects = {
  experiment: 'experiments',
  dataset: 'datasets',
  prompt: undefined,
} as const

export type NamedType = keyof typeof inProjects

export function isNamedType(type: string): type is NamedType {
  return Object.hasOwn(inProjects, type)
}

/** Ids of one request, which stand in its address. */
const mostIds = 100

/** Without what is gone or may not be seen. */
export async function loadGranted(
  acls: readonly Acl[],
  { projects, groups, roles }: Directory,
  organization: string,
  signal: AbortSignal,
): Promise<GrantedById> {
  const app = (...names: readonly string[]) => pathOf('app', organization, ...names)
  const nameOfProject = new Map(projects.map(({ id, name }) => [id, name]))
  const found = new Map<string, Granted>()
  for (const { id, name } of projects) found.set(id, { name, path: app('p', name) })
  for (const { id, name } of groups) found.set(id, { name, path: `${app('settings')}?tab=groups` })
  for (const { id, name } of roles) found.set(id, { name, path: `${app('settings')}?tab=roles` })
  const types = Object.entries(inProjects) as [NamedType, string | undefined][]
  const lists = types.map(async ([type, section]) => {
    const ids = acls.flatMap(({ object_type, object_id }) =>
      object_type === type ? [object_id] : [],
    )
    for (const { id, name, project_id } of await namedById(type, [...new Set(ids)], signal)) {
      const project = nameOfProject.get(project_id)
      const path = section && project !== undefined && app('p', project, section, name)
      found.set(id, { name, project, path: path || undefined })
    }
  })
  await Promise.all(lists)
  return found
}

async function namedById(type: NamedType, ids: readonly string[], signal: AbortSignal) {
  const parts = Array.from({ length: Math.ceil(ids.length / mostIds) }, (_, part) => {
    const asked = ids.slice(part * mostIds, (part + 1) * mostIds).map((id) => ['ids', id])
    return list(type, new URLSearchParams(asked), signal)
  })
  return (await Promise.all(parts)).flat()
}

/** The id of what has a name in a project. Throws where there is none, or none that may be seen. */
export async function idByName(type: NamedType, project: string, name: string): Promise<string> {
  const parameters = new URLSearchParams({ project_id: project, [`${type}_name`]: name })
  const [found] = await list(type, parameters)
  if (!found) throw new Error(`The project has no ${type} “${name}”, or it is not for you to see`)
  return found.id
}

async function list(
  type: NamedType,
  parameters: URLSearchParams,
  signal?: AbortSignal,
): Promise<readonly Named[]> {
  const { objects } = await requestJson<{ objects: readonly Named[] }>(
    `/v1/${type}?${parameters}`,
    { ...(signal && { signal }) },
  )
  return objects
}
