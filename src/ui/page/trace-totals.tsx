/** What a whole trace took and cost. */
import { useMemo } from 'preact/hooks'
import { cost, counted, duration, time } from '../component/format.ts'
import type { TraceSpan } from '../service/trace-span.ts'
import type { SpanTree } from './trace-tree.ts'

export interface TotalsProps {
  readonly spans: readonly TraceSpan[]
  readonly tree: SpanTree
  readonly isLoading: boolean
}

export function Totals({ spans, tree, isLoading }: TotalsProps) {
  const totals = useMemo(() => {
    const sums = { tokens: 0, cost: 0, models: 0, failed: 0 }
    for (const span of spans) {
      if (!span.isRepeated) {
        sums.tokens += span.tokens
        sums.cost += span.cost
        if (span.type === 'llm') sums.models++
      }
      if (span.hasFailed) sums.failed++
    }
    return sums
  }, [spans])
  const begun = Number.isFinite(tree.start) ? new Date(tree.start * 1000).toISOString() : ''
  return (
    <p class="totals">
      <span title={begun}>{time(begun)}</span>
      <span>
        {counted(spans.length, 'span')}
        {isLoading && ', loading more…'}
      </span>
      <span title="From the first start to the last end">{duration(tree.end - tree.start)}</span>
      {totals.models > 0 && <span>{counted(totals.models, 'model call')}</span>}
      {totals.tokens > 0 && <span>{counted(totals.tokens, 'token')}</span>}
      {totals.cost > 0 && <span>{cost(totals.cost)}</span>}
      {totals.failed > 0 && <span class="bad">{counted(totals.failed, 'error')}</span>}
    </p>
  )
}
