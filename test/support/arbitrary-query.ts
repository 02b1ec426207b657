/** Random queries over the records of `arbitrary-record.ts`, as syntax trees without places. */
import fc from 'fast-check'
import type { Expression, Projection, Query, SortKey } from '../../src/parser/ast.ts'
import type { PathPart } from '../../src/type/value.ts'
import { bigIntegers, numbers, texts } from './arbitrary-value.ts'

const span = { start: 0, end: 0 }

function path(...parts: PathPart[]): Expression {
  return { kind: 'path', parts, span }
}

const anyPaths = [
  path('input'),
  path('output'),
  path('metadata'),
  path('metadata', 'a'),
  path('metadata', 'b'),
  path('metadata', 'c', 'd'),
  path('metadata', 'odd key'),
  path('metadata', 'a', 'a'),
  path('metadata', 'missing'),
  path('input', 0),
  path('tags'),
  path('tags', -1),
  path('scores', 'x'),
  path('metrics', 'n'),
  path('created'),
  path('is_root'),
  path('id'),
]

const numberPaths = [path('scores', 'x'), path('metrics', 'n'), path('metadata', 'n')]
const textPaths = [path('output'), path('metadata', 'a'), path('input'), path('id')]

const times = [
  '2024-01-01',
  '2024-01-01T00:00:00.500Z',
  '2024-02-29T12:00:00Z',
  '2024-13-01',
  'soon',
]

function literal(value: null | boolean | number | bigint | string): Expression {
  return { kind: 'literal', value, span }
}

/** A negative number is written with its sign, which the parser takes for part of the literal. */
const literals: fc.Arbitrary<Expression> = fc
  .oneof(
    fc.constant(null),
    fc.boolean(),
    numbers.map((number) => number + 0),
    bigIntegers,
    texts,
    fc.constantFrom(...times),
  )
  .map(literal)

const patterns = fc
  .array(fc.constantFrom('%', '_', 'a', 'b', 'é', 'hello', '\\%', '"', '1', 'A'), { maxLength: 4 })
  .map((parts) => literal(parts.join('')))

const words = fc.constantFrom('a', 'hello', 'HELLO world', 'true', '1', '').map(literal)

const unary = [
  'lower',
  'upper',
  'length',
  'to_string',
  'to_number',
  'to_boolean',
  'abs',
  'floor',
  'day',
  'month',
  'hour',
  'trim',
]
const variadic = ['coalesce', 'least', 'greatest', 'concat']

/** Values of any kind. */
const { value, condition } = fc.letrec<{ value: Expression; condition: Expression }>((tie) => {
  const inner = tie('value')
  const test = tie('condition')
  return {
    value: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'query' },
      { weight: 6, arbitrary: fc.constantFrom(...anyPaths) },
      { weight: 4, arbitrary: literals },
      { weight: 2, arbitrary: arithmetic(inner) },
      { weight: 1, arbitrary: fc.array(inner, { maxLength: 3 }).map(array) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom('a', 'b'), inner).map(object) },
      { weight: 1, arbitrary: conditional(test, inner) },
      { weight: 2, arbitrary: call(inner) },
      { weight: 1, arbitrary: test },
      {
        weight: 1,
        arbitrary: inner.map((operand) => ({ kind: 'negate' as const, operand, span })),
      },
    ),
    condition: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'query' },
      { weight: 6, arbitrary: comparison(inner) },
      { weight: 3, arbitrary: comparison(fc.oneof(fc.constantFrom(...anyPaths), literals)) },
      { weight: 2, arbitrary: chain(test) },
      { weight: 1, arbitrary: test.map((operand) => ({ kind: 'not' as const, operand, span })) },
      { weight: 2, arbitrary: nullTest(inner) },
      { weight: 2, arbitrary: like(inner) },
      { weight: 2, arbitrary: includes(inner) },
      { weight: 1, arbitrary: match(inner) },
      { weight: 2, arbitrary: isIn(inner) },
      { weight: 1, arbitrary: between(inner) },
      { weight: 1, arbitrary: fc.constantFrom(...anyPaths) },
    ),
  }
})

export const values = value
export const conditions = condition

function arithmetic(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const side = fc.oneof(fc.constantFrom(...numberPaths), operand)
  return fc
    .tuple(fc.constantFrom('add', 'sub', 'mul', 'div', 'mod'), side, side)
    .map(([operator, left, right]) => ({ kind: 'arithmetic', operator, left, right, span }))
}

function array(items: readonly Expression[]): Expression {
  return { kind: 'array', items, span }
}

function object(entry: readonly [string, Expression]): Expression {
  return { kind: 'object', entries: [entry], span }
}

function conditional(
  test: fc.Arbitrary<Expression>,
  result: fc.Arbitrary<Expression>,
): fc.Arbitrary<Expression> {
  return fc.tuple(test, result, result).map(([condition, first, otherwise]) => {
    const branches = [{ condition, result: first }]
    return { kind: 'conditional', branches, otherwise, span }
  })
}

