/** Retention of projects, as the service has it. */
import { requestJson } from './client.ts'

export interface RuleConfiguration {
  readonly event_type: 'retention'
  readonly object_type: string
  readonly status?: string
  readonly retention_days: number
  readonly retention_count?: number | null
  readonly retention_bytes?: number | null
  readonly keep_filter?: string | null
  readonly hold_tags?: readonly string[] | null
  readonly old_versions_days?: number | null
}

export interface Rule {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly config: RuleConfiguration
}

interface Removed {
  readonly traces: number
  readonly records: number
  readonly bytes: number
}

export interface RunState {
  readonly status: 'running' | 'queued' | 'waiting' | 'failed' | 'paused'
  readonly progress: (Removed & { readonly step: 'selecting' | 'deleting' | 'freeing' }) | null
  readonly last_run: string | null
  readonly last: (Removed & { readonly time: string }) | null
  readonly error: { readonly message: string } | null
}

export interface RuleWithRun extends Rule {
  readonly state: RunState
}

export interface RulePreview {
  readonly traces: number
  readonly records: number
  readonly bytes: number
  readonly objects: readonly {
    readonly held_traces: number
    readonly kept_traces: number
    readonly examples: readonly { readonly root_span_id: string; readonly newest: string }[]
  }[]
}

interface Named {
  readonly id: string
  readonly name: string
}

export async function listRules(
  signal: AbortSignal,
): Promise<{ readonly rules: readonly RuleWithRun[]; readonly projects: readonly Named[] }> {
  const list = async <Item>(path: string) =>
    (await requestJson<{ objects: readonly Item[] }>(path, { signal })).objects
  const [automations, projects] = await Promise.all([
    list<Rule>('/v1/project_automation'),
    list<Named>('/v1/project'),
  ])
  const saved = automations.filter(({ config }) => config.event_type === 'retention')
  const rules = await Promise.all(
    saved.map(async (rule) => {
      const state = await requestJson<RunState>(`/v1/retention/${rule.id}`, { signal })
      return { ...rule, state }
    }),
  )
  return { rules, projects }
}

export function previewRule(project_id: string, config: RuleConfiguration): Promise<RulePreview> {
  return requestJson('/v1/retention/preview', { method: 'POST', body: { project_id, config } })
}

export function saveRule(
  id: string | undefined,
  project_id: string,
  name: string,
  config: RuleConfiguration,
): Promise<Rule> {
  return id === undefined
    ? requestJson('/v1/project_automation', { method: 'POST', body: { project_id, name, config } })
    : requestJson(`/v1/project_automation/${id}`, { method: 'PATCH', body: { name, config } })
}

/** Begins a run; how it goes is told with the list. */
export function runRule(project_automation_id: string): Promise<RunState> {
  return requestJson('/v1/retention/run', { method: 'POST', body: { project_automation_id } })
}
