import type { BoundExpression } from '../binder/bound.ts'

/** The conditions that must all be true for the predicate to be. */
export function conjunctsOf(predicate: BoundExpression): readonly BoundExpression[] {
  return predicate.kind === 'and' ? predicate.operands.flatMap(conjunctsOf) : [predicate]
}

/** One condition for several; undefined for none. */
export function conjunction(conditions: readonly BoundExpression[]): BoundExpression | undefined {
  if (conditions.length <= 1) return conditions[0]
  return { kind: 'and', operands: conditions, type: 'boolean' }
}
