/** Names that a query may use: the columns of its sources, fields its records have, and aliases. */
import { AssayError, type Span } from '../error.ts'
import { suggest } from '../parser/suggest.ts'
import { type ObjectType, recordColumn, recordColumns } from '../type/record.ts'
import type { PathPart } from '../type/value.ts'
import type { BoundExpression, StaticType } from './bound.ts'

export class Scope {
  readonly #columns: ReadonlySet<string>
  readonly #aliases = new Map<string, BoundExpression>()

  /**
   * @param objectTypes the types of the objects that are read
   * @param extraFields top-level fields of their records that are no record columns
   */
  constructor(objectTypes: ReadonlySet<ObjectType>, extraFields: Iterable<string>) {
    const columns = new Set(extraFields)
    for (const column of recordColumns) {
      if (column.in.some((type) => objectTypes.has(type))) columns.add(column.name)
    }
    this.#columns = columns
  }

  addAlias(name: string, expression: BoundExpression): void {
    this.#aliases.set(name, expression)
  }

  alias(name: string): BoundExpression | undefined {
    return this.#aliases.get(name)
  }

  isColumn(name: string): boolean {
    return this.#columns.has(name)
  }

  /** The columns of `select: *`, in alphabetical order. */
  get columnNames(): string[] {
    return [...this.#columns].sort()
  }

  /** A path's field, or the expression of an alias; fields come first. */
  resolve(parts: readonly PathPart[], span: Span): BoundExpression {
    const [name] = parts
    if (typeof name === 'string') {
      if (this.#columns.has(name)) return { kind: 'field', path: parts, type: fieldType(parts) }
      const aliased = parts.length === 1 ? this.#aliases.get(name) : undefined
      if (aliased) return aliased
    }
    throw this.unknownField(String(name), span)
  }

  unknownField(name: string, span: Span): AssayError {
    const near = suggest(name, [...this.#aliases.keys(), ...this.#columns])
    return new AssayError('BIND_UNKNOWN_FIELD', `unknown field "${shorten(name)}"`, {
      span,
      hint:
        near === undefined
          ? 'records have input, output, expected, metadata, scores, metrics, tags, created, …; ' +
            'nested fields are written metadata.model'
          : `did you mean "${near}"?`,
    })
  }
}

/** What the published schema promises for a field; everything else is found out from the data. */
export function fieldType(path: readonly PathPart[]): StaticType {
  const [name] = path
  const column = typeof name === 'string' ? recordColumn(name) : undefined
  if (!column) return 'json'
  if (path.length === 1) {
    return column.type === 'object' || column.type === 'array' ? 'json' : column.type
  }
  const isNumber = path.length === 2 && (name === 'scores' || name === 'metrics')
  return isNumber ? 'number' : 'json'
}

export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
