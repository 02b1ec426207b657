import { cost, duration, mean, meanChange } from '../component/format.ts'
import type { MetricSummary } from '../service/experiment.ts'

const titles: ReadonlyMap<string, string> = new Map([
  ['duration', 'Duration'],
  ['total_tokens', 'Tokens'],
  ['estimated_cost', 'Cost'],
  ['llm_calls', 'Model calls'],
  ['errors', 'Model and tool errors'],
])

/** Means of an example, with the difference from the base. */
export function MetricFacts({ metrics }: { readonly metrics: readonly MetricSummary[] }) {
  if (metrics.length === 0) return null
  return (
    <dl class="numbers" aria-label="Per example, on average">
      {metrics.map(({ name, metric, unit, diff }) => (
        <div key={name}>
          <dt>
            {titles.get(name) ?? name}
            <span class="for-wide"> per example</span>
          </dt>
          <dd>
            {shownMetric(metric, unit, mean)}
            {diff !== undefined && diff !== 0 && (
              <span class={`change ${diff > 0 ? 'worse' : 'better'}`}>
                {' '}
                {diff > 0 ? '+' : '−'}
                {shownMetric(Math.abs(diff), unit, meanChange)}
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function shownMetric(value: number, unit: string, count: (value: number) => string): string {
  if (unit === 's') return duration(value)
  return unit === '$' ? cost(value) : count(value)
}
