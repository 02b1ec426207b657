/** Random queries over the records of `arbitrary-record.ts`, as syntax trees without places. */
import fc from 'fast-check'
import type {
  Expression,
  Projection,
  Query,
  SortKey,
  Source,
  TableSource,
  Unpivot,
} from '../../src/parser/ast.ts'
import {
  aggregatesOver,
  callOf,
  comparison,
  type Expressions,
  expressionsOver,
  literal,
  literals,
  named,
  numberPaths,
  path,
  span,
  spanPaths,
} from './arbitrary-expression.ts'

/** What a query can be made over. */
interface Ground {
  readonly from: Source
  readonly paths: readonly Expression[]
  readonly numeric: readonly Expression[]
  readonly ofSpans: 'same' | 'other' | 'none'
  /** What the names of columns begin with, so that they are not those of a nested query. */
  readonly prefix?: string
  readonly unpivot?: readonly Unpivot[]
  readonly comparisonKey?: Expression
}

type Clauses = Partial<Omit<Query, 'kind' | 'from' | 'span'>>

export function tableOf(ids: readonly string[], shape: string | undefined): TableSource {
  return {
    kind: 'table',
    table: 'experiment',
    tableSpan: span,
    ids: ids.map((value) => ({ value, span })),
    shape,
    shapeSpan: shape === undefined ? undefined : span,
    span,
  }
}

function maybe<T>(value: fc.Arbitrary<T>, freq = 1): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq })
}

function columns(list: readonly Expression[], prefix: string): Projection[] {
  return list.map((expression, i) => named(expression, `${prefix}${i}`))
}

const counts = maybe(fc.integer({ min: 0, max: 6 }).map((value) => ({ value, span })))
const directions = fc.constantFrom('asc' as const, 'desc' as const)

/** A number alone would count output columns. */
function sortKeys(ground: Ground, { value }: Expressions): fc.Arbitrary<readonly SortKey[]> {
  const sortable = value.filter(({ kind }) => kind !== 'literal')
  const key = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...ground.paths, path(`${ground.prefix ?? ''}c0`)),
        fc.constant(literal(1)),
        sortable,
      ),
      directions,
    )
    .map(([expression, direction]) => ({ expression, direction, span }))
  return fc.array(key, { minLength: 1, maxLength: 2 })
}

/** Conditions may use what is selected by its name. */
function filterOf(ground: Ground, { condition }: Expressions): fc.Arbitrary<Expression> {
  const ofAlias = comparison(fc.oneof(fc.constant(path(`${ground.prefix ?? ''}c0`)), literals))
  return fc.oneof(
    { weight: 6, arbitrary: condition },
    { weight: 1, arbitrary: ofAlias },
    {
      weight: 1,
      arbitrary: fc
        .tuple(condition, ofAlias)
        .map((operands) => ({ kind: 'and' as const, operands, span })),
    },
  )
}

function rowClauses(ground: Ground): fc.Arbitrary<Clauses> {
  const expressions = expressionsOver(ground.paths, ground.ofSpans)
  const { value, condition } = expressions
  const select = fc
    .array(value, { minLength: 1, maxLength: 3 })
    .map((list) => columns(list, `${ground.prefix ?? ''}c`))
  const filter = isOfTraces(ground) ? condition : filterOf(ground, expressions)
  return fc.record({
    select,
    filter: maybe(filter),
    finalFilter: maybe(condition, 4),
    sort: maybe(sortKeys(ground, expressions)),
    customColumns: maybe(
      fc.tuple(value).map((list) => columns(list, `${ground.prefix ?? ''}custom`)),
      6,
    ),
    weightedScores: maybe(
      fc.tuple(value).map((list) => columns(list, `${ground.prefix ?? ''}w`)),
      6,
    ),
    previewLength: maybe(
      fc.constantFrom(-1, 0, 3).map((value) => ({ value, span })),
      6,
    ),
    limit: counts,
    offset: counts,
  })
}

/** Conditions on the spans of traces cannot use names of what is calculated. */
function isOfTraces({ from }: Ground): boolean {
  return from.kind === 'table' && from.shape !== undefined && from.shape !== 'spans'
}

