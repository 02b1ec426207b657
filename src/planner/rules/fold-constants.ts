import { type BoundExpression, childrenOf } from '../../binder/bound.ts'
import {
  constantValue,
  type EvaluationContext,
  isValue,
  nodeForValue,
} from '../../binder/evaluate.ts'
import { mapChildren } from '../../binder/rewrite.ts'
import { mapExpressions, mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/** Evaluates what no row can change, and drops operands that decide nothing. */
export const foldConstants: Rule = {
  name: 'fold-constants',
  apply: (plan, context) =>
    mapPlan(plan, (node) => mapExpressions(node, (expression) => fold(expression, context))),
}

export function fold(node: BoundExpression, context: EvaluationContext): BoundExpression {
  const folded = mapChildren(node, (child) => fold(child, context))
  if (isValue(folded)) return folded
  // What its operands were folded to says whether the node can be: no need to look further down.
  if (childrenOf(folded).some(dependsOnRow)) return withoutNeutral(folded)
  const value = constantValue(folded, context)
  if (value !== undefined) return nodeForValue(value) ?? folded
  return withoutNeutral(folded)
}

/** Lists and objects of times are values too, but no node can hold them. */
function dependsOnRow(node: BoundExpression): boolean {
  return !isValue(node) && node.kind !== 'array' && node.kind !== 'object'
}

function withoutNeutral(folded: BoundExpression): BoundExpression {
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
