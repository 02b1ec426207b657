import type { BoundExpression } from '../../binder/bound.ts'
import { constantValue, type EvaluationContext, nodeForValue } from '../../binder/evaluate.ts'
import { mapChildren } from '../../binder/rewrite.ts'
import { type LogicalPlan, mapPlan } from '../logical-plan.ts'
import type { Rule } from '../optimize.ts'

/** Evaluates what no row can change, and drops operands that decide nothing. */
export const foldConstants: Rule = {
  name: 'fold-constants',
  apply: (plan, context) =>
    mapPlan(plan, (node) => mapExpressions(node, (expression) => fold(expression, context))),
}

export function fold(node: BoundExpression, context: EvaluationContext): BoundExpression {
  const folded = mapChildren(node, (child) => fold(child, context))
  if (folded.kind === 'constant' || folded.kind === 'timestamp' || folded.kind === 'interval') {
    return folded
  }
  const value = constantValue(folded, context)
  if (value !== undefined) return nodeForValue(value) ?? folded
  if (folded.kind === 'and' || folded.kind === 'or') return foldLogic(folded)
  return folded
}

/** `x and true` is kept as an `and` of one: an operand alone need not be boolean. */
function foldLogic(node: Extract<BoundExpression, { kind: 'and' | 'or' }>): BoundExpression {
  const neutral = node.kind === 'and'
  const operands = node.operands.filter((operand) => !isConstant(operand, neutral))
  const decided = operands.find((operand) => isConstant(operand, !neutral))
  if (decided) return decided
  const [only] = operands
  if (operands.length === 1 && only!.type === 'boolean') return only!
  return operands.length === node.operands.length ? node : { ...node, operands }
}

function isConstant(node: BoundExpression, value: boolean): boolean {
  return node.kind === 'constant' && node.value === value
}

function mapExpressions(
  plan: LogicalPlan,
  change: (expression: BoundExpression) => BoundExpression,
): LogicalPlan {
  switch (plan.kind) {
    case 'filter': {
      const predicate = change(plan.predicate)
      return predicate === plan.predicate ? plan : { ...plan, predicate }
    }
    case 'project': {
      const columns = mapAll(plan.columns, (column) => {
        const expression = change(column.expression)
        return expression === column.expression ? column : { ...column, expression }
      })
      return columns === plan.columns ? plan : { ...plan, columns }
    }
    case 'aggregate': {
      const keys = mapAll(plan.keys, change)
      const aggregates = mapAll(plan.aggregates, (aggregate) => {
        const argument = aggregate.argument && change(aggregate.argument)
        return argument === aggregate.argument ? aggregate : { ...aggregate, argument }
      })
      const changed = keys !== plan.keys || aggregates !== plan.aggregates
      return changed ? { ...plan, keys, aggregates } : plan
    }
    case 'sort': {
      const keys = mapAll(plan.keys, (key) => {
        const expression = change(key.expression)
        return expression === key.expression ? key : { ...key, expression }
      })
      return keys === plan.keys ? plan : { ...plan, keys }
    }
    default:
      return plan
  }
}

/** The same array when no element changed. */
function mapAll<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change)
  return changed.every((item, i) => item === items[i]) ? items : changed
}
