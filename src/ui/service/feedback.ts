/** What people say of records: scores, tags, comments, what was expected. */
import { request, requestJson } from './client.ts'

/** The object that a source of the query language is, as paths name it. */
export interface RecordPlace {
  readonly type: 'project_logs' | 'experiment' | 'dataset'
  readonly objectId: string
}

/** Undefined for sources of several objects, whose records cannot be changed from there. */
export function placeOf(source: string): RecordPlace | undefined {
  const [, type, objectId] = /^(project_logs|experiment|dataset)\('([^']+)'\)$/.exec(source) ?? []
  return type && objectId ? { type: type as RecordPlace['type'], objectId } : undefined
}

export interface Feedback {
  readonly scores?: Readonly<Record<string, number | null>>
  readonly expected?: unknown
  readonly comment?: string
  readonly tags?: readonly string[]
}

/** Merged into the record; a comment is added to those that there are. */
export async function giveFeedback(
  { type, objectId }: RecordPlace,
  id: string,
  feedback: Feedback,
): Promise<void> {
  const body = { feedback: [{ id, ...feedback, source: 'app' }] }
  await request(`/v1/${type}/${objectId}/feedback`, { body })
}

/** Puts fields of a record in the place of what they were; null takes one away. */
export async function replaceFields(
  { type, objectId }: RecordPlace,
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  // Without paths, tags would be added to those that there are, and objects merged.
  const paths = Object.keys(fields).map((name) => [name])
  const body = { events: [{ id, _is_merge: true, _merge_paths: paths, ...fields }] }
  await request(`/v1/${type}/${objectId}/insert`, { body })
}

/** A score that a project wants people to give. */
export interface ScoreKind {
  readonly name: string
  readonly description: string | null
  readonly score_type: string | null
  readonly categories: unknown
  readonly config: unknown
  /** Orders scores as texts do. */
  readonly position: string | null
}

export async function scoreKinds(projectId: string, signal: AbortSignal): Promise<ScoreKind[]> {
  const target = `/v1/project_score?project_id=${projectId}&limit=100`
  const { objects } = await requestJson<{ objects: ScoreKind[] }>(target, { signal })
  return objects
}
