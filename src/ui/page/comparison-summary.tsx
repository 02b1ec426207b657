/** Scores of the compared experiments: means, and how many examples got better and worse. */
import { cost, duration, number, score as shownScore } from '../component/format.ts'
import { BarsLegend, BarsRoom, GroupedBars, seriesColors } from '../component/grouped-bars.tsx'
import { Loading } from '../component/notice.tsx'
import type { ComparedCounts } from '../service/comparison.ts'
import type { Experiment, ExperimentTotals, ScoreMeans } from '../service/experiment.ts'
import { parameter, setParameters } from '../state/location.ts'
import { Change } from './experiment-columns.tsx'

export interface ComparisonSummaryProps {
  readonly base: Experiment
  readonly others: readonly Experiment[]
  readonly means: ReadonlyMap<string, ScoreMeans>
  /** Undefined until it is known, as is the next. */
  readonly totals: ReadonlyMap<string, ExperimentTotals> | undefined
  readonly counts: ComparedCounts | undefined
  /** Something of these will not come. */
  readonly hasFailed: boolean
  /** The score by which lines are chosen. */
  readonly score: string | undefined
}

export function ComparisonSummary(props: ComparisonSummaryProps) {
  const { base, others, means, totals, counts, hasFailed, score } = props
  // Bars of one score are not those of another.
  const spreads = counts?.score === score ? counts?.spreads : undefined
  const experiments = [base, ...others]
  const names = new Set(experiments.flatMap(({ id }) => Object.keys(means.get(id)?.scores ?? {})))
  return (
    <div class="comparison-summary">
      <table aria-label="Scores side by side">
        <thead>
          <tr>
            <th scope="col">Score</th>
            {experiments.map(({ id, name }, place) => (
              <th scope="col" class="number" key={id}>
                <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                  <rect class={`series-${place % seriesColors}`} width="10" height="10" rx="2" />
                </svg>
                {name}
                {id === base.id && <span class="tag after">base</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...names].sort().map((name) => (
            <tr key={name} aria-selected={name === score}>
              <th scope="row">
                <button
                  type="button"
                  class="plain"
                  aria-pressed={name === score}
                  title={`Choose examples by ${name}`}
                  onClick={() => setParameters({ by: name, page: undefined, row: undefined })}
                >
                  {name}
                </button>
              </th>
              {experiments.map(({ id }) => {
                const mean = means.get(id)?.scores[name]
                const before = means.get(base.id)?.scores[name]
                const change = counts?.changes.get(id)?.get(name)
                return (
                  <td class="number" key={id}>
                    <span class="compared-score">
                      {id !== base.id && (
                        <>
                          <Moved mark="↑" count={change?.improved} tone="better" />
                          <Moved mark="↓" count={change?.regressed} tone="worse" />
                        </>
                      )}
                      {id !== base.id && mean !== undefined && before !== undefined && (
                        <Change value={mean - before} />
                      )}
                      <strong>{shownScore(mean)}</strong>
                    </span>
                  </td>
                )
              })}
            </tr>
          ))}
          {measures.map((measure) => (
            <Measured
              key={measure.title}
              measure={measure}
              experiments={experiments}
              totals={totals}
            />
          ))}
        </tbody>
      </table>
      {score && <Spreads {...{ experiments, score, spreads, hasFailed }} />}
    </div>
  )
}

/** How many examples a score got better or worse in; none of them is no news. */
function Moved({
  mark,
  count,
  tone,
}: {
  readonly mark: string
  readonly count: number | undefined
  readonly tone: 'better' | 'worse'
}) {
  // Its room, so that the table does not grow when it is known.
  if (count === undefined) return <span class="moved" />
  return (
    <span class={`moved ${count > 0 ? tone : 'hint'}`} title={`Examples that got ${tone}`}>
      {mark} {number(count)}
    </span>
  )
}

/** How the chosen score is spread in each experiment. */
function Spreads({
  experiments,
  score,
  spreads,
  hasFailed,
}: {
  readonly experiments: readonly Experiment[]
  readonly score: string
  readonly spreads: ComparedCounts['spreads'] | undefined
  readonly hasFailed: boolean
}) {
  const left = new Set((parameter('without') ?? '').split(',').filter((id) => id !== ''))
  const toggle = (name: string) => {
    const id = experiments.find((each) => each.name === name)?.id
    if (id === undefined) return
    const next = new Set(left)
    if (!next.delete(id)) next.add(id)
    setParameters({ without: [...next].join(',') })
  }
  const hidden = new Set(experiments.flatMap(({ id, name }) => (left.has(id) ? name : [])))
  return (
    <figure>
      {spreads ? (
        <GroupedBars
          label={`How ${score} is spread in each experiment`}
          series={experiments.map(({ id, name }) => ({ name, counts: spreads.get(id) ?? [] }))}
          hidden={hidden}
        />
      ) : (
        <BarsRoom>{!hasFailed && <Loading what="the spread" />}</BarsRoom>
      )}
      <BarsLegend names={experiments.map(({ name }) => name)} hidden={hidden} onToggle={toggle} />
      <figcaption class="hint">Examples by {score}</figcaption>
    </figure>
  )
}

interface Measure {
  readonly title: string
  readonly valueIn: (totals: ExperimentTotals) => number | null
  readonly text: (value: number) => string
  /** More of it is worse. */
  readonly isSpent: boolean
}

const measures: readonly Measure[] = [
  { title: 'Examples', valueIn: ({ examples }) => examples, text: number, isSpent: false },
  { title: 'Duration', valueIn: (totals) => totals.duration, text: duration, isSpent: true },
  { title: 'Tokens', valueIn: ({ tokens }) => tokens, text: number, isSpent: true },
  { title: 'Cost', valueIn: (totals) => totals.cost, text: cost, isSpent: true },
]

/** What the experiments took, each beside the base, which comes first. */
function Measured({
  measure: { title, valueIn, text, isSpent },
  experiments,
  totals,
}: {
  readonly measure: Measure
  readonly experiments: readonly Experiment[]
  readonly totals: ReadonlyMap<string, ExperimentTotals> | undefined
}) {
  const values = experiments.map(({ id }) => {
    const found = totals?.get(id)
    return found ? valueIn(found) : null
  })
  // Before they are known their room is there.
  if (totals && values.every((value) => value === null)) return null
  const [before] = values
  return (
    <tr>
      <th scope="row">{title}</th>
      {experiments.map(({ id }, place) => {
        const value = values[place]
        const isCompared = isSpent && place > 0 && typeof before === 'number' && before > 0
        return (
          <td class="number" key={id}>
            <span class="compared-score">
              {isCompared && typeof value === 'number' && <Share value={value / before - 1} />}
              <strong>{typeof value === 'number' ? text(value) : ''}</strong>
            </span>
          </td>
        )
      })}
    </tr>
  )
}

/** By how much more or less was spent than by the base: less is better. */
function Share({ value }: { readonly value: number }) {
  const percent = Math.round(value * 100)
  if (percent === 0) return <span class="hint">±0 %</span>
  return (
    <span class={percent > 0 ? 'worse' : 'better'} title="Compared with the base">
      {percent > 0 ? '+' : '−'}
      {number(Math.abs(percent))} %
    </span>
  )
}
