/** What a span or an example took: times, tokens and cost, each in its unit. */
import { cost, duration, isObject, metric, number } from '../component/format.ts'
import type { Row } from '../service/query.ts'
import { durationOf } from '../service/span-facts.ts'
import type { Usage } from './trace-tree.ts'

/** What the span cost by the prices of models, where it says no cost itself. */
export const computedCost = 'computed_cost'

/** `prompt_tokens`: "Prompt tokens". */
export function fieldTitle(field: string): string {
  const words = field.replaceAll('_', ' ').replace(/^llm\b/, 'LLM')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What the span took; when it began and ended is shown by its bar. */
export function SpanMetrics({
  row,
  usage,
}: {
  readonly row: Row
  readonly usage?: Usage | undefined
}) {
  const given = isObject(row.metrics) ? row.metrics : {}
  const ownCost = given.estimated_cost ?? row[computedCost]
  const metrics = typeof ownCost === 'number' ? { ...given, estimated_cost: ownCost } : given
  const length = durationOf(row)
  const entries = Object.entries(metrics).filter(([name, value]) => {
    const isSaid = name === 'total_tokens' && value === metrics.tokens
    return typeof value === 'number' && !isSaid && !['start', 'end', 'duration'].includes(name)
  })
  const hasBelow = usage !== undefined && usage.spans > 0
  if (entries.length === 0 && length === undefined && !hasBelow) return null
  return (
    <dl class="numbers" aria-label="Metrics">
      {length !== undefined && <Figure name="Duration" text={duration(length)} />}
      {entries.map(([name, value]) => (
        <Figure key={name} name={fieldTitle(name)} text={metric(name, value)} />
      ))}
      {hasBelow && usage.tokens > 0 && (
        <Figure name="Tokens in all" hint={withBelow} text={number(usage.tokens)} />
      )}
      {hasBelow && usage.cost > 0 && (
        <Figure name="Cost in all" hint={withBelow} text={cost(usage.cost)} />
      )}
    </dl>
  )
}

const withBelow = 'Of this span and of all spans below it'

function Figure({
  name,
  text,
  hint,
}: {
  readonly name: string
  readonly text: string
  readonly hint?: string
}) {
  return (
    <div title={hint}>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  )
}
