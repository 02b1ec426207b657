/** Views of a project's logs that were saved under a name, for everybody who reads the project. */
import { requestJson } from './client.ts'

export interface SavedView {
  readonly id: string
  readonly name: string
  readonly view_data: { readonly search?: ViewSearch | null } | null
  readonly options: ViewOptions | null
}

export interface ViewSearch {
  readonly filter?: readonly unknown[] | null
  readonly sort?: readonly unknown[] | null
}

/** Those of the interface that other pages and clients know as well. */
export interface ViewOptions {
  readonly columnVisibility?: Readonly<Record<string, boolean>> | null
  readonly columnOrder?: readonly string[] | null
  readonly columnSizing?: Readonly<Record<string, number>> | null
  readonly queryShape?: 'traces' | 'spans' | null
  readonly timeRangeFilter?: string | { readonly from: string; readonly to: string } | null
}

export type ViewContent = Pick<SavedView, 'view_data' | 'options'>

const place = (projectId: string) => ({ object_type: 'project', object_id: projectId })

export async function listViews(projectId: string, signal: AbortSignal): Promise<SavedView[]> {
  const target = `/v1/view?object_type=project&object_id=${projectId}&view_type=logs&limit=1000`
  const { objects } = await requestJson<{ objects: SavedView[] }>(target, { signal })
  return objects.sort((a, b) => a.name.localeCompare(b.name))
}

export function saveView(
  projectId: string,
  name: string,
  content: ViewContent,
): Promise<SavedView> {
  // What is saved under a name that there is takes its place.
  const body = { ...place(projectId), view_type: 'logs', name, ...content }
  return requestJson('/v1/view', { method: 'PUT', body })
}

export function renameView(projectId: string, id: string, name: string): Promise<SavedView> {
  const body = { ...place(projectId), name }
  return requestJson(`/v1/view/${id}`, { method: 'PATCH', body })
}

export function deleteView(projectId: string, id: string): Promise<SavedView> {
  return requestJson(`/v1/view/${id}`, { method: 'DELETE', body: place(projectId) })
}
