/** What projects hold, for lists of them. */
import { query, quoted } from './query.ts'

export interface Activity {
  readonly spans: number
  /** ISO 8601. */
  readonly last: string
}

/** Those of further projects are not asked for. */
const mostProjects = 200

/** Of projects without logs there is nothing in it. */
export async function activityOf(
  projectIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Activity>> {
  const ids = projectIds.slice(0, mostProjects)
  if (ids.length === 0) return new Map()
  const { data } = await query(
    'dimensions: project_id\nmeasures: count(1) as spans, max(created) as last\n' +
      `from: project_logs(${ids.map(quoted).join(', ')})`,
    signal,
  )
  return new Map(
    data.map(({ project_id, spans, last }) => [
      String(project_id),
      { spans: Number(spans), last: String(last) },
    ]),
  )
}
