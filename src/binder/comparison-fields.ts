/** The fields of a pair of traces; see the stage `compare` for what they are. */
import type { Path } from '../type/value.ts'
import type { BoundExpression } from './bound.ts'
import type { FieldSource, Star } from './field-source.ts'
import type { RecordFields } from './record-fields.ts'

/** Fields that no single trace has: a condition that names one of them tests the pair. */
export const pairFields: ReadonlySet<string> = new Set([
  'compared',
  'comparison_key',
  'metric_differences',
  'score_differences',
])

const madeColumns: ReadonlySet<string> = new Set([
  ...pairFields,
  'experiment_id',
  'metrics',
  'scores',
])

export class ComparisonFields implements FieldSource {
  readonly #records: RecordFields

  constructor(records: RecordFields) {
    this.#records = records
  }

  field(path: Path): BoundExpression | undefined {
    const [name, ...rest] = path
    if (typeof name !== 'string' || !madeColumns.has(name)) return this.#records.field(path)
    const isNumber =
      rest.length === 1 &&
      name !== 'compared' &&
      name !== 'comparison_key' &&
      name !== 'experiment_id'
    return { kind: 'field', path, type: isNumber ? 'number' : 'json' }
  }

  nested(name: string): readonly Path[] {
    return this.#records.nested(name)
  }

  *names(): Iterable<string> {
    yield* this.#records.names()
    yield* pairFields
  }

  call(): undefined {
    return undefined
  }

  star(): Star {
    const columns = [...madeColumns].map((name) => ({ name, expression: this.field([name])! }))
    return { fields: true, columns }
  }
}
