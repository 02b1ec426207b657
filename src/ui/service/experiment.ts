/** Experiments, and what they came to. */
import { requestJson } from './client.ts'
import { query, quoted, type Row } from './query.ts'

export interface Experiment {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly description: string | null
  readonly created: string | null
  readonly base_exp_id: string | null
  readonly dataset_id: string | null
  readonly dataset_version: string | null
  readonly repo_info: RepositoryState | null
  readonly metadata: Row | null
  readonly tags: readonly string[] | null
}

export interface RepositoryState {
  readonly commit?: string | null
  readonly branch?: string | null
  readonly tag?: string | null
  readonly dirty?: boolean | null
  readonly author_name?: string | null
  readonly commit_message?: string | null
  readonly commit_time?: string | null
}

interface Experiments {
  readonly objects: readonly Experiment[]
}

/** A page of a project's experiments, newest first, beyond that of an id. */
export async function listExperiments(
  projectId: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  signal?: AbortSignal,
): Promise<readonly Experiment[]> {
  const parameters = new URLSearchParams({ project_id: projectId, limit: String(limit) })
  if (after !== undefined) parameters.set('starting_after', after)
  const { objects } = await requestJson<Experiments>(`/v1/experiment?${parameters}`, {
    ...(signal && { signal }),
  })
  return objects
}

/** Throws where there is none of that name, or none that may be seen. */
export async function experimentByName(
  projectName: string,
  name: string,
  signal: AbortSignal,
): Promise<Experiment> {
  const parameters = new URLSearchParams({ project_name: projectName, experiment_name: name })
  const { objects } = await requestJson<Experiments>(`/v1/experiment?${parameters}`, { signal })
  const [found] = objects
  if (!found) throw new Error(`There is no experiment "${name}", or it is not for you to see`)
  return found
}

