/**
 * Binds a whole query: sources to objects, names to fields, projections to output columns. Nested
 * queries are bound first; what they select is substituted in the expressions above them.
 */
import { AssayError } from '../error.ts'
import type { CountClause, Expression, Projection, Query } from '../parser/ast.ts'
import { endOf } from '../parser/check-clauses.ts'
import type { Path } from '../type/value.ts'
import type { BindContext } from './bind-context.ts'
import { bindCursor } from './bind-cursor.ts'
import { ExpressionBinder } from './bind-expression.ts'
import { containsAggregate, GroupBinder, type Grouping } from './bind-groups.ts'
import { RowBinder } from './bind-rows.ts'
import { TableBinder } from './bind-table.ts'
import type {
  BoundExpression,
  BoundOutput,
  BoundPivot,
  BoundQuery,
  BoundSample,
  BoundSortKey,
  BoundSource,
  BoundUnpivot,
  Preview,
} from './bound.ts'
import type { FieldSource } from './field-source.ts'
import { InferredFields } from './inferred-fields.ts'
import { columnName } from './projection.ts'
import { QueryFields } from './query-fields.ts'
import { Scope } from './scope.ts'

/** Throws the error of the first thing in the query that cannot be bound. */
export function bindQuery(query: Query, context: BindContext): BoundQuery {
  return bindWithFields(query, context).bound
}

interface BoundWithFields {
  readonly bound: BoundQuery
  /** Of the rows that the query is made of. */
  readonly fields: FieldSource
}

/** Rows that `infer` looks at if it is not said how many: the newest. */
const inferredRows = 10_000

/** Levels of objects that it enters if it is not said how many. */
const inferredDepth = 12

/** Characters of a long field in a summary, unless it is said how many. */
const summaryPreview = 124

function bindWithFields(query: Query, context: BindContext): BoundWithFields {
  if (query.finalDimensions || query.finalMeasures) {
    return bindWithFields(withNestedGroups(query), context)
  }
  const { from } = query
  if (!from) {
    throw new AssayError('BIND_UNKNOWN_SOURCE', 'the query names no source', {
      span: endOf(query),
      hint: 'add "from: experiment(\'id\')", or another source',
    })
  }
  if (from.kind === 'table') {
    const table = new TableBinder(query, from, context)
    return { bound: bindOver(query, table.fields, table, context), fields: table.fields }
  }
  const inner = bindWithFields(from.query, context)
  const fields = new QueryFields(inner.bound, inner.fields)
  return { bound: bindOver(query, fields, inner.bound, context), fields }
}

/** A second grouping is a query over the first. */
function withNestedGroups(query: Query): Query {
  const { finalDimensions, finalMeasures, sort, limit, offset, cursor, ...inner } = query
  return {
    kind: 'query',
    dimensions: finalDimensions,
    measures: finalMeasures,
    from: { kind: 'subquery', query: inner, span: query.span },
    sort,
    limit,
    offset,
    cursor,
    span: query.span,
  }
}

function bindOver(
  query: Query,
  fields: FieldSource,
  below: TableBinder | BoundQuery,
  context: BindContext,
): BoundQuery {
  const table = below instanceof TableBinder ? below : undefined
  const scope = new Scope(fields)
  const rows = new ExpressionBinder(scope, context)
  const unpivots = bindUnpivots(query, scope, rows, below)
  const { output, sort, finalFilter, pivot, bindFilter } = bindOutput(
    query,
    scope,
    context,
    unpivots.count,
  )
  const filter = bindFilters(query, table, bindFilter, unpivots.names)
  const cursor = bindCursor(query, {
    isPageable:
      output.kind === 'rows' &&
      table !== undefined &&
      table.kind !== 'comparison' &&
      !(table.isHistory && sort.length === 0),
    hasUnpivots: unpivots.bound.length > 0,
    isTraces: table?.kind === 'traces',
    sortKeys: sort.length,
  })
  const sample = bindSample(query, fields, context)
  const page = { limit: query.limit?.value, offset: (query.offset?.value ?? 0) + cursor.rowsBefore }
  // Of traces, a page is a number of traces, with all of their spans.
  const ofTraces = table?.kind === 'traces' && output.kind === 'rows'
  const source: BoundSource =
    below instanceof TableBinder
      ? below.source(filter.span, filter.spanOfTrace, {
          sort: ofTraces && unpivots.bound.length === 0 ? sort : [],
          limit: ofTraces ? page.limit : undefined,
          offset: ofTraces ? page.offset : 0,
          after: ofTraces ? cursor.after : undefined,
          sample: table?.kind === 'traces' ? sample : undefined,
        })
      : { kind: 'query', query: below }
  return {
    source,
    semiJoinSets: table?.records.semiJoinSets ?? [],
    unpivots: unpivots.bound,
    filter: filter.row,
    sample: table?.kind === 'traces' ? undefined : sample,
    output,
    finalFilter,
    pivot,
    sort,
    limit: ofTraces ? undefined : page.limit,
    offset: ofTraces ? 0 : page.offset,
    after: ofTraces ? undefined : cursor.after,
    afterSorted: cursor.afterSorted,
    preview: previewOf(query.previewLength, table),
  }
}