function starClauses(ground: Ground): fc.Arbitrary<Clauses> {
  const { value, condition } = expressionsOver(ground.paths, ground.ofSpans)
  const replaced = ground.from.kind === 'table' ? 'tags' : 'c0'
  return fc.record({
    select: maybe(value).map((replacement) => {
      const replace = replacement ? [named(replacement, replaced)] : []
      return [{ expression: { kind: 'star' as const, replace, span }, alias: undefined, span }]
    }),
    filter: maybe(condition),
    limit: counts,
  })
}

function groupSorts(names: readonly string[]): fc.Arbitrary<readonly SortKey[] | undefined> {
  const keys = names.map((name) => path(name))
  return maybe(
    fc
      .tuple(fc.shuffledSubarray(keys, { minLength: 1 }), directions)
      .map(([list, direction]) => list.map((expression) => ({ expression, direction, span }))),
  )
}

/** `HAVING`: names of columns, or aggregates of its own. */
function groupTest(
  names: readonly string[],
  aggregate: fc.Arbitrary<Expression>,
): fc.Arbitrary<Expression | undefined> {
  const sides = fc.oneof(fc.constantFrom(...names.map((name) => path(name))), literals, aggregate)
  return maybe(comparison(sides), 2)
}

function groupClauses(ground: Ground): fc.Arbitrary<Clauses> {
  const expressions = expressionsOver(ground.paths, ground.ofSpans)
  const aggregate = aggregatesOver(expressions, ground.numeric)
  const written = fc.oneof(
    { weight: 4, arbitrary: aggregate },
    {
      weight: 1,
      arbitrary: fc.tuple(aggregate, aggregate).map(([left, right]) => {
        return { kind: 'arithmetic' as const, operator: 'add' as const, left, right, span }
      }),
    },
  )
  return fc
    .tuple(
      fc
        .array(expressions.value, { maxLength: 2 })
        .map((list) => columns(list, `${ground.prefix ?? ''}d`)),
      fc
        .array(written, { minLength: 1, maxLength: 3 })
        .map((list) => columns(list, `${ground.prefix ?? ''}m`)),
    )
    .chain(([dimensions, measures]) => {
      const names = [...dimensions, ...measures].map(({ alias }) => alias!)
      return fc
        .record({
          filter: maybe(expressions.condition),
          finalFilter: groupTest(names, aggregate),
          sort: groupSorts(names),
          limit: counts,
          offset: counts,
          form: fc.constantFrom('clauses', 'alias', 'ordinal', 'expression'),
        })
        .map(({ form, ...rest }) => ({ ...rest, ...grouping(form, dimensions, measures) }))
    })
}

/** Dimensions and measures, or a select with GROUP BY. */
function grouping(
  form: string,
  dimensions: readonly Projection[],
  measures: readonly Projection[],
): Clauses {
  const given = dimensions.length > 0
  if (form === 'clauses') return { ...(given && { dimensions }), measures }
  const keys = dimensions.map((dimension, i): Projection => {
    const expression =
      form === 'ordinal'
        ? literal(i + 1)
        : form === 'alias'
          ? path(dimension.alias!)
          : dimension.expression
    return { expression, alias: undefined, span }
  })
  // A number among the dimensions is an ordinal.
  const isOrdinal = dimensions.some(({ expression }) => expression.kind === 'literal')
  if (form === 'expression' && isOrdinal) return grouping('ordinal', dimensions, measures)
  return { select: [...dimensions, ...measures], ...(given && { dimensions: keys }) }
}

function distinctClauses(ground: Ground): fc.Arbitrary<Clauses> {
  const { value, condition } = expressionsOver(ground.paths, ground.ofSpans)
  return fc.record({
    select: fc
      .array(value, { minLength: 1, maxLength: 2 })
      .map((list) => columns(list, `${ground.prefix ?? ''}c`)),
    distinct: fc.constant(true),
    filter: maybe(condition),
    limit: counts,
  })
}

/** Keys that are texts or null, so that no two of them have one label. */
const pivotKeys = [path('metadata', 'model'), path('span_attributes', 'type'), path('is_root')]

