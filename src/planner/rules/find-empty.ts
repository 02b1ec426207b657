import { mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/** A scan with a predicate that is a constant other than true keeps no row; one that is true goes. */
export const findEmpty: Rule = {
  name: 'find-empty',
  apply: (plan) =>
    mapPlan(plan, (node) => {
      if (node.kind !== 'scan') return node
      const constants = node.predicates.filter(
        ({ kind }) => kind === 'constant' || kind === 'timestamp' || kind === 'interval',
      )
      if (constants.length === 0) return node
      const allTrue = constants.every((p) => p.kind === 'constant' && p.value === true)
      if (!allTrue) return { kind: 'empty', objects: node.objects }
      return { ...node, predicates: node.predicates.filter((p) => !constants.includes(p)) }
    }),
}
