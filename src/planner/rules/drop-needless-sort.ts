import type { BoundAggregate } from '../../binder/bound.ts'
import type { LogicalPlan } from '../logical-plan.ts'
import { fromLeaf, ontoLeaf } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

const ordered: ReadonlySet<string> = new Set(['any_value', 'first', 'last'])

/** Whether what the aggregates give depends on the order of their rows. */
export function takeOrder(aggregates: readonly BoundAggregate[]): boolean {
  return aggregates.some(({ name }) => ordered.has(name))
}

/**
 * Rows are not put into the order of their age when nothing sees it: the next sort falls back on it
 * for ties by itself, and groups come in an order of their own.
 */
export const dropNeedlessSort: Rule = {
  name: 'drop-needless-sort',
  apply: (plan) => {
    const nodes = fromLeaf(plan)
    const kept = nodes.filter((node, i) => !isByAge(node) || isSeen(nodes.slice(i + 1)))
    return kept.length === nodes.length ? plan : ontoLeaf(kept)
  },
}

function isByAge(node: LogicalPlan): boolean {
  return node.kind === 'sort' && node.keys.length === 0
}

/** @param nodes those above the sort, the next one first */
function isSeen(nodes: readonly LogicalPlan[]): boolean {
  const next = nodes.find(({ kind }) => kind !== 'filter' && kind !== 'unpivot')
  if (next?.kind === 'aggregate') return takeOrder(next.aggregates)
  return next?.kind !== 'sort' && next?.kind !== 'top_k'
}
