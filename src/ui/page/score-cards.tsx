/** What the scores of an experiment come to: means, how they are spread, how they changed. */
import { Distribution } from '../component/distribution.tsx'
import { number, score } from '../component/format.ts'
import type { Order } from '../component/page-table.tsx'
import {
  distributionsOf,
  type Experiment,
  type ExperimentSummary,
  type MetricSummary,
  type ScoreSummary,
} from '../service/experiment.ts'
import { fieldOf } from '../service/field-path.ts'
import { useLoaded } from '../service/load.ts'
import { parameter, setParameters } from '../state/location.ts'
import { Change } from './experiment-columns.tsx'
import { MetricFacts } from './metric-facts.tsx'

export interface ScoreCardsProps {
  readonly experimentId: string
  readonly summary: ExperimentSummary
  /** What is searched for, as a condition; null for everything. */
  readonly filter: string | null
  readonly base: Experiment | undefined
  readonly order: Order | undefined
}

export function ScoreCards({ experimentId, summary, filter, base, order }: ScoreCardsProps) {
  const baseId = base?.id
  const ids = [experimentId, ...(baseId === undefined ? [] : [baseId])]
  const all = useLoaded(`spread ${ids}`, (signal) => distributionsOf(ids, null, signal))
  const found = useLoaded(
    filter === null ? undefined : `spread ${experimentId} ${filter}`,
    (signal) => distributionsOf([experimentId], filter, signal),
  )
  const spreadOf = (id: string | undefined, of = all.data) => of?.get(id ?? '')
  return (
    <section aria-label="Summary">
      <ul class="score-cards" aria-label="Scores">
        {summary.scores.map((each) => (
          <li key={each.name} class="score-card">
            <ScoreCard
              score={each}
              counts={spreadOf(experimentId)?.get(each.name)}
              found={
                filter === null
                  ? undefined
                  : (spreadOf(experimentId, found.data)?.get(each.name) ?? [])
              }
              base={spreadOf(baseId)?.get(each.name)}
              baseName={base?.name}
              isWorstFirst={order?.id === `score.${each.name}` && !order.isDescending}
            />
          </li>
        ))}
      </ul>
      <MetricFacts metrics={shownMetrics(summary.metrics)} />
    </section>
  )
}

function ScoreCard({
  score: { name, score: mean, diff, improvements, regressions },
  counts,
  found,
  base,
  baseName,
  isWorstFirst,
}: {
  readonly score: ScoreSummary
  readonly counts: readonly number[] | undefined
  readonly found: readonly number[] | undefined
  readonly base: readonly number[] | undefined
  readonly baseName: string | undefined
  readonly isWorstFirst: boolean
}) {
  return (
    <>
      <div class="score-line">
        <span class="score-name" title={name}>
          {name}
        </span>
        <button
          type="button"
          aria-pressed={isWorstFirst}
          aria-label={`Worst first: ${name}`}
          onClick={() =>
            setParameters({ sort: isWorstFirst ? undefined : `score.${name}`, page: undefined })
          }
        >
          Worst first
        </button>
      </div>
      <div class="score-line">
        <span class="score-value">{score(mean)}</span>
        {diff !== undefined && <Change value={diff} />}
      </div>
      {counts && (
        <Distribution
          label={`${name}: how many examples have which score`}
          counts={counts}
          found={found}
          base={base}
          onChoose={(from, to) => narrow(name, from, to)}
        />
      )}
      {diff !== undefined && (
        <p class="hint">
          <span class={improvements > 0 ? 'better' : undefined}>{number(improvements)} better</span>
          , <span class={regressions > 0 ? 'worse' : undefined}>{number(regressions)} worse</span>
          {baseName !== undefined && (
            <>
              {' '}
              than <span class="base-key">{baseName}</span>
            </>
          )}
        </p>
      )}
    </>
  )
}

/** Looks for the examples of a bar, among what is looked for already. */
function narrow(name: string, from: number, to: number): void {
  const field = fieldOf('scores', name)
  const range = `${field} >= ${from} and ${field} ${to === 1 ? '<=' : '<'} ${to}`
  const words = parameter('q')?.trim() ?? ''
  const isCondition = /[=<>]|\bis\b/i.test(words)
  const q = words === '' || !isCondition ? range : `(${words}) and ${range}`
  setParameters({ q, page: undefined, row: undefined }, { replace: false })
}

const shownFirst = ['duration', 'total_tokens', 'estimated_cost', 'llm_calls', 'errors'] as const

/** Those that were measured, in the experiment or in its base. */
function shownMetrics(metrics: readonly MetricSummary[]): MetricSummary[] {
  const measured = metrics.filter(({ metric, diff = 0 }) => metric !== 0 || diff !== 0)
  return shownFirst.flatMap((name) => measured.find((metric) => metric.name === name) ?? [])
}
