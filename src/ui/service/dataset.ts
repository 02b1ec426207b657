/** Datasets of a project, and changes to their records. */
import { request, requestJson } from './client.ts'
import { query, quoted } from './query.ts'

export interface Dataset {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly description: string | null
  readonly created: string | null
  readonly tags: readonly string[] | null
}

interface Datasets {
  readonly objects: readonly Dataset[]
}

/** More than any project has; the service has no larger page. */
const mostDatasets = 10_000

/** Newest first. */
export async function listDatasets(projectId: string, signal: AbortSignal) {
  const parameters = new URLSearchParams({ project_id: projectId, limit: String(mostDatasets) })
  const { objects } = await requestJson<Datasets>(`/v1/dataset?${parameters}`, { signal })
  return objects
}

/** Throws where there is none of that name, or none that may be seen. */
export async function datasetByName(
  projectName: string,
  name: string,
  signal: AbortSignal,
): Promise<Dataset> {
  const parameters = new URLSearchParams({ project_name: projectName, dataset_name: name })
  const { objects } = await requestJson<Datasets>(`/v1/dataset?${parameters}`, { signal })
  const [found] = objects
  if (!found) throw new Error(`There is no dataset "${name}", or it is not for you to see`)
  return found
}

export interface DatasetTotals {
  readonly records: number
  /** The transaction that changed it last. */
  readonly version: string
}

/** All of them by one query; those without records are not in the answer. */
export async function datasetTotals(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DatasetTotals>> {
  if (ids.length === 0) return new Map()
  const { data } = await query(
    'dimensions: dataset_id\nmeasures: count(1) as records, max(_xact_id) as version\n' +
      `from: dataset(${ids.map(quoted).join(', ')})`,
    signal,
  )
  return new Map(
    data.map((row) => [
      String(row.dataset_id),
      { records: Number(row.records), version: String(row.version) },
    ]),
  )
}

export function createDataset(projectId: string, name: string, description: string) {
  const body = { project_id: projectId, name, ...(description !== '' && { description }) }
  return requestJson<Dataset>('/v1/dataset', { body })
}

export async function changeDataset(
  id: string,
  change: { readonly name?: string; readonly description?: string },
): Promise<void> {
  await requestJson(`/v1/dataset/${id}`, { method: 'PATCH', body: change })
}

export async function deleteDataset(id: string): Promise<void> {
  await requestJson(`/v1/dataset/${id}`, { method: 'DELETE' })
}

/** Fields of a record that people write. */
export const recordFields = ['input', 'expected', 'metadata', 'tags'] as const
export type RecordField = (typeof recordFields)[number]

/** Texts of JSON by field: numbers keep all their digits, which a parsed value would lose. */
export type RecordTexts = Readonly<Partial<Record<RecordField, string>>>

/**
 * Writes fields of a record, and leaves the others as they are.
 *
 * @param id of a new record: undefined
 */
export async function writeRecord(
  datasetId: string,
  id: string | undefined,
  texts: RecordTexts,
): Promise<string> {
  const fields = Object.entries(texts).map(([field, text]) => `${JSON.stringify(field)}:${text}`)
  const paths = JSON.stringify(Object.keys(texts).map((field) => [field]))
  const control =
    id === undefined
      ? []
      : [`"id":${JSON.stringify(id)}`, '"_is_merge":true', `"_merge_paths":${paths}`]
  return (await insertTexts(datasetId, [`{${[...control, ...fields].join(',')}}`]))[0]!
}

export async function deleteRecords(datasetId: string, ids: readonly string[]): Promise<void> {
  await insertTexts(
    datasetId,
    ids.map((id) => JSON.stringify({ id, _object_delete: true })),
  )
}

/** In one transaction. */
export async function insertTexts(
  datasetId: string,
  records: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const answer = await request(`/v1/dataset/${datasetId}/insert`, {
    text: `{"events":[${records.join(',')}]}`,
    ...(signal && { signal }),
  })
  return ((await answer.json()) as { readonly row_ids: readonly string[] }).row_ids
}

/** The exact texts of a record's fields; those that are null are left out. */
export async function recordTexts(
  datasetId: string,
  id: string,
  version: string | undefined,
  signal: AbortSignal,
): Promise<RecordTexts> {
  const answer = await request('/btql', {
    body: {
      query: `select: ${recordFields.join(', ')}\nfrom: dataset(${quoted(datasetId)})\nfilter: id = ${quoted(id)}`,
      ...(version !== undefined && { version }),
    },
    signal,
  })
  const [text, { findNodeAtLocation, parseTree }] = await Promise.all([
    answer.text(),
    import('jsonc-parser'),
  ])
  const tree = parseTree(text)
  const record = tree && findNodeAtLocation(tree, ['data', 0])
  if (!record) throw new Error(`There is no record ${id} any more`)
  const texts: Partial<Record<RecordField, string>> = {}
  for (const field of recordFields) {
    const node = findNodeAtLocation(record, [field])
    if (node && node.type !== 'null') {
      texts[field] = text.slice(node.offset, node.offset + node.length)
    }
  }
  return texts
}
