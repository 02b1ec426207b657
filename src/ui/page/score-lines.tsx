/** How each score went from experiment to experiment. */
import { score } from '../component/format.ts'
import { type Order, writeOrder } from '../component/page-table.tsx'
import { Sparkline } from '../component/sparkline.tsx'
import type { ListedExperiment } from '../service/experiment-list.ts'
import { setParameters } from '../state/location.ts'
import { Change, scoreNamesOf } from './experiment-columns.tsx'

/** Experiments of a line, the newest. */
const mostPoints = 50

export function ScoreLines({
  experiments,
  order,
}: {
  readonly experiments: readonly ListedExperiment[]
  readonly order: Order | undefined
}) {
  const latest = experiments.slice(0, mostPoints).toReversed()
  return (
    <ul class="score-cards" aria-label="Scores over experiments">
      {scoreNamesOf(experiments).map((name) => {
        const values = latest.map(({ totals }) => totals?.scores[name] ?? null)
        const known = values.filter((value) => value !== null)
        const [before, last] = [known.at(-2), known.at(-1)]
        const id = `score.${name}`
        const isDescending = order?.id === id ? !order.isDescending : true
        return (
          <li key={name}>
            <button
              type="button"
              class="score-card chosen-by"
              title={`Sort by ${name}`}
              onClick={() => setParameters({ sort: writeOrder({ id, isDescending }) })}
            >
              <span class="score-name">{name}</span>
              <span class="score-value">{score(last)}</span>
              {before !== undefined && last !== undefined && <Change value={last - before} />}
              <Sparkline
                label={`${name} over ${known.length} experiments, last ${score(last)}`}
                values={values}
              />
            </button>
          </li>
        )
      })}
    </ul>
  )
}