function pivotClauses(ground: Ground): fc.Arbitrary<Clauses> {
  const expressions = expressionsOver(ground.paths, ground.ofSpans)
  const aggregate = aggregatesOver(expressions, ground.numeric)
  return fc
    .record({
      other: maybe(expressions.value),
      key: fc.constantFrom(...pivotKeys),
      isFirst: fc.boolean(),
      isNamed: fc.boolean(),
      measure: aggregate,
      further: maybe(aggregate),
      filter: maybe(expressions.condition),
      limit: counts,
    })
    .map(({ other, key, isFirst, isNamed, measure, further, filter, limit }) => {
      const others = other ? [named(other, 'd0')] : []
      const last = named(key, 'k')
      const measures = [named(path('m0'), 'short'), ...(further ? [named(further, 'own')] : [])]
      const plain = { expression: path('m0'), alias: undefined, span }
      return {
        dimensions: isFirst ? [last, ...others] : [...others, last],
        measures: [named(measure, 'm0')],
        pivot: {
          measures: isNamed ? measures : [plain],
          key: isFirst ? path('k') : undefined,
          span,
        },
        filter,
        limit,
      }
    })
}

function clausesOver(ground: Ground): fc.Arbitrary<Clauses> {
  const hasPivotKeys = ground.from.kind === 'table' && !ground.comparisonKey
  return fc.oneof(
    { weight: 5, arbitrary: rowClauses(ground) },
    { weight: 1, arbitrary: starClauses(ground) },
    { weight: 4, arbitrary: groupClauses(ground) },
    { weight: 1, arbitrary: distinctClauses(ground) },
    { weight: hasPivotKeys ? 1 : 0, arbitrary: pivotClauses(ground) },
  )
}

function complete(ground: Ground, clauses: Clauses): Query {
  const { from, unpivot, comparisonKey } = ground
  return {
    kind: 'query',
    ...clauses,
    from,
    ...(unpivot && { unpivot }),
    ...(comparisonKey && { comparisonKey }),
    span,
  }
}

const sources = fc.constantFrom(['e'], ['e'], ['e', 'f'])

/** Of records and spans. */
export const spanQueries: fc.Arbitrary<Query> = sources
  .map((ids): Ground => {
    return {
      from: tableOf(ids, undefined),
      paths: spanPaths,
      numeric: numberPaths,
      ofSpans: 'same',
    }
  })
  .chain((ground) => clausesOver(ground).map((clauses) => complete(ground, clauses)))

/** All spans of traces that have one which matches. */
export const traceQueries: fc.Arbitrary<Query> = sources
  .map((ids): Ground => {
    return { from: tableOf(ids, 'traces'), paths: spanPaths, numeric: numberPaths, ofSpans: 'same' }
  })
  .chain((ground) =>
    fc
      .record({
        clauses: clausesOver(ground),
        spanFilter: maybe(expressionsOver(spanPaths, 'same').condition, 3),
        traceFilter: maybe(expressionsOver(spanPaths, 'none').condition, 2),
        filterSpans: maybe(expressionsOver(spanPaths, 'none').condition, 2),
      })
      .map(({ clauses, spanFilter, traceFilter, filterSpans }) =>
        complete(ground, {
          ...clauses,
          spanFilter,
          traceFilter,
          filter: filterSpans
            ? both(clauses.filter, callOf('filter_spans', filterSpans))
            : clauses.filter,
        }),
      ),
  )

function both(filter: Expression | undefined, other: Expression): Expression {
  return filter ? { kind: 'and', operands: [filter, other], span } : other
}

const summaryPaths = [
  ...spanPaths.filter((of) => JSON.stringify(of) !== JSON.stringify(path('name'))),
  path('metrics', 'llm_calls'),
  path('metrics', 'errors'),
  path('metrics', 'total_tokens'),
  path('metrics', 'start'),
  path('metrics', 'llm_duration'),
  path('metrics', 'time_to_first_token'),
  path('metrics', 'estimated_cost'),
  path('metrics'),
  path('duration'),
  path('tool_errors'),
  path('span_type_info'),
  path('span_type_info', 'has_error'),
]

/** One row per trace. */
export const summaryQueries: fc.Arbitrary<Query> = sources
  .map((ids): Ground => {
    const from = tableOf(ids, 'summary')
    return { from, paths: summaryPaths, numeric: numberPaths, ofSpans: 'other' }
  })
  .chain((ground) => clausesOver(ground).map((clauses) => complete(ground, clauses)))

