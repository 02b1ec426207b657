/** Comparisons of a field with something else, as bounds of the field may decide about them. */
import type { BoundExpression } from '../../binder/bound.ts'
import { swapped } from '../../kernel/compare.ts'
import type { Path } from '../../type/value.ts'

export type ComparisonExpression = Extract<BoundExpression, { kind: 'comparison' }>

export interface ComparedField {
  readonly operator: Exclude<ComparisonExpression['operator'], 'is_same' | 'is_different'>
  readonly path: Path
  readonly constant: BoundExpression
}

/** A comparison as one of a field with something else. */
export function comparedField({
  operator,
  left,
  right,
}: ComparisonExpression): ComparedField | undefined {
  if (operator === 'is_same' || operator === 'is_different') return undefined
  if (left.kind === 'field') return { operator, path: left.path, constant: right }
  if (right.kind !== 'field') return undefined
  return { operator: swapped[operator], path: right.path, constant: left }
}

export interface NumberConstant {
  readonly type: 'number' | 'timestamp'
  readonly value: number
}

/** What columns of numbers have bounds for; times in milliseconds. */
export function numberOf(constant: BoundExpression): NumberConstant | undefined {
  if (constant.kind === 'timestamp') {
    // Of others, bounds in milliseconds tell too little.
    return constant.microseconds ? undefined : { type: 'timestamp', value: constant.ms }
  }
  if (constant.kind !== 'constant' || typeof constant.value !== 'number') return undefined
  return { type: 'number', value: constant.value }
}

export type ComparedNumber = Pick<ComparedField, 'operator' | 'path'> & NumberConstant

/** A comparison as one of a field with a number or a time. */
export function comparedNumber(comparison: ComparisonExpression): ComparedNumber | undefined {
  const compared = comparedField(comparison)
  const constant = compared && numberOf(compared.constant)
  if (!constant) return undefined
  const { operator, path } = compared
  const { type, value } = constant
  return { operator, path, type, value }
}