function call(argument: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .oneof(
      fc.tuple(fc.constantFrom(...unary), fc.tuple(argument)),
      fc.tuple(fc.constantFrom(...variadic), fc.array(argument, { minLength: 1, maxLength: 3 })),
      fc.tuple(fc.constantFrom('nullif', 'starts_with'), fc.tuple(argument, argument)),
    )
    .map(([name, list]) => {
      const base = { kind: 'call' as const, name, nameSpan: span, distinct: false, span }
      return { ...base, arguments: list }
    })
}

function comparison(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const operators = fc.constantFrom(
    ...(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'is_same', 'is_different'] as const),
  )
  return fc
    .tuple(operators, operand, operand)
    .map(([operator, left, right]) => ({ kind: 'comparison', operator, left, right, span }))
}

function chain(test: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(test, { minLength: 2, maxLength: 3 }))
    .map(([kind, operands]) => ({ kind, operands, span }))
}

function nullTest(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(operand, fc.boolean())
    .map(([of, negated]) => ({ kind: 'is_null', operand: of, negated, span }))
}

function like(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const searched = fc.oneof(fc.constantFrom(...textPaths), operand)
  const pattern = fc.oneof({ weight: 8, arbitrary: patterns }, { weight: 1, arbitrary: operand })
  return fc
    .tuple(searched, pattern, fc.boolean(), fc.boolean())
    .map(([of, by, caseInsensitive, negated]) => {
      return { kind: 'like', operand: of, pattern: by, caseInsensitive, negated, span }
    })
}

function includes(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(operand, operand, fc.boolean())
    .map(([haystack, needle, negated]) => ({ kind: 'includes', haystack, needle, negated, span }))
}

function match(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(operand, words, fc.boolean())
    .map(([of, query, negated]) => ({ kind: 'match', operand: of, query, negated, span }))
}

function isIn(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const list = fc.oneof(
    { weight: 4, arbitrary: fc.array(literals, { maxLength: 4 }).map(array) },
    { weight: 1, arbitrary: operand },
  )
  return fc
    .tuple(operand, list, fc.boolean())
    .map(([of, within, negated]) => ({ kind: 'in', operand: of, list: within, negated, span }))
}

function between(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(operand, operand, operand, fc.boolean())
    .map(([of, low, high, negated]) => ({ kind: 'between', operand: of, low, high, negated, span }))
}

function named(expressions: readonly Expression[], prefix: string): Projection[] {
  return expressions.map((expression, i) => ({ expression, alias: `${prefix}${i}`, span }))
}

/** What aggregates give exactly, whatever the order: sums are over sums of quarters. */
const measures: fc.Arbitrary<Expression> = fc
  .oneof(
    fc.tuple(fc.constantFrom('count', 'min', 'max', 'count_distinct'), value),
    fc.tuple(fc.constantFrom('sum', 'avg', 'median'), fc.constantFrom(...numberPaths)),
    fc.tuple(fc.constantFrom('sum'), condition),
  )
  .map(([name, argument]) => {
    const base = { kind: 'call' as const, name, nameSpan: span, distinct: false, span }
    return { ...base, arguments: [argument] }
  })

/** A number alone would count output columns. */
const sortable = value.filter(({ kind }) => kind !== 'literal')

const sortKeys: fc.Arbitrary<SortKey> = fc
  .tuple(fc.oneof(fc.constantFrom(...anyPaths), sortable), fc.constantFrom('asc', 'desc'))
  .map(([expression, direction]) => ({ expression, direction, span }))

const counts = fc.option(
  fc.integer({ min: 0, max: 6 }).map((count) => ({ value: count, span })),
  { nil: undefined },
)

type Clauses = Omit<Query, 'kind' | 'from' | 'span' | 'cursor'>

const rowClauses: fc.Arbitrary<Clauses> = fc.record({
  select: fc.array(value, { minLength: 1, maxLength: 3 }).map((list) => named(list, 'c')),
  dimensions: fc.constant(undefined),
  measures: fc.constant(undefined),
  filter: fc.option(condition, { nil: undefined }),
  sort: fc.option(fc.array(sortKeys, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  limit: counts,
  offset: counts,
})

/** Groups are sorted by all of their keys, so that the order of ties is not in question. */
const groupClauses: fc.Arbitrary<Clauses> = fc
  .record({
    dimensions: fc.array(value, { maxLength: 2 }).map((list) => named(list, 'd')),
    measures: fc.array(measures, { minLength: 1, maxLength: 3 }).map((list) => named(list, 'm')),
    filter: fc.option(condition, { nil: undefined }),
    direction: fc.constantFrom('asc' as const, 'desc' as const),
    limit: counts,
    offset: counts,
  })
  .map(({ direction, dimensions, ...rest }) => ({
    ...rest,
    select: undefined,
    dimensions: dimensions.length === 0 ? undefined : dimensions,
    sort:
      dimensions.length === 0
        ? undefined
        : dimensions.map(({ alias }) => ({ expression: path(alias!), direction, span })),
  }))

/** Queries of the experiment `id`. */
export function queriesOf(id: string): fc.Arbitrary<Query> {
  return fc.oneof(rowClauses, groupClauses).map((clauses) => ({
    ...clauses,
    kind: 'query',
    from: {
      table: 'experiment',
      tableSpan: span,
      ids: [{ value: id, span }],
      shape: undefined,
      shapeSpan: undefined,
      span,
    },
    cursor: undefined,
    span,
  }))
}
