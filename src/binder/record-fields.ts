/** The fields of records, and conditions on the traces that they are spans of. */
import { AssayError } from '../error.ts'
import type { Expression } from '../parser/ast.ts'
import { type ObjectType, recordColumn, recordColumns } from '../type/record.ts'
import type { Path, PathPart } from '../type/value.ts'
import { type BoundExpression, hiddenField, repeatedUsageSet, type StaticType } from './bound.ts'
import type { Call, FieldSource, Star } from './field-source.ts'
import { KnownFields } from './known-fields.ts'
import { structuralKey } from './rewrite.ts'

export interface RecordFieldsOptions {
  readonly objectTypes: ReadonlySet<ObjectType>
  /** Of each object. */
  readonly known: readonly KnownFields[]
  /** What to say of `filter_spans` where it is found; undefined where it means its argument. */
  readonly filterSpansHint: string | undefined
}

/** Nested names that the published schema gives every span. */
const schemaFields = new KnownFields([
  ...['name', 'type', 'purpose'].map((name) => ['span_attributes', name]),
  ...[
    'start',
    'end',
    'tokens',
    'prompt_tokens',
    'completion_tokens',
    'prompt_cached_tokens',
    'prompt_cache_creation_tokens',
    'completion_reasoning_tokens',
    'time_to_first_token',
  ].map((name) => ['metrics', name]),
])

export class RecordFields implements FieldSource {
  /** The conditions of `any_span`, in the order in which they must be answered. */
  readonly semiJoinSets: BoundExpression[] = []
  readonly #columns: ReadonlySet<string>
  readonly #options: RecordFieldsOptions

  constructor(options: RecordFieldsOptions) {
    const columns = new Set(options.known.flatMap(({ extra }) => extra))
    for (const column of recordColumns) {
      if (column.in.some((type) => options.objectTypes.has(type))) columns.add(column.name)
    }
    this.#columns = columns
    this.#options = options
  }

  field(path: Path): BoundExpression | undefined {
    const [name] = path
    if (typeof name !== 'string') return undefined
    if (this.#columns.has(name)) {
      if (name === 'classifications' && typeof path[2] === 'string') return ofFirst(path)
      return path.length === 2 && name === 'metrics' && path[1] === 'duration'
        ? durationOf(this.#stored(path))
        : this.#stored(path)
    }
    const isDuration = name === 'duration' && path.length === 1 && this.#columns.has('metrics')
    if (!isDuration || this.nested(name).length > 0) return undefined
    return durationOf(this.#stored(['metrics', 'duration']))
  }

  nested(name: string): readonly Path[] {
    const published = this.#ofColumns(schemaFields.nested(name))
    if (published.length > 0) return published
    const found = this.#ofColumns(this.#options.known.flatMap((fields) => fields.nested(name)))
    const least = Math.min(...found.map((path) => path.length))
    const distinct = new Map(found.map((path) => [JSON.stringify(path), path]))
    return [...distinct.values()].filter((path) => path.length === least)
  }

  names(): Iterable<string> {
    return this.#columns
  }

  call(call: Call, bind: (argument: Expression) => BoundExpression): BoundExpression | undefined {
    switch (call.name) {
      case 'any_span': {
        const condition = bind(onlyArgument(call))
        return this.#spanOfTrace(condition, call)
      }
      case 'filter_spans': {
        const condition = bind(onlyArgument(call))
        const { filterSpansHint } = this.#options
        if (filterSpansHint === undefined) return condition
        throw new AssayError('BIND_UNSUPPORTED', 'filter_spans() cannot be used here', {
          span: call.span,
          hint: filterSpansHint,
        })
      }
      default:
        return undefined
    }
  }

  repeatsUsage(): BoundExpression | undefined {
    if (!this.#columns.has('span_id')) return undefined
    return {
      kind: 'in_traces',
      set: repeatedUsageSet,
      object: { kind: 'field', path: [hiddenField.object], type: 'number' },
      trace: this.#stored(['id']),
      type: 'boolean',
    }
  }

  star(): Star {
    return { fields: true, columns: [] }
  }

  isColumn(name: string): boolean {
    return this.#columns.has(name)
  }

  #stored(path: Path): BoundExpression {
    return { kind: 'field', path, type: fieldType(path) }
  }

  #ofColumns(paths: readonly (readonly string[])[]): readonly (readonly string[])[] {
    return paths.filter((path) => this.#columns.has(path[0]!))
  }

  #spanOfTrace(condition: BoundExpression, call: Call): BoundExpression {
    if (!this.#columns.has('root_span_id')) {
      throw new AssayError('BIND_UNSUPPORTED', 'these rows are no spans', {
        span: call.span,
        hint: 'any_span() is for logs, experiments and datasets',
      })
    }
    const set = this.#traceSetOf(condition)
    return {
      kind: 'in_traces',
      set,
      object: { kind: 'field', path: [hiddenField.object], type: 'number' },
      trace: this.#stored(['root_span_id']),
      type: 'boolean',
    }
  }

  /** Conditions that are the same have one set, so that expressions with them are the same too. */
  #traceSetOf(condition: BoundExpression): number {
    const key = structuralKey(condition)
    const known = this.semiJoinSets.findIndex((other) => structuralKey(other) === key)
    return known >= 0 ? known : this.semiJoinSets.push(condition) - 1
  }
}

/**
 * A classification is a list, the likeliest first, and queries name its fields without saying which:
 * `classifications.Task.id` is that of the first.
 */
function ofFirst(path: Path): BoundExpression {
  const first = [...path.slice(0, 2), 0, ...path.slice(2)]
  const operands = [path, first].map(
    (tried): BoundExpression => ({ kind: 'field', path: tried, type: 'json' }),
  )
  return { kind: 'call', name: 'coalesce', arguments: operands, type: 'json' }
}

/** What was logged, or the time from start to end. */
function durationOf(logged: BoundExpression): BoundExpression {
  const [start, end] = ['start', 'end'].map(
    (name) => ({ kind: 'field', path: ['metrics', name], type: 'number' }) as const,
  )
  const measured: BoundExpression = {
    kind: 'arithmetic',
    operator: 'sub',
    left: end!,
    right: start!,
    type: 'number',
  }
  return { kind: 'call', name: 'coalesce', arguments: [logged, measured], type: 'number' }
}

export function onlyArgument(call: Call): Expression {
  const [only] = call.arguments
  if (only && call.arguments.length === 1) return only
  throw new AssayError('BIND_WRONG_ARGUMENTS', `${call.name}() takes one condition`, {
    span: call.span,
    hint: `for example ${call.name}(error is not null)`,
  })
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
