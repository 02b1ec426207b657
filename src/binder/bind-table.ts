/** Binds a table source with its shape: what its rows are, and which conditions test what. */
import { AssayError } from '../error.ts'
import type { Expression, Query, TableSource } from '../parser/ast.ts'
import { childrenOf } from '../parser/children.ts'
import { suggest } from '../parser/suggest.ts'
import type { Path } from '../type/value.ts'
import type { BindContext } from './bind-context.ts'
import { ExpressionBinder } from './bind-expression.ts'
import { bindSource } from './bind-source.ts'
import type { BoundExpression, BoundObject, BoundSource, BoundTraceSelection } from './bound.ts'
import { ComparisonFields, pairFields } from './comparison-fields.ts'
import type { Call, FieldSource } from './field-source.ts'
import { columnName } from './projection.ts'
import { onlyArgument, RecordFields } from './record-fields.ts'
import { Scope } from './scope.ts'
import { SummaryFields, traceMetrics } from './summary-fields.ts'

export type RowKind = 'spans' | 'traces' | 'summary' | 'comparison'

/** Conditions of a query by what they test. */
export interface Conditions {
  /** Spans: a trace is selected by one for which they are true. Of the shape `spans` there are none. */
  readonly span: readonly Expression[]
  /** Spans of the traces that were selected. */
  readonly spanOfTrace: readonly Expression[]
  /** Rows as the query sees them. */
  readonly row: readonly Expression[]
}

export class TableBinder {
  readonly kind: RowKind
  /** Whether the rows are versions of records. */
  readonly isHistory: boolean
  readonly fields: FieldSource
  readonly records: RecordFields
  /** What the source's own name restricts its rows to. */
  readonly restriction: BoundExpression | undefined
  readonly #objects: readonly BoundObject[]
  readonly #query: Query
  readonly #context: BindContext
  readonly #summary: SummaryFields
  readonly #spans: ExpressionBinder
  #comparison:
    | { key: BoundExpression; scores: BoundExpression; metrics: BoundExpression }
    | undefined

  constructor(query: Query, from: TableSource, context: BindContext) {
    const { objects: found, types, wholeObjects, restriction } = bindSource(from, context.view)
    const isHistory = isHistoryOf(from, found, context)
    this.isHistory = isHistory
    const objects = isHistory ? found.map((object) => ({ ...object, isHistory })) : found
    this.#query = query
    this.#context = context
    this.#objects = objects
    this.restriction = restriction
    this.kind = rowKindOf(query, from, objects)
    this.records = new RecordFields({
      objectTypes: types,
      known: wholeObjects.map((number) => context.knownFields(number)),
      filterSpansHint:
        this.kind === 'spans' ? undefined : 'join it to the rest of the filter with "and"',
    })
    this.#spans = new ExpressionBinder(this.#spanScope(), context)
    this.#summary = new SummaryFields(this.records, (expression) => this.bindSpan(expression))
    this.fields = this.#fieldsOf()
  }

  /** Binds an expression over the spans. */
  bindSpan(expression: Expression): BoundExpression {
    return this.#spans.bind(expression)
  }

