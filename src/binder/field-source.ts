import type { Expression } from '../parser/ast.ts'
import type { Path } from '../type/value.ts'
import type { BoundExpression, OutputColumn } from './bound.ts'

export type Call = Extract<Expression, { kind: 'call' }>

/** What the rows of a source can be asked for, each answer an expression over those rows. */
export interface FieldSource {
  /** Undefined when the first part is no field of the rows. */
  field(path: Path): BoundExpression | undefined
  /** A column that only the data can tell of: what a name stands for when it is nothing else. */
  guessed?(path: Path): BoundExpression | undefined
  /** Paths of nested fields whose last name this is, the best known ones only. */
  nested(name: string): readonly Path[]
  /** First parts of paths. */
  names(): Iterable<string>
  /**
   * A function whose meaning depends on the rows, such as `any_span`; undefined for all others. `bind`
   * binds its arguments over the rows that the source itself reads.
   */
  call(call: Call, bind: (argument: Expression) => BoundExpression): BoundExpression | undefined
  /** Whether the usage of a row is that of other rows, too; undefined where rows are no spans. */
  repeatsUsage?(): BoundExpression | undefined
  /** What `*` stands for; undefined when it cannot be used. */
  star(): Star | undefined
}

/** All fields of the stored row, and further columns, which go before fields of their names. */
export interface Star {
  readonly fields: boolean
  readonly columns: readonly OutputColumn[]
}

/** A step into an expression: where its parts are known, into them. */
export function stepInto(expression: BoundExpression, path: Path): BoundExpression {
  const [first, ...rest] = path
  if (first === undefined) return expression
  if (expression.kind === 'field') {
    return { kind: 'field', path: [...expression.path, ...path], type: 'json' }
  }
  if (expression.kind === 'access') {
    return { ...expression, path: [...expression.path, ...path] }
  }
  if (expression.kind === 'object') {
    const entry = expression.entries.find(([key]) => key === first)
    return entry ? stepInto(entry[1], rest) : { kind: 'constant', value: null, type: 'json' }
  }
  return { kind: 'access', operand: expression, path, type: 'json' }
}