function bindUnpivots(
  query: Query,
  scope: Scope,
  binder: ExpressionBinder,
  below: TableBinder | BoundQuery,
) {
  const names = new Set<string>()
  // Those of a nested query keep their places.
  const first = below instanceof TableBinder ? 0 : countUnpivots(below)
  const bound = (query.unpivot ?? []).map(({ expression, name, value, span }, i): BoundUnpivot => {
    const unpivot = { expression: binder.bind(expression), index: first + i }
    for (const made of [name, value]) {
      if (made === undefined) continue
      if (names.has(made)) {
        throw new AssayError('BIND_DUPLICATE_NAME', `two unpivots give the name "${made}"`, {
          span,
          hint: 'give one of them another name',
        })
      }
      names.add(made)
    }
    scope.addUnpivot(unpivot.index, name, value)
    return unpivot
  })
  return { bound, names, count: first + bound.length }
}

/** How many unpivots the rows of a query have gone through. */
function countUnpivots({ unpivots, source, output }: BoundQuery): number {
  const expansions = output.kind === 'groups' && output.expansion ? 1 : 0
  return unpivots.length + expansions + (source.kind === 'query' ? countUnpivots(source.query) : 0)
}

interface OutputParts {
  readonly output: BoundOutput
  readonly sort: readonly BoundSortKey[]
  readonly finalFilter: BoundExpression | undefined
  readonly pivot: BoundPivot | undefined
  /** Binds a condition on rows, which may use names of columns. */
  bindFilter(condition: Expression): BoundExpression
}

function bindOutput(
  query: Query,
  scope: Scope,
  context: BindContext,
  unpivotCount: number,
): OutputParts {
  if (query.infer) return bindInferred(query, query.infer, scope, context)
  const grouping = groupingOf(query)
  return grouping
    ? bindGroups(query, grouping, scope, context, unpivotCount)
    : bindRows(query, scope, context)
}

function bindRows(query: Query, scope: Scope, context: BindContext): OutputParts {
  const binder = new RowBinder(scope, context)
  binder.bind(query)
  return {
    output: binder.output(),
    sort: binder.bindSort(query.sort ?? []),
    finalFilter: query.finalFilter && binder.condition(query.finalFilter),
    pivot: undefined,
    bindFilter: (condition) => binder.condition(condition),
  }
}

function bindGroups(
  query: Query,
  grouping: Grouping,
  scope: Scope,
  context: BindContext,
  unpivotCount: number,
): OutputParts {
  const rows = new ExpressionBinder(scope, context)
  for (const projection of query.customColumns ?? []) {
    scope.addAlias(columnName(projection), rows.bind(projection.expression))
  }
  const binder = new GroupBinder(scope, context, unpivotCount)
  binder.bind(grouping)
  const pivot = query.pivot && binder.bindPivot(query.pivot)
  const finalFilter = query.finalFilter && binder.bindFinalFilter(query.finalFilter)
  const sort = binder.bindSort(query.sort ?? [], pivot)
  return {
    output: binder.output(pivot?.columns),
    sort,
    finalFilter,
    pivot: pivot?.pivot,
    bindFilter: (condition) => rows.bind(condition),
  }
}

function bindInferred(
  query: Query,
  infer: readonly Expression[],
  scope: Scope,
  context: BindContext,
): OutputParts {
  const rows = new ExpressionBinder(scope, context)
  const fields = infer.flatMap((node): Path[] => {
    if (node.kind === 'star') return []
    const bound = rows.bind(node)
    if (bound.kind === 'field') return [bound.path]
    throw new AssayError('BIND_INVALID_OPTION', 'infer takes fields', {
      span: node.span,
      hint: 'for example infer: metadata, scores',
    })
  })
  const results = new RowBinder(new Scope(new InferredFields()), context)
  return {
    output: {
      kind: 'infer',
      // A star stands for all fields, whatever stands beside it.
      fields: infer.some(({ kind }) => kind === 'star') ? [] : fields,
      budget: query.inferenceBudget?.value ?? inferredRows,
      depth: context.inferenceDepth ?? inferredDepth,
    },
    sort: results.bindSort(query.sort ?? []),
    finalFilter: query.finalFilter && results.condition(query.finalFilter),
    pivot: undefined,
    bindFilter: (condition) => rows.bind(condition),
  }
}