  /** @param names what unpivots make: a condition that uses one tests rows */
  conditions(names: ReadonlySet<string>): Conditions {
    const { filter, traceFilter } = this.#query
    const all = filter ? conjunctsOf(filter) : []
    const selected = this.#query.spanFilter ? [anySpan(this.#query.spanFilter)] : []
    if (this.kind === 'spans') {
      const row = [...all, ...selected, ...(traceFilter ? [traceFilter] : [])]
      return { span: [], spanOfTrace: [], row }
    }
    const span: Expression[] = [...selected]
    const spanOfTrace: Expression[] = traceFilter ? [traceFilter] : []
    const row: Expression[] = []
    for (const condition of all) {
      if (condition.kind === 'call' && condition.name === 'filter_spans') {
        spanOfTrace.push(onlyArgument(condition))
      } else if (this.#testsRow(condition, names)) row.push(condition)
      else span.push(condition)
    }
    return { span, spanOfTrace, row }
  }

  /** Called last: of a summary, only what was asked for is aggregated. */
  source(
    span: BoundExpression | undefined,
    spanOfTrace: BoundExpression | undefined,
    page: Omit<BoundTraceSelection, 'filter'>,
  ): BoundSource {
    const objects = this.#objects
    switch (this.kind) {
      case 'spans':
        return { kind: 'objects', objects }
      case 'traces':
        return { kind: 'traces', objects, selection: { ...page, filter: span } }
      default: {
        const grouping = this.#summary.grouping()
        const summary = {
          kind: 'summary',
          objects,
          filter: span,
          spans: spanOfTrace,
          grouping,
        } as const
        return this.#comparison ? { kind: 'comparison', summary, ...this.#comparison } : summary
      }
    }
  }

  #fieldsOf(): FieldSource {
    switch (this.kind) {
      case 'summary':
        return this.#summary
      case 'comparison': {
        const binder = new ExpressionBinder(new Scope(this.#summary), this.#context)
        this.#comparison = {
          key: binder.bind(this.#query.comparisonKey!),
          scores: this.#summary.field(['scores'])!,
          metrics: this.#summary.field(['metrics'])!,
        }
        return new ComparisonFields(this.records)
      }
      default:
        return this.records
    }
  }

  /** Conditions on spans may use the names of selected fields. */
  #spanScope(): Scope {
    const scope = new Scope(this.records)
    for (const projection of this.#query.select ?? []) {
      const { expression } = projection
      const field = expression.kind === 'path' ? this.records.field(expression.parts) : undefined
      if (field) scope.addAlias(columnName(projection), field)
    }
    return scope
  }

  #testsRow(condition: Expression, names: ReadonlySet<string>): boolean {
    if (condition.kind === 'path') return this.#isOfRow(condition.parts, names)
    // Whatever is asked of spans is a condition on spans.
    if (condition.kind === 'call' && condition.name === 'any_span') return false
    return childrenOf(condition).some((child) => this.#testsRow(child, names))
  }

  #isOfRow([first, second]: Path, names: ReadonlySet<string>): boolean {
    const name = String(first)
    if (names.has(name)) return true
    if (this.kind === 'traces') return false
    if (this.kind === 'comparison' && pairFields.has(name)) return true
    if (name === 'metrics' && traceMetrics.has(String(second))) return true
    if (second !== undefined || this.records.isColumn(name)) return false
    if (traceMetrics.has(name)) return true
    const selected = this.#query.select?.find(({ alias }) => alias === name)
    return selected !== undefined && this.#testsRow(selected.expression, names)
  }
}

const shapes = ['spans', 'traces', 'summary', 'history'] as const

/** Clients ask for the versions of prompts with the flag that otherwise asks for a query's own log. */
function isHistoryOf(
  from: TableSource,
  objects: readonly BoundObject[],
  { auditLog }: BindContext,
): boolean {
  if (from.shape !== undefined) return from.shape === 'history'
  return auditLog === true && objects.every(({ type }) => type === 'project_prompts')
}

function rowKindOf(query: Query, from: TableSource, objects: readonly BoundObject[]): RowKind {
  const shape = shapes.find((known) => known === (from.shape ?? 'spans'))
  if (!shape) {
    const near = suggest(from.shape!, shapes)
    throw new AssayError('BIND_INVALID_OPTION', `there is no shape ${from.shape}`, {
      ...(from.shapeSpan && { span: from.shapeSpan }),
      hint: near === undefined ? `the shapes are ${shapes.join(', ')}` : `did you mean ${near}?`,
    })
  }
  const { comparisonKey } = query
  if (!comparisonKey) return shape === 'history' ? 'spans' : shape
  if (objects.length < 2 || shape === 'traces' || shape === 'history') {
    throw new AssayError('BIND_INVALID_OPTION', 'comparison_key needs several experiments', {
      span: comparisonKey.span,
      hint: "name those to compare, the base first: from: experiment('a', 'b')",
    })
  }
  return 'comparison'
}

function conjunctsOf(condition: Expression): readonly Expression[] {
  return condition.kind === 'and' ? condition.operands.flatMap(conjunctsOf) : [condition]
}

function anySpan(condition: Expression): Call {
  const { span } = condition
  return {
    kind: 'call',
    name: 'any_span',
    nameSpan: span,
    arguments: [condition],
    distinct: false,
    filter: undefined,
    span,
  }
}
