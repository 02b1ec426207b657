/**
 * What an experiment comes to: its scores and metrics by name, and how they compare with another's.
 *
 * A score is the average over all spans that carry it, a metric the average over traces. Test cases
 * of two experiments are the traces with one key: their input, if the project sets no other.
 */
import type { Gate } from '../access/gate.ts'
import type { Experiment } from '../catalog/entry.ts'
import type { Engine } from '../engine.ts'
import { printPath } from '../parser/print.ts'
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
  const both = [...new Set(base ? [experiment.id, base.id] : [experiment.id])]
  const [allScores, allMetrics] = await Promise.all([
    averages(request, both, 'scores'),
    averages(request, both, 'metrics'),
  ])
  const of = (id: string | undefined, all: ReadonlyMap<string, Averages>) =>
    all.get(id ?? '') ?? noAverages
  const [scores, metrics] = [of(experiment.id, allScores), of(experiment.id, allMetrics)]
  const [baseScores, baseMetrics] = [of(base?.id, allScores), of(base?.id, allMetrics)]
  const inBoth = (now: Averages, then: Averages) => [...now.keys()].filter((name) => then.has(name))
  const compared = { score: inBoth(scores, baseScores), metric: inBoth(metrics, baseMetrics) }
  // Against itself, too, as clients ask for it to have the base in the form of the others.
  const { score: scoreChanges, metric: metricChanges } =
    base && base.id !== experiment.id
      ? await changes(request, base, experiment, compared)
      : { score: noChanges, metric: noChanges }
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

interface Moves {
  readonly up: number
  readonly down: number
}

type Changes = ReadonlyMap<string, Moves>

const noAverages: Averages = new Map()
const noChanges: Changes = new Map()

/** By the ids of experiments. */
async function averages(
  { engine, gate, signal }: SummaryRequest,
  ids: readonly string[],
  field: 'scores' | 'metrics',
): Promise<ReadonlyMap<string, Averages>> {
  const shape = field === 'scores' ? 'spans' : 'summary'
  const rows = await queryRows(engine, {
    query:
      `from: experiment(${ids.map((id) => `'${id}'`).join(', ')}) ${shape} ` +
      `| unpivot: ${field} as (name, value) ` +
      '| dimensions: experiment_id, name | measures: avg(value) as mean',
    view: gate,
    signal,
  })
  const found = new Map(ids.map((id) => [id, new Map<string, number>()]))
  for (const { experiment_id, name, mean } of rows) {
    if (typeof mean === 'number') found.get(String(experiment_id))?.set(String(name), mean)
  }
  return found
}

interface Named<Value> {
  readonly score: Value
  readonly metric: Value
}

/** How many test cases have more, and how many less, of what both experiments have. */
async function changes(
  { engine, gate, signal }: SummaryRequest,
  base: Experiment,
  experiment: Experiment,
  names: Named<readonly string[]>,
): Promise<Named<Changes>> {
  const found = { score: new Map<string, Moves>(), metric: new Map<string, Moves>() }
  const asked = (['score', 'metric'] as const).flatMap((kind) =>
    names[kind].map((name) => ({ kind, name })),
  )
  if (asked.length === 0) return found
  const measures = asked.flatMap(({ kind, name }, i) => {
    const difference = printPath([`${kind}_differences`, name])
    return [`count_if(${difference} > 0) as up_${i}`, `count_if(${difference} < 0) as down_${i}`]
  })
  const [row] = await queryRows(engine, {
    query:
      `from: experiment('${base.id}', '${experiment.id}') summary ` +
      `| comparison_key: ${comparisonKey(gate, experiment)} | measures: ${measures.join(', ')}`,
    view: gate,
    signal,
  })
  for (const [i, { kind, name }] of asked.entries()) {
    found[kind].set(name, { up: Number(row?.[`up_${i}`]), down: Number(row?.[`down_${i}`]) })
  }
  return found
}

function comparisonKey(gate: Gate, experiment: Experiment): string {
  const key = gate.find('project', experiment.project_id)?.settings?.comparison_key
  return typeof key === 'string' && key.trim() !== '' ? key : 'input'
}