/** How rows are grouped; undefined when they are not. */
function groupingOf(query: Query): Grouping | undefined {
  const { select, distinct, dimensions, measures, pivot } = query
  if (!select && (dimensions || measures)) {
    return { dimensions: dimensions ?? [], measures: measures ?? [], select: undefined }
  }
  if (!select) return undefined
  if (pivot && !dimensions) return pivotGrouping(select, pivot)
  if (distinct) {
    const star = select.find(({ expression }) => expression.kind === 'star')
    if (star) {
      throw new AssayError('BIND_UNSUPPORTED', 'records are distinct by their id anyway', {
        span: star.span,
        hint: 'name the fields whose different values you want',
      })
    }
    return { dimensions: dimensions ?? select, measures: [], select }
  }
  const isGrouped = dimensions || select.some(({ expression }) => containsAggregate(expression))
  return isGrouped ? { dimensions: dimensions ?? [], measures: [], select } : undefined
}

/** Without GROUP BY, a pivot groups by what is selected beside its measures. */
function pivotGrouping(
  select: readonly Projection[],
  { key, measures }: NonNullable<Query['pivot']>,
): Grouping {
  const named = select.filter(({ expression }) => expression.kind !== 'star')
  const dimensions = named.filter(({ expression }) => !containsAggregate(expression))
  const keyProjection = key && { expression: key, alias: undefined, span: key.span }
  if (named.length < select.length) {
    return {
      dimensions: keyProjection ? [...dimensions, keyProjection] : dimensions,
      measures,
      select: undefined,
    }
  }
  return {
    dimensions: keyProjection ? [...dimensions, keyProjection] : dimensions,
    measures: [],
    select,
  }
}

interface BoundFilters {
  readonly span: BoundExpression | undefined
  readonly spanOfTrace: BoundExpression | undefined
  readonly row: BoundExpression | undefined
}

function bindFilters(
  query: Query,
  table: TableBinder | undefined,
  bindRow: (condition: Expression) => BoundExpression,
  unpivotNames: ReadonlySet<string>,
): BoundFilters {
  if (!table) {
    return { span: undefined, spanOfTrace: undefined, row: query.filter && bindRow(query.filter) }
  }
  const conditions = table.conditions(unpivotNames)
  const restriction = table.restriction ? [table.restriction] : []
  const bindSpan = (condition: Expression) => table.bindSpan(condition)
  const isOfSpans = table.kind !== 'spans'
  const spanOfTrace = conditions.spanOfTrace.map(bindSpan)
  // Spans of a trace are rows already; those of a summary are gone when its rows are made.
  const ofTraces = table.kind === 'traces' ? spanOfTrace : []
  return {
    span: allOf([...(isOfSpans ? restriction : []), ...conditions.span.map(bindSpan)]),
    spanOfTrace: allOf(spanOfTrace),
    row: allOf([...(isOfSpans ? [] : restriction), ...ofTraces, ...conditions.row.map(bindRow)]),
  }
}

function allOf(conditions: readonly BoundExpression[]): BoundExpression | undefined {
  if (conditions.length <= 1) return conditions[0]
  return { kind: 'and', operands: conditions, type: 'boolean' }
}

function bindSample(
  { sample }: Query,
  fields: FieldSource,
  context: BindContext,
): BoundSample | undefined {
  if (!sample) return undefined
  if (fields.star()?.fields !== true || !fields.field(['_pagination_key'])) {
    throw new AssayError('BIND_UNSUPPORTED', 'a sample is taken of records', {
      span: sample.span,
      hint: 'sample in the innermost query',
    })
  }
  // The context's is read only where it is needed: a query that reads it is another every time.
  const { method, seed = context.randomSeed } = sample
  return method.type === 'rate'
    ? { kind: 'rate', rate: method.value, seed }
    : { kind: 'count', count: method.value, seed }
}

function previewOf(
  clause: CountClause | undefined,
  table: TableBinder | undefined,
): Preview | undefined {
  const isSummary = table?.kind === 'summary' || table?.kind === 'comparison'
  const length = clause?.value ?? (isSummary ? summaryPreview : -1)
  if (length >= 0) return { length }
  if (length === -1) return undefined
  throw new AssayError('BIND_INVALID_OPTION', `preview_length cannot be ${length}`, {
    ...(clause && { span: clause.span }),
    hint: 'give a number of characters, or -1 for no limit',
  })
}
