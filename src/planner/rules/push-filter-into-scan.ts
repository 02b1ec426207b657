import { type BoundExpression, fieldsOf } from '../../binder/bound.ts'
import { conjunction, conjunctsOf } from '../conjuncts.ts'
import type { LogicalPlan } from '../logical-plan.ts'
import { mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/**
 * Makes the conditions of a filter the scan's predicates, one for each operand of an `and`. Those
 * that use nothing that an unpivot makes go below it.
 */
export const pushFilterIntoScan: Rule = {
  name: 'push-filter-into-scan',
  apply: (plan) =>
    mapPlan(plan, (node) =>
      node.kind === 'filter' ? (push(conjunctsOf(node.predicate), node.input) ?? node) : node,
    ),
}

/** The input with the conditions as far down as they go; undefined when they stay where they are. */
function push(conditions: readonly BoundExpression[], input: LogicalPlan): LogicalPlan | undefined {
  if (input.kind === 'scan') {
    return { ...input, predicates: [...input.predicates, ...conditions] }
  }
  if (input.kind !== 'unpivot') return undefined
  const above = conditions.filter(usesUnpivot)
  const below = conditions.filter((condition) => !above.includes(condition))
  if (below.length === 0) return undefined
  const inner = push(below, input.input)
  const pushed: LogicalPlan = {
    ...input,
    input: inner ?? { kind: 'filter', predicate: conjunction(below)!, input: input.input },
  }
  const predicate = conjunction(above)
  return predicate ? { kind: 'filter', predicate, input: pushed } : pushed
}

function usesUnpivot(condition: BoundExpression): boolean {
  return fieldsOf([condition]).some((path) => /^#(name|value)/.test(String(path[0])))
}