/** In the order of the ids, without those that may not be seen. */
export async function experimentsById(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Experiment[]> {
  if (ids.length === 0) return []
  const parameters = new URLSearchParams(ids.map((id) => ['ids', id]))
  const { objects } = await requestJson<Experiments>(`/v1/experiment?${parameters}`, { signal })
  const byId = new Map(objects.map((experiment) => [experiment.id, experiment]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Undefined before the first experiment of a project. */
export async function baseOf(
  experiment: Experiment,
  baselineId: string | null | undefined,
  signal: AbortSignal,
): Promise<Experiment | undefined> {
  const given = [experiment.base_exp_id, baselineId].filter((id): id is string => {
    return typeof id === 'string' && id !== experiment.id
  })
  const [base] = await experimentsById(given, signal)
  if (base) return base
  const page = { after: experiment.id, limit: 1 }
  const [before] = await listExperiments(experiment.project_id, page, signal)
  return before
}

export interface ScoreMeans {
  /** Over the spans that have the score, from 0 to 1. */
  readonly scores: Readonly<Record<string, number>>
}

/** Of an experiment that has records. */
export interface ExperimentTotals extends ScoreMeans {
  readonly examples: number
  readonly failedExamples: number
  /** Mean of the examples, in seconds. */
  readonly duration: number | null
  readonly tokens: number | null
  /** Dollars. */
  readonly cost: number | null
}

/** All of them by one query; those without records are not in the answer. */
export async function totalsOf(
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ExperimentTotals>> {
  if (ids.length === 0) return new Map()
  const { data } = await query(
    'dimensions: experiment_id\n' +
      'measures: count_if(is_root) as examples,' +
      ' count_distinct(root_span_id) filter (where error is not null) as failed,' +
      ' avg_entries(scores) as scores,' +
      ' avg(metrics.end - metrics.start) filter (where is_root) as duration,' +
      ' sum(coalesce(metrics.total_tokens, metrics.tokens))' +
      ' filter (where not repeats_usage()) as tokens,' +
      ' sum(estimated_cost()) as cost\n' +
      `from: experiment(${ids.map(quoted).join(', ')})`,
    signal,
  )
  return new Map(
    data.map((row) => [
      String(row.experiment_id),
      {
        examples: Number(row.examples),
        failedExamples: Number(row.failed),
        scores: (row.scores ?? {}) as Readonly<Record<string, number>>,
        duration: numberOrNull(row.duration),
        tokens: numberOrNull(row.tokens),
        cost: numberOrNull(row.cost),
      },
    ]),
  )
}

/** Means of the scores alone, which take far less time than all totals. */
export async function scoreMeansOf(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ScoreMeans>> {
  const { data } = await query(
    'dimensions: experiment_id | measures: avg_entries(scores) as scores' +
      ` | from: experiment(${ids.map(quoted).join(', ')})`,
    signal,
  )
  return new Map(
    data.map(({ experiment_id, scores }) => [
      String(experiment_id),
      { scores: (scores ?? {}) as ScoreMeans['scores'] },
    ]),
  )
}

export async function renameExperiment(id: string, name: string): Promise<void> {
  await requestJson(`/v1/experiment/${id}`, { method: 'PATCH', body: { name } })
}

export async function deleteExperiment(id: string): Promise<void> {
  await requestJson(`/v1/experiment/${id}`, { method: 'DELETE' })
}

/** What the project compares with, unless an experiment says otherwise. */
export async function setBaseline(projectId: string, id: string): Promise<void> {
  const body = { settings: { baseline_experiment_id: id } }
  await requestJson(`/v1/project/${projectId}`, { method: 'PATCH', body })
}

export interface ScoreSummary {
  readonly name: string
  readonly score: number
  readonly diff?: number
  readonly improvements: number
  readonly regressions: number
}

export interface MetricSummary {
  readonly name: string
  readonly metric: number
  readonly unit: string
  readonly diff?: number
}

export interface ExperimentSummary {
  readonly scores: readonly ScoreSummary[]
  readonly metrics: readonly MetricSummary[]
}

export async function summaryOf(
  id: string,
  baseId: string | undefined,
  signal: AbortSignal,
): Promise<ExperimentSummary> {
  const parameters = new URLSearchParams({ summarize_scores: 'true' })
  if (baseId !== undefined) parameters.set('comparison_experiment_id', baseId)
  const answer = await requestJson<Row>(`/v1/experiment/${id}/summarize?${parameters}`, { signal })
  return {
    scores: Object.values((answer.scores ?? {}) as Record<string, ScoreSummary>),
    metrics: Object.values((answer.metrics ?? {}) as Record<string, MetricSummary>),
  }
}

/** How many values of a score lie in each tenth from 0 to 1; the last has 1, too. */
export type Distribution = readonly number[]

export const bucketCount = 10

/** The bucket of a number, as a query has it; what lies beyond the ends counts to them. */
export function bucketOf(field: string): string {
  return `least(greatest(floor(${field} * ${bucketCount}), 0), ${bucketCount - 1})`
}

/**
 * How each score is spread, by the ids of experiments and the names of scores.
 *
 * @param filter a condition that selects traces, of which all spans count; null for all
 */
export async function distributionsOf(
  ids: readonly string[],
  filter: string | null,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlyMap<string, Distribution>>> {
  const { data } = await query(
    `dimensions: experiment_id, score_name, ${bucketOf('score_value')} as bucket\n` +
      'measures: count(1) as n\n' +
      `from: experiment(${ids.map(quoted).join(', ')})${filter === null ? '' : ' traces'}\n` +
      'unpivot: scores as (score_name, score_value)' +
      (filter === null ? '' : `\nfilter: ${filter}`),
    signal,
  )
  const found = new Map(ids.map((id) => [id, new Map<string, number[]>()]))
  for (const { experiment_id, score_name, bucket, n } of data) {
    const byName = found.get(String(experiment_id))
    if (!byName || typeof bucket !== 'number') continue
    const name = String(score_name)
    const counts = byName.get(name) ?? new Array<number>(bucketCount).fill(0)
    counts[bucket] = Number(n)
    byName.set(name, counts)
  }
  return found
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** `main@4f2a91c`, with a star where files were changed. */
export function commitOf({ repo_info: state }: Experiment): string {
  if (!state) return ''
  const place = [state.branch ?? state.tag, state.commit?.slice(0, 7)].filter((part) => {
    return typeof part === 'string' && part !== ''
  })
  return `${place.join('@')}${state.dirty === true ? ' *' : ''}`
}
