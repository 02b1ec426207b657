import type { BoundExpression } from '../../binder/bound.ts'
import { mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/** More ids than this are faster to scan for. */
const maximumIds = 4096

/** `id = 'x'` and `id in ['x', 'y']` read those records, unless the columnstore was asked for. */
export const lookUpById: Rule = {
  name: 'look-up-by-id',
  apply: (plan, { columnstore }) =>
    columnstore
      ? plan
      : mapPlan(plan, (node) => {
          if (node.kind !== 'scan') return node
          for (const predicate of node.predicates) {
            const ids = idsOf(predicate)
            if (!ids || ids.length > maximumIds) continue
            // The predicate stays among the others: it is the proof that the look-up was right.
            return { ...node, kind: 'look_up', ids: [...new Set(ids)] }
          }
          return node
        }),
}

function idsOf(predicate: BoundExpression): readonly string[] | undefined {
  if (predicate.kind === 'comparison' && predicate.operator === 'eq') {
    const { left, right } = predicate
    const other = isId(left) ? right : isId(right) ? left : undefined
    if (other?.kind === 'constant' && typeof other.value === 'string') return [other.value]
  }
  if (predicate.kind === 'in' && isId(predicate.operand) && predicate.list.kind === 'constant') {
    const { value } = predicate.list
    if (Array.isArray(value)) return value.filter((item) => typeof item === 'string')
  }
  return undefined
}

function isId(node: BoundExpression): boolean {
  return node.kind === 'field' && node.path.length === 1 && node.path[0] === 'id'
}
