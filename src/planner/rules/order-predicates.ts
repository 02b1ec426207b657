import { type BoundExpression, childrenOf } from '../../binder/bound.ts'
import { awaitsNow } from '../../binder/evaluate.ts'
import { mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/** Cheap and selective predicates run first, so that others see fewer rows. Ties keep their order. */
export const orderPredicates: Rule = {
  name: 'order-predicates',
  apply: (plan, { isNowOpen = false }) =>
    mapPlan(plan, (node) => {
      if (node.kind !== 'scan' && node.kind !== 'look_up') return node
      const predicates = node.predicates.toSorted((a, b) => cost(a, isNowOpen) - cost(b, isNowOpen))
      const same = predicates.every((predicate, i) => predicate === node.predicates[i])
      return same ? node : { ...node, predicates }
    }),
}

/** Relative, for one row: a comparison of numbers is 1. */
function cost(node: BoundExpression, isNowOpen: boolean): number {
  // It will be a constant.
  if (isNowOpen && awaitsNow(node)) return 0
  const children = childrenOf(node).reduce((total, child) => total + cost(child, isNowOpen), 0)
  switch (node.kind) {
    case 'constant':
    case 'timestamp':
    case 'interval':
      return 0
    case 'field':
      return node.type === 'json' ? 2 : 1
    case 'comparison':
      // Equality leaves few rows to the predicates after it.
      return (children + 1) * (node.operator === 'eq' ? 0.5 : 1)
    case 'like':
    case 'match':
      return children + 50
    case 'includes':
    case 'call':
      return children + 20
    default:
      return children + 1
  }
}
