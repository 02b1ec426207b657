/** Names that a query may use: fields of its source, what unpivots make, and aliases. */
import { AssayError, type Span } from '../error.ts'
import { suggest } from '../parser/suggest.ts'
import type { Path } from '../type/value.ts'
import { type BoundExpression, hiddenField } from './bound.ts'
import { type FieldSource, stepInto } from './field-source.ts'
import { structuralKey } from './rewrite.ts'

export class Scope {
  readonly source: FieldSource
  readonly #unpivoted = new Map<string, BoundExpression>()
  readonly #aliases = new Map<string, BoundExpression>()
  /** Short names that several selected fields share. */
  readonly #ambiguous = new Set<string>()

  constructor(source: FieldSource) {
    this.source = source
  }

  /** The names of the unpivot that is the `index`-th. */
  addUnpivot(index: number, name: string | undefined, value: string): void {
    const field = (hidden: string): BoundExpression => {
      return { kind: 'field', path: [hidden], type: 'json' }
    }
    if (name !== undefined) this.#unpivoted.set(name, field(hiddenField.unpivotName(index)))
    this.#unpivoted.set(value, field(hiddenField.unpivotValue(index)))
  }

  addAlias(name: string, expression: BoundExpression): void {
    const known = this.#aliases.get(name)
    if (known && structuralKey(known) !== structuralKey(expression)) this.#ambiguous.add(name)
    this.#aliases.set(name, expression)
  }

  alias(name: string): BoundExpression | undefined {
    return this.#aliases.get(name)
  }

  /**
   * What a path stands for. Its first part is, in this order: a name that an unpivot makes, a field,
   * an alias, the last name of the only nested field that has it. Throws BIND_UNKNOWN_FIELD and
   * BIND_AMBIGUOUS_FIELD.
   */
  resolve(path: Path, span: Span): BoundExpression {
    const [first, ...rest] = path
    const name = String(first)
    const unpivoted = this.#unpivoted.get(name)
    if (unpivoted) return stepInto(unpivoted, rest)
    const field = this.source.field(path)
    if (field) return field
    const alias = this.#aliases.get(name)
    if (alias) {
      if (this.#ambiguous.has(name)) throw ambiguous(name, [], span)
      return stepInto(alias, rest)
    }
    const nested = this.source.nested(name)
    if (nested.length > 1) throw ambiguous(name, nested, span)
    const [only] = nested
    const found = only && this.source.field([...only, ...rest])
    const resolved = found ?? this.source.guessed?.(path)
    if (resolved) return resolved
    throw this.#unknown(name, span)
  }

  #unknown(name: string, span: Span): AssayError {
    const known = [...this.#aliases.keys(), ...this.#unpivoted.keys(), ...this.source.names()]
    const near = suggest(name, known)
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

/** Most fields that an error lists. */
const listedFields = 5

function ambiguous(name: string, candidates: readonly Path[], span: Span): AssayError {
  const listed = candidates.slice(0, listedFields).map((path) => path.join('.'))
  const more = candidates.length > listedFields ? ', …' : ''
  return new AssayError('BIND_AMBIGUOUS_FIELD', `"${shorten(name)}" may be several fields`, {
    span,
    hint:
      listed.length > 0
        ? `write which: ${listed.join(', ')}${more}`
        : 'write the whole path, or give one of them another name with `as`',
  })
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
