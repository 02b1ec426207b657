/** What of a project is called like what somebody looks for: experiments, datasets, views, and traces by their id. */
import { requestJson } from '../service/client.ts'
import { type Loaded, useLoaded } from '../service/load.ts'
import { query, quoted } from '../service/query.ts'
import { listViews, type SavedView } from '../service/saved-views.ts'

interface Named {
  readonly id: string
  readonly name: string
}

export interface ProjectObjects {
  readonly experiments: readonly Named[]
  readonly datasets: readonly Named[]
  readonly views: readonly SavedView[]
}

/** Of the newest of each; undefined is no project. */
export function useProjectObjects(projectId: string | undefined): Loaded<ProjectObjects> {
  const key = projectId === undefined ? undefined : `objects of ${projectId}`
  return useLoaded(key, async (signal) => {
    const of = async (type: 'experiment' | 'dataset') => {
      const target = `/v1/${type}?${new URLSearchParams({ project_id: projectId!, limit: '1000' })}`
      return (await requestJson<{ objects: readonly Named[] }>(target, { signal })).objects
    }
    const [experiments, datasets, views] = await Promise.all([
      of('experiment'),
      of('dataset'),
      listViews(projectId!, signal),
    ])
    return { experiments, datasets, views }
  })
}

export interface FoundTrace {
  readonly rootSpanId: string
  readonly spanId: string
  readonly name: string
}

/** Ids are long, and have no blanks; words are none. */
const idForm = /^(?=.*\d)[\w.:/-]{6,200}$/

/** The trace that the text is the id of, or of a span of which; asked once nobody types for a moment. */
export function useTraceOfId(projectId: string | undefined, text: string): FoundTrace | undefined {
  const id = text.trim()
  const key = projectId !== undefined && idForm.test(id) ? `trace ${projectId} ${id}` : undefined
  const { data } = useLoaded(key, async (signal) => {
    await pause(signal)
    const wanted = quoted(id)
    const { data: rows } = await query(
      'select: id, span_id, root_span_id, span_attributes.name as name\n' +
        `from: project_logs(${quoted(projectId!)})\n` +
        `filter: root_span_id = ${wanted} or span_id = ${wanted} or id = ${wanted}\n` +
        'limit: 20',
      signal,
    )
    // Of a trace its root, if that is among them.
    const row = rows.find(({ span_id }) => span_id === id) ?? rows[0]
    const trace = row && {
      rootSpanId: String(row.root_span_id),
      spanId: row.root_span_id === id ? '' : String(row.span_id),
      name: String(row.name ?? id),
    }
    return { id, trace }
  })
  return data?.id === id ? data.trace : undefined
}

const pauseMs = 200

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, pauseMs)
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
