/** Queries that run at this moment: one's own, and for who may, those of the organization. */
import { request, requestJson } from './client.ts'

export interface RunningQuery {
  readonly id: string
  readonly user_id: string | null
  readonly query: string
  /** ISO time. */
  readonly started: string
  readonly state: 'queued' | 'running' | 'sending'
  readonly progress: {
    readonly rows_to_read: number
    readonly rows_read: number
    readonly rows_sent: number
  }
  readonly worker_ms: number
  readonly memory_bytes: number
}

export async function listRunning(signal?: AbortSignal): Promise<readonly RunningQuery[]> {
  const { queries } = await requestJson<{ queries: readonly RunningQuery[] }>('/admin/queries', {
    ...(signal && { signal }),
  })
  return queries
}

export async function cancelQuery(id: string): Promise<void> {
  await request(`/admin/queries/${encodeURIComponent(id)}`, { method: 'DELETE' })
}
