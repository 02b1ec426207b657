import type { BoundExpression, ConstantValue } from '../../binder/bound.ts'
import { mapChildren, structuralKey } from '../../binder/rewrite.ts'
import { formatTimestamp } from '../../type/time.ts'
import { Timestamp } from '../../type/value.ts'
import { mapExpressions, mapPlan } from '../map-plan.ts'
import type { Rule } from '../rule.ts'

/** Of fewer values, comparisons one by one are as fast. */
const fewestValues = 4

/**
 * `x = 1 or x = 2 or x in [3, 4]` asks once whether x is among four values, as `x != 1 and …` asks whether it is not:
 * a set of any length takes about as long as one comparison.
 */
export const joinEqualities: Rule = {
  name: 'join-equalities',
  apply: (plan) => mapPlan(plan, (node) => mapExpressions(node, join)),
}

function join(node: BoundExpression): BoundExpression {
  const joined = mapChildren(node, join)
  return joined.kind === 'or' || joined.kind === 'and' ? joinOperands(joined) : joined
}

type Logic = Extract<BoundExpression, { kind: 'and' | 'or' }>
type Field = Extract<BoundExpression, { kind: 'field' }>

interface Membership {
  readonly field: Field
  readonly values: readonly ConstantValue[]
}

function joinOperands(node: Logic): BoundExpression {
  const operands = operandsOf(node, node.kind)
  const ofFields = new Map<string, Membership[]>()
  const keys = operands.map((operand) => {
    const membership = membershipOf(operand, node.kind === 'and')
    if (!membership) return undefined
    const key = structuralKey(membership.field)
    const known = ofFields.get(key)
    if (known) known.push(membership)
    else ofFields.set(key, [membership])
    return key
  })
  const joined = new Map<string, BoundExpression>()
  for (const [key, memberships] of ofFields) {
    const values = memberships.flatMap(({ values }) => values)
    if (memberships.length < 2 || values.length < fewestValues) continue
    joined.set(key, among(memberships[0]!.field, values, node.kind === 'and'))
  }
  if (joined.size === 0) return node
  // Each stands where the first of its comparisons did.
  const left = operands.flatMap((operand, i) => {
    const key = keys[i]
    const set = key === undefined ? undefined : joined.get(key)
    if (!set) return [operand]
    return keys.indexOf(key) === i ? [set] : []
  })
  return left.length === 1 ? left[0]! : { ...node, operands: left }
}

function operandsOf(node: BoundExpression, kind: Logic['kind']): readonly BoundExpression[] {
  if (node.kind !== kind) return [node]
  return (node as Logic).operands.flatMap((operand) => operandsOf(operand, kind))
}

/** The values of which a field is one if the node is true; negated: if the node is not. */
function membershipOf(node: BoundExpression, isNegated: boolean): Membership | undefined {
  if (node.kind === 'comparison' && node.operator === (isNegated ? 'ne' : 'eq')) {
    const { left, right } = node
    const [field, constant] = left.kind === 'field' ? [left, right] : [right, left]
    if (field.kind !== 'field') return undefined
    const value = constantOf(constant, field)
    return value === undefined ? undefined : { field, values: [value] }
  }
  if (isNegated) return node.kind === 'not' ? membershipOf(node.operand, false) : undefined
  if (node.kind !== 'in' || node.operand.kind !== 'field' || node.list.kind !== 'constant') {
    return undefined
  }
  const { value } = node.list
  return Array.isArray(value) ? { field: node.operand, values: value } : undefined
}

/** Times are texts in a list, which a field of times is compared with as times. */
function constantOf(node: BoundExpression, field: Field): ConstantValue | undefined {
  if (node.kind === 'constant') return node.value
  if (node.kind !== 'timestamp' || field.type !== 'timestamp') return undefined
  return formatTimestamp(new Timestamp(node.ms, node.microseconds))
}

function among(
  field: Field,
  values: readonly ConstantValue[],
  isNegated: boolean,
): BoundExpression {
  const list = { kind: 'constant', value: values, type: 'json' } as const
  const member: BoundExpression = { kind: 'in', operand: field, list, type: 'boolean' }
  return isNegated ? { kind: 'not', operand: member, type: 'boolean' } : member
}
