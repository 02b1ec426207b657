/** The output columns of another query as fields. */
import type { Path } from '../type/value.ts'
import type { BoundExpression, BoundQuery } from './bound.ts'
import { type Call, type FieldSource, type Star, stepInto } from './field-source.ts'

export class QueryFields implements FieldSource {
  readonly #query: BoundQuery
  readonly #columns: ReadonlyMap<string, BoundExpression>
  /** Where its rows come from; their fields are in reach if the query selects `*`. */
  readonly #inner: FieldSource

  constructor(query: BoundQuery, inner: FieldSource) {
    const { output } = query
    this.#query = query
    this.#inner = inner
    const columns = output.kind === 'infer' ? [] : output.columns
    this.#columns = new Map(columns.map(({ name, expression }) => [name, expression]))
  }

  field(path: Path): BoundExpression | undefined {
    const [name, ...rest] = path
    const column = this.#columns.get(String(name))
    if (column) return stepInto(column, rest)
    return this.#showsFields ? this.#inner.field(path) : undefined
  }

  guessed(path: Path): BoundExpression | undefined {
    if (this.#showsFields) return this.#inner.guessed?.(path)
    return this.#hasOtherColumns && typeof path[0] === 'string'
      ? { kind: 'field', path, type: 'json' }
      : undefined
  }

  nested(name: string): readonly Path[] {
    return this.#showsFields ? this.#inner.nested(name) : []
  }

  *names(): Iterable<string> {
    yield* this.#columns.keys()
    if (this.#showsFields) yield* this.#inner.names()
  }

  /** Functions of the source still mean it: rows keep the fields that they were made with. */
  call(call: Call, bind: Parameters<FieldSource['call']>[1]): BoundExpression | undefined {
    if (call.name === 'any_span' || !this.#showsFields) return undefined
    return this.#inner.call(call, bind)
  }

  repeatsUsage(): BoundExpression | undefined {
    return this.#showsFields ? this.#inner.repeatsUsage?.() : undefined
  }

  star(): Star {
    const columns = [...this.#columns].map(([name, expression]) => ({ name, expression }))
    return { fields: this.#showsFields || this.#hasOtherColumns, columns }
  }

  get #showsFields(): boolean {
    const { output } = this.#query
    return output.kind === 'rows' && output.star
  }

  /** Columns that are known only when the query has run. */
  get #hasOtherColumns(): boolean {
    return this.#query.pivot !== undefined || this.#query.output.kind === 'infer'
  }
}
