import type { BoundExpression } from '../../binder/bound.ts'
import { mapPlan } from '../map-plan.ts'
import type { Rule } from '../optimize.ts'

/** Makes the conditions of a filter the scan's predicates, one for each operand of an `and`. */
export const pushFilterIntoScan: Rule = {
  name: 'push-filter-into-scan',
  apply: (plan) =>
    mapPlan(plan, (node) => {
      if (node.kind !== 'filter' || node.input.kind !== 'scan') return node
      const predicates = [...node.input.predicates, ...conjuncts(node.predicate)]
      return { ...node.input, predicates }
    }),
}

function conjuncts(predicate: BoundExpression): readonly BoundExpression[] {
  return predicate.kind === 'and' ? predicate.operands.flatMap(conjuncts) : [predicate]
}
