/** The columns of what `infer` says of each field. */
import type { Path } from '../type/value.ts'
import type { BoundExpression, StaticType } from './bound.ts'
import type { FieldSource } from './field-source.ts'

const columns: ReadonlyMap<string, StaticType> = new Map([
  ['field', 'string'],
  ['path', 'json'],
  ['types', 'json'],
  ['count', 'number'],
  ['share', 'number'],
  ['distinct', 'number'],
  ['top_values', 'json'],
])

export const inferredColumns = [...columns].map(([name, type]) => ({
  name,
  expression: { kind: 'field', path: [name], type } satisfies BoundExpression,
}))

export class InferredFields implements FieldSource {
  field(path: Path): BoundExpression | undefined {
    const type = columns.get(String(path[0]))
    return type && { kind: 'field', path, type: path.length === 1 ? type : 'json' }
  }

  nested(): readonly Path[] {
    return []
  }

  names(): Iterable<string> {
    return columns.keys()
  }

  call(): undefined {
    return undefined
  }

  star() {
    return { fields: false, columns: inferredColumns }
  }
}
