/** Scheduled exports of projects, as the service has them. */
import { requestJson } from './client.ts'

export interface ExportConfiguration {
  readonly event_type: 'btql_export'
  readonly status?: string
  readonly export_definition: { readonly type: string; readonly btql_query?: string }
  readonly export_path: string
  readonly format: string
  readonly interval_seconds: number
  readonly credentials: { readonly type: string }
}

export interface ExportState {
  readonly status: 'running' | 'queued' | 'waiting' | 'failed' | 'paused' | 'off'
  readonly progress: { readonly rows: number } | null
  readonly last_good_run: string | null
  readonly next_run: string | null
  readonly files: number
  readonly rows: number
  readonly bytes: number
  readonly error: { readonly message: string; readonly since: string } | null
}

interface Saved {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly config: ExportConfiguration
}

export interface Export extends Saved {
  readonly state: ExportState
}

interface Named {
  readonly id: string
  readonly name: string
}

export interface Exports {
  readonly exports: readonly Export[]
  readonly projects: readonly Named[]
}

export async function listExports(signal: AbortSignal): Promise<Exports> {
  const list = async <Item>(path: string) =>
    (await requestJson<{ objects: readonly Item[] }>(path, { signal })).objects
  const [automations, projects] = await Promise.all([
    list<Saved>('/v1/project_automation'),
    list<Named>('/v1/project'),
  ])
  const saved = automations.filter(({ config }) => config.event_type === 'btql_export')
  const exports = await Promise.all(
    saved.map(async (each) => {
      const state = await requestJson<ExportState>(`/v1/export/${each.id}`, { signal })
      return { ...each, state }
    }),
  )
  return { exports, projects }
}

export function saveExport(
  id: string | undefined,
  project_id: string,
  name: string,
  config: ExportConfiguration,
): Promise<Saved> {
  return id === undefined
    ? requestJson('/v1/project_automation', { method: 'POST', body: { project_id, name, config } })
    : requestJson(`/v1/project_automation/${id}`, { method: 'PATCH', body: { name, config } })
}

/** Begins a run; how it goes is told with the list. */
export function runExport(project_automation_id: string): Promise<ExportState> {
  return requestJson('/v1/export/run', { method: 'POST', body: { project_automation_id } })
}

/** @param from a time, or an `_xact_id`; empty for all */
export function rewindExport(project_automation_id: string, from: string): Promise<unknown> {
  const isVersion = /^(\d{1,20}|[0-9a-f]{16})$/i.test(from)
  const to =
    from === '' ? {} : isVersion ? { version: from } : { time: new Date(from).toISOString() }
  return requestJson('/v1/export/rewind', {
    method: 'POST',
    body: { project_automation_id, ...to },
  })
}
