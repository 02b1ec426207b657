/**
 * What an experiment comes to: its scores and metrics by name, and how they compare with another's.
 *
 * A score is the average over all spans that carry it, a metric the average over traces. Test cases
 * of two experiments are the traces with one key: their input, if the project sets no other.
 */
import type { Gate } from '../access/gate.ts'
import type { Experiment } from '../catalog/entry.ts'
import type { Engine } from '../engine.ts'
import { queryRows } from './query-rows.ts'

interface Change {
  /** This average less that of the base; absent when either has none. */
  readonly diff?: number
  /** How many test cases are better, and how many worse. */
  readonly improvements: number
  readonly regressions: number
}

/** Clients make objects of exactly these keys. */
export interface ScoreSummary extends Change {
  readonly name: string
  readonly score: number
}

export interface MetricSummary extends Change {
  readonly name: string
  readonly metric: number
  readonly unit: string
}

export interface ExperimentSummary {
  readonly scores: Readonly<Record<string, ScoreSummary>>
  readonly metrics: Readonly<Record<string, MetricSummary>>
}

/** Who asks, and until when. */
export interface SummaryRequest {
  readonly engine: Engine
  readonly gate: Gate
  readonly signal: AbortSignal
}

/** Those that every summary has, 0 where nothing was measured; with their units. */
const usualMetrics: ReadonlyMap<string, string> = new Map([
  ['llm_calls', ''],
  ['tool_calls', ''],
  ['errors', ''],
  ['llm_errors', ''],
  ['tool_errors', ''],
  ['prompt_tokens', 'tok'],
  ['prompt_cached_tokens', 'tok'],
  ['prompt_cache_creation_tokens', 'tok'],
  ['completion_tokens', 'tok'],
  ['total_tokens', 'tok'],
  ['duration', 's'],
])

const otherUnits: ReadonlyMap<string, string> = new Map([
  ['completion_reasoning_tokens', 'tok'],
  ['estimated_cost', '$'],
  ['llm_duration', 's'],
  ['time_to_first_token', 's'],
])

/** Times of day say nothing on average; `tokens` is the older name of `total_tokens`. */
const leftOut: ReadonlySet<string> = new Set(['start', 'end', 'tokens'])

export async function summarizeExperiment(
  request: SummaryRequest,
  experiment: Experiment,
  base: Experiment | undefined,
): Promise<ExperimentSummary> {
  const [scores, metrics, baseScores, baseMetrics, scoreChanges, metricChanges] = await Promise.all(
    [
      averages(request, experiment, 'scores'),
      averages(request, experiment, 'metrics'),
      base ? averages(request, base, 'scores') : noAverages,
      base ? averages(request, base, 'metrics') : noAverages,
      base ? changes(request, base, experiment, 'score_differences') : noChanges,
      base ? changes(request, base, experiment, 'metric_differences') : noChanges,
    ],
  )
  const changeOf = (
    name: string,
    of: Averages,
    before: Averages,
    by: Changes,
    better: 'up' | 'down',
  ) => {
    const now = of.get(name)
    const then = before.get(name)
    const { up = 0, down = 0 } = by.get(name) ?? {}
    return {
      ...(now !== undefined && then !== undefined && { diff: now - then }),
      improvements: better === 'up' ? up : down,
      regressions: better === 'up' ? down : up,
    }
  }
  const metricNames = new Set([...usualMetrics.keys(), ...metrics.keys()])
  for (const name of leftOut) metricNames.delete(name)
  return {
    scores: Object.fromEntries(
      Array.from(scores, ([name, score]) => [
        name,
        { name, score, ...changeOf(name, scores, baseScores, scoreChanges, 'up') },
      ]),
    ),
    metrics: Object.fromEntries(
      Array.from(metricNames, (name) => [
        name,
        {
          name,
          metric: metrics.get(name) ?? 0,
          unit: usualMetrics.get(name) ?? otherUnits.get(name) ?? '',
          ...changeOf(name, metrics, baseMetrics, metricChanges, 'down'),
        },
      ]),
    ),
  }
}

type Averages = ReadonlyMap<string, number>
type Changes = ReadonlyMap<string, { readonly up: number; readonly down: number }>

const noAverages: Averages = new Map()
const noChanges: Changes = new Map()

async function averages(
  { engine, gate, signal }: SummaryRequest,
  { id }: Experiment,
  field: 'scores' | 'metrics',
): Promise<Averages> {
  const shape = field === 'scores' ? 'spans' : 'summary'
  const rows = await queryRows(engine, {
    query:
      `from: experiment('${id}') ${shape} | unpivot: ${field} as (name, value) ` +
      '| dimensions: name | measures: avg(value) as mean',
    view: gate,
    signal,
  })
  return new Map(
    rows.flatMap(({ name, mean }) => (typeof mean === 'number' ? [[String(name), mean]] : [])),
  )
}

async function changes(
  { engine, gate, signal }: SummaryRequest,
  base: Experiment,
  experiment: Experiment,
  field: 'score_differences' | 'metric_differences',
): Promise<Changes> {
  const key = comparisonKey(gate, experiment)
  const rows = await queryRows(engine, {
    query:
      `from: experiment('${base.id}', '${experiment.id}') summary | comparison_key: ${key} ` +
      `| unpivot: ${field} as (name, value) | dimensions: name ` +
      '| measures: sum(value > 0) as up, sum(value < 0) as down',
    view: gate,
    signal,
  })
  return new Map(
    rows.map(({ name, up, down }) => [String(name), { up: Number(up), down: Number(down) }]),
  )
}

function comparisonKey(gate: Gate, experiment: Experiment): string {
  const key = gate.find('project', experiment.project_id)?.settings?.comparison_key
  return typeof key === 'string' && key.trim() !== '' ? key : 'input'
}
