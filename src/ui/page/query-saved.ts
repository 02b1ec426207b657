/**
 * Queries that are saved for all of a project: views of the service, of the type that charts have, as
 * none is made for queries alone.
 */
import { requestJson } from '../service/client.ts'

/** Parts of the address that say how a result is shown. */
export type ShownAs = Readonly<Record<string, string | undefined>>

export interface SavedQuery {
  readonly id: string
  readonly name: string
  readonly created: string
  readonly text: string
  /** Parts of the URL that say how its result is shown. */
  readonly shown: Readonly<Record<string, string>>
}

interface View {
  readonly id: string
  readonly name: string
  readonly created: string
  readonly view_data: { readonly custom_charts?: unknown } | null
}

const viewType = 'monitor'

export async function listSaved(
  projectId: string,
  signal: AbortSignal,
): Promise<readonly SavedQuery[]> {
  const target = `/v1/view?object_type=project&object_id=${projectId}&view_type=${viewType}`
  const { objects } = await requestJson<{ objects: readonly View[] }>(target, { signal })
  return objects.flatMap((view) => savedOf(view) ?? [])
}

export async function loadSaved(
  projectId: string,
  id: string,
  signal?: AbortSignal,
): Promise<SavedQuery> {
  const target = `/v1/view/${encodeURIComponent(id)}?object_type=project&object_id=${projectId}`
  const saved = savedOf(await requestJson<View>(target, { ...(signal && { signal }) }))
  if (!saved) throw new Error('The view that the address names is no saved query')
  return saved
}

export type SavedContents = Pick<SavedQuery, 'name' | 'text' | 'shown'>

/** Makes one, or gives the one of this name another text. */
export async function save(projectId: string, contents: SavedContents): Promise<SavedQuery> {
  const { name, text, shown } = contents
  const body = {
    object_type: 'project',
    object_id: projectId,
    view_type: viewType,
    name,
    view_data: { custom_charts: { query: { text, shown } } },
  }
  const view = await requestJson<View>('/v1/view', { method: 'PUT', body })
  return { id: view.id, name: view.name, created: view.created, text, shown }
}

export async function removeSaved(projectId: string, id: string): Promise<void> {
  const body = { object_type: 'project', object_id: projectId }
  await requestJson(`/v1/view/${id}`, { method: 'DELETE', body })
}

/** Undefined for a view that is something else. */
function savedOf({ id, name, created, view_data }: View): SavedQuery | undefined {
  const charts = view_data?.custom_charts as Readonly<Record<string, unknown>> | null | undefined
  const query = charts?.query as Readonly<Record<string, unknown>> | null | undefined
  if (typeof query?.text !== 'string') return undefined
  const shown = Object.entries((query.shown ?? {}) as object).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  )
  return { id, name, created, text: query.text, shown: Object.fromEntries(shown) }
}
