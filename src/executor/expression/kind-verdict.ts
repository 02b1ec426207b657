/** What predicates are for all values of a kind alike, so that those need not be read. */
import type { BoundExpression } from '../../binder/bound.ts'
import { applyOperator, constantValue, type EvaluationContext } from '../../binder/evaluate.ts'
import { kindOf, Timestamp, type Value, type ValueKind } from '../../type/value.ts'
import type { PartKind } from './batch.ts'

/** The same for every value of a part; undefined: it depends on the value. */
export type KindVerdict = (kind: PartKind) => Value | undefined

/** A value of each kind. What is JSON, or lies elsewhere, may be of several. */
const samples: ReadonlyMap<PartKind, Value> = new Map<PartKind, Value>([
  ['number', 0],
  ['timestamp', new Timestamp(0)],
  ['boolean', true],
  ['text', ''],
  ['object', {}],
])

/**
 * Values of different kinds compare alike, whatever they are. So of a comparison with a constant all
 * numbers are one case if that is no number; likewise of a list of constants.
 */
export function compileKindVerdict(node: BoundExpression, context: EvaluationContext): KindVerdict {
  const verdicts = new Map<PartKind, Value | undefined>()
  return (kind) => {
    if (!verdicts.has(kind)) verdicts.set(kind, verdictOf(node, kind, context))
    return verdicts.get(kind)
  }
}

function verdictOf(
  node: BoundExpression,
  kind: PartKind,
  context: EvaluationContext,
): Value | undefined {
  const sample = samples.get(kind)
  if (sample === undefined) return undefined
  switch (node.kind) {
    case 'and':
    case 'or': {
      const operands = node.operands.map((operand) => verdictOf(operand, kind, context))
      if (operands.some((operand) => operand === undefined)) return undefined
      return applyOperator(node, operands as readonly Value[], context)
    }
    case 'comparison': {
      const isLeft = node.left.kind === 'field'
      if (isLeft === (node.right.kind === 'field')) return undefined
      const other = constantValue(isLeft ? node.right : node.left, context)
      if (other === undefined || !isOther(kindOf(sample), other)) return undefined
      return applyOperator(node, isLeft ? [sample, other] : [other, sample], context)
    }
    case 'in': {
      const list = constantValue(node.list, context)
      if (node.operand.kind !== 'field' || !Array.isArray(list)) return undefined
      if (!list.every((item: Value) => isOther(kindOf(sample), item))) return undefined
      return applyOperator(node, [sample, list], context)
    }
    default:
      return undefined
  }
}

/** Whether a constant is of another kind, and what it is does not matter to values of that kind. */
function isOther(kind: ValueKind, constant: Value): boolean {
  const other = kindOf(constant)
  // A text may be the text of a time.
  const isTime = (a: ValueKind, b: ValueKind) => a === 'timestamp' && b === 'string'
  return kind !== other && !isTime(kind, other) && !isTime(other, kind)
}
