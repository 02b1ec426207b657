import type { BoundExpression } from '../../binder/bound.ts'
import type { Path } from '../../type/value.ts'

export interface NullTest {
  readonly path: Path
  /** Whether it is true where the field has a value. */
  readonly isPresent: boolean
}

/** Of a predicate that only asks whether a field is null, or is not. */
export function nullTest(predicate: BoundExpression): NullTest | undefined {
  const isPresent = predicate.kind === 'not'
  const test = isPresent ? predicate.operand : predicate
  if (test.kind !== 'is_null' || test.operand.kind !== 'field') return undefined
  return { path: test.operand.path, isPresent }
}
