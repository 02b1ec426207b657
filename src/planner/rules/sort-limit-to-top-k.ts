import { mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/** A limit over a sort keeps only the first rows while it sorts. */
export const sortLimitToTopK: Rule = {
  name: 'sort-limit-to-top-k',
  apply: (plan) =>
    mapPlan(plan, (node) => {
      if (node.kind !== 'limit' || node.count === undefined) return node
      if (node.input.kind !== 'sort') return node
      const { keys, input } = node.input
      return { kind: 'top_k', keys, count: node.count, offset: node.offset, input }
    }),
}
