/** Predicates that say of one field where its numbers or times lie. */
import type { BoundExpression } from '../../binder/bound.ts'
import { constantValue, type EvaluationContext } from '../../binder/evaluate.ts'
import { type NumberRange, rangeOf } from '../../kernel/compare.ts'
import { isTimeOfNumber, type Path } from '../../type/value.ts'
import { comparedField } from '../scan/compared-field.ts'

/** A field that is in a range of numbers or times, or is another than one of them. */
export interface FieldRange {
  readonly path: Path
  readonly kind: 'number' | 'timestamp'
  /** Undefined: all but `than`. */
  readonly range: NumberRange | undefined
  readonly than: number
}

/** One predicate, or two and more that say from where to where a field goes. */
export interface FilterRange {
  readonly predicate: BoundExpression
  readonly field: FieldRange | undefined
}

/** Comparisons of the same field are made at once, where the first of them stood. */
export function withRanges(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): FilterRange[] {
  const parts = new Map<string, FilterRange>()
  for (const [i, predicate] of predicates.entries()) {
    const field = fieldRange(predicate, context)
    const key = field?.range ? JSON.stringify([field.kind, field.path]) : String(i)
    const known = parts.get(key)
    parts.set(key, known ? both(known, { predicate, field }) : { predicate, field })
  }
  return [...parts.values()]
}

function both(a: FilterRange, b: FilterRange): FilterRange {
  const { range, ...field } = a.field!
  const low = Math.max(range!.low, b.field!.range!.low)
  const high = Math.min(range!.high, b.field!.range!.high)
  const operands = [a.predicate, b.predicate]
  return {
    predicate: { kind: 'and', operands, type: 'boolean' },
    field: { ...field, range: { low, high } },
  }
}

/** What `field op constant` says, where the constant is a number or a time. */
function fieldRange(
  predicate: BoundExpression,
  context: EvaluationContext,
): FieldRange | undefined {
  if (predicate.kind !== 'comparison') return undefined
  const compared = comparedField(predicate)
  if (!compared) return undefined
  const { operator, path } = compared
  const constant = constantValue(compared.constant, context)
  const isTime = isTimeOfNumber(constant)
  if (!isTime && typeof constant !== 'number') return undefined
  const than = isTime ? constant.ms : constant
  const range = operator === 'ne' ? undefined : rangeOf(operator, than)
  return { path, kind: isTime ? 'timestamp' : 'number', range, than }
}
