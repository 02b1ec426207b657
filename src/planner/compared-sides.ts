/** What a comparison makes of its pairs beside their rows: only what the query reads of it. */
import { type BoundExpression, childrenOf } from '../binder/bound.ts'
import type { Path } from '../type/value.ts'
import { withUsedAggregates } from './group-columns.ts'
import type { LogicalPlan } from './logical-plan.ts'
import { fromLeaf, mapExpressions, ontoLeaf } from './map-plan.ts'

const nothing: BoundExpression = { kind: 'constant', value: null, type: 'json' }

/**
 * The same rows, of which scores and metrics that nothing reads are null. What traces have of them is aggregated over
 * their spans, and most of the time of a comparison goes there.
 */
export function withUsedSides(plan: LogicalPlan): LogicalPlan {
  const nodes = fromLeaf(plan)
  const place = nodes.findIndex(({ kind }) => kind === 'compare')
  const comparison = nodes[place]
  if (comparison?.kind !== 'compare') return plan
  const above = nodes.slice(place + 1)
  const used = {
    scores: readsSide(above, 'scores', 'score_differences'),
    metrics: readsSide(above, 'metrics', 'metric_differences'),
  }
  if (used.scores && used.metrics) return plan
  const changed: LogicalPlan = {
    ...comparison,
    scores: used.scores ? comparison.scores : nothing,
    metrics: used.metrics ? comparison.metrics : nothing,
  }
  return withUsedAggregates(ontoLeaf([...nodes.slice(0, place), changed, ...above]))
}

function readsSide(nodes: readonly LogicalPlan[], own: string, differences: string): boolean {
  const isOfSide = (path: Path) => {
    const [name, part] = path
    return name === own || name === differences || (name === 'compared' && (part ?? own) === own)
  }
  return nodes.some((node) => {
    if (node.kind === 'infer' || (node.kind === 'project' && node.star)) return true
    let isRead = false
    mapExpressions(node, (expression) => {
      isRead ||= reads(expression, isOfSide)
      return expression
    })
    return isRead
  })
}

function reads(node: BoundExpression, isWanted: (path: Path) => boolean): boolean {
  if (node.kind === 'field' && isWanted(node.path)) return true
  return childrenOf(node).some((child) => reads(child, isWanted))
}