/** Pairs of traces of two experiments. */
export const comparisonQueries: fc.Arbitrary<Query> = fc
  .constantFrom(path('input'), path('metadata', 'model'), path('tags'), path('root_span_id'))
  .chain((comparisonKey) => {
    const ground: Ground = {
      from: tableOf(['e', 'f'], undefined),
      paths: [
        path('comparison_key'),
        path('compared', 'scores', 'x'),
        path('compared', 'id'),
        path('compared', 'tags'),
        path('score_differences', 'x'),
        path('metric_differences', 'n'),
        path('scores', 'x'),
        path('metrics', 'n'),
        path('output'),
        path('id'),
      ],
      numeric: [path('score_differences', 'x'), path('metric_differences', 'n')],
      ofSpans: 'none',
      comparisonKey,
    }
    return clausesOver(ground).map((clauses) => complete(ground, clauses))
  })

/** Rows of the elements of lists and objects. */
export const unpivotQueries: fc.Arbitrary<Query> = fc
  .tuple(
    sources,
    fc.constantFrom(undefined, undefined, 'traces', 'summary'),
    fc.constantFrom(path('scores'), path('tags'), path('metadata'), path('input'), path('metrics')),
    maybe(fc.constantFrom(path('value'), path('tags'), path('scores'))),
    fc.boolean(),
  )
  .map(([ids, shape, first, second, isNamed]): Ground => {
    const list: Unpivot[] = [
      { expression: first, name: isNamed ? 'key' : undefined, value: 'value', span },
    ]
    if (second) list.push({ expression: second, name: 'inner_key', value: 'inner', span })
    const made = [
      path('value'),
      ...(isNamed ? [path('key')] : []),
      ...(second ? [path('inner')] : []),
    ]
    return {
      from: tableOf(ids, shape),
      paths: [...made, ...made, ...made, ...spanPaths],
      numeric: [path('value'), path('scores', 'x')],
      ofSpans: 'other',
      unpivot: list,
    }
  })
  .filter(isExact)
  .chain((ground) => clausesOver(ground).map((clauses) => complete(ground, clauses)))

/** Sums of values of any kind are exact only if few enough digits are in them. */
function isExact({ unpivot }: Ground): boolean {
  const [first] = unpivot!
  const name = first!.expression.kind === 'path' ? first!.expression.parts[0] : undefined
  return name !== 'input' && name !== 'metadata'
}

/** Queries over the answers of others. */
export const nestedQueries: fc.Arbitrary<Query> = fc
  .oneof(spanQueries, traceQueries, summaryQueries, unpivotQueries)
  .chain((inner) => {
    const names = namesOf(inner)
    const paths = names.flatMap((name) => [path(name), path(name, 'a')])
    const ground: Ground = {
      from: { kind: 'subquery', query: inner, span },
      paths,
      numeric: [callOf('length', path(names[0]!))],
      ofSpans: 'none',
      prefix: 'o',
    }
    return clausesOver(ground).map((clauses) => complete(ground, clauses))
  })

function namesOf({ select, dimensions = [], measures = [], pivot }: Query): readonly string[] {
  if (pivot) return ['d0']
  const shown = select ?? [...dimensions, ...measures]
  const names = shown.flatMap(({ alias }) => alias ?? [])
  return names.length === 0 ? ['input', 'tags', 'id'] : names
}

/** A second grouping of groups. */
export const regroupedQueries: fc.Arbitrary<Query> = spanQueries
  .filter(({ dimensions, measures, pivot }) => !!dimensions && !!measures && !pivot)
  .chain((query) => {
    const names = namesOf(query)
    const { value, condition } = expressionsOver(
      names.map((name) => path(name)),
      'none',
    )
    const aggregate = aggregatesOver({ value, condition }, [callOf('length', path(names[0]!))])
    return fc
      .record({
        finalDimensions: maybe(fc.tuple(value).map((list) => columns(list, 'fd'))),
        finalMeasures: fc.tuple(aggregate).map((list) => columns(list, 'fm')),
      })
      .map((final) => ({ ...query, ...final, sort: undefined }))
  })

/** Queries of `experiment('e')` and `experiment('e', 'f')`. */
export const queries: fc.Arbitrary<Query> = fc.oneof(
  { weight: 6, arbitrary: spanQueries },
  { weight: 3, arbitrary: traceQueries },
  { weight: 3, arbitrary: summaryQueries },
  { weight: 2, arbitrary: unpivotQueries },
  { weight: 2, arbitrary: nestedQueries },
  { weight: 1, arbitrary: regroupedQueries },
  { weight: 1, arbitrary: comparisonQueries },
)
