/** Where records of datasets come from, and to which datasets a record went. */
import { requestJson } from './client.ts'
import { type Dataset, listDatasets } from './dataset.ts'
import type { RecordPlace } from './feedback.ts'
import { sourceOf } from './picked-rows.ts'
import { at, query, quoted } from './query.ts'

export interface Origin {
  readonly place: RecordPlace
  readonly id: string
}

/** What a record keeps of where it comes from; undefined for records that were written by hand. */
export function originOf(value: unknown): Origin | undefined {
  const [type, objectId, id] = ['object_type', 'object_id', 'id'].map((name) => at(value, name))
  const isKnown = type === 'project_logs' || type === 'experiment' || type === 'dataset'
  if (!isKnown || typeof objectId !== 'string' || typeof id !== 'string') return undefined
  return { place: { type, objectId }, id }
}

/** Parts of a path of the page, behind the organization, and the parameters that open the record. */
export interface PlaceInPage {
  readonly title: string
  readonly names: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
}

interface Named {
  readonly name: string
  readonly project_id?: string
}

/** Throws where the record, or what it was in, is gone or not for one to see. */
export async function findOrigin({ place, id }: Origin, signal: AbortSignal): Promise<PlaceInPage> {
  const { type, objectId } = place
  const kind = type === 'project_logs' ? 'project' : type
  const object = await requestJson<Named>(`/v1/${kind}/${objectId}`, { signal })
  const project =
    object.project_id === undefined
      ? object
      : await requestJson<Named>(`/v1/project/${object.project_id}`, { signal })
  if (type !== 'project_logs') {
    const names = ['p', project.name, `${type}s`, object.name]
    return { title: object.name, names, parameters: { row: id } }
  }
  const { data } = await query(
    `select: root_span_id, span_id\nfrom: ${sourceOf(place)}\nfilter: id = ${quoted(id)}`,
    signal,
  )
  const [row] = data
  if (!row) throw new Error('It comes from a span that is not there any more')
  const parameters = { trace: String(row.root_span_id), span: String(row.span_id) }
  return { title: `the logs of ${project.name}`, names: ['p', project.name, 'logs'], parameters }
}

export interface DatasetRecord {
  readonly dataset: Dataset
  readonly id: string
}

/** More help nobody. */
const mostRecords = 20

/** Records of a project's datasets that come from a record. */
export async function recordsFrom(
  projectId: string,
  { place, id }: Origin,
  signal: AbortSignal,
): Promise<readonly DatasetRecord[]> {
  const datasets = await listDatasets(projectId, signal)
  if (datasets.length === 0) return []
  const byId = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const { data } = await query(
    `select: id, dataset_id\nfrom: dataset(${datasets.map((each) => quoted(each.id)).join(', ')})\n` +
      `filter: origin.id = ${quoted(id)} and origin.object_id = ${quoted(place.objectId)}\n` +
      `limit: ${mostRecords}`,
    signal,
  )
  return data.flatMap((row) => {
    const dataset = byId.get(String(row.dataset_id))
    return dataset ? [{ dataset, id: String(row.id) }] : []
  })
}
