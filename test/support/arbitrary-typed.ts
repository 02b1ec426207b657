/** Random records with typed fields, and queries of them that mean the same in SQL of DuckDB. */
import fc from 'fast-check'
import type { Expression, Query } from '../../src/parser/ast.ts'
import { callOf, literal, named, path, span } from './arbitrary-expression.ts'
import { tableOf } from './arbitrary-query.ts'
import type { ArbitraryRecord } from './arbitrary-record.ts'

const texts = ['', 'a', 'b', 'ab', 'A b', 'é', 'É', 'hello', '100%', 'a_b', '42', ' x ']
const times = [
  '2024-01-01T00:00:00Z',
  '2024-01-01T12:30:00Z',
  '2024-01-31T23:59:59.500Z',
  '2024-02-29T12:00:00.000001Z',
  '2024-12-30T00:00:00Z',
]
const quarters = fc.integer({ min: -12, max: 12 }).map((number) => number / 4)
const integers = fc.integer({ min: -3, max: 20 })

function present<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(value, { freq: 5 })
}

const text = fc.constantFrom(...texts)

export const typedRecords: fc.Arbitrary<ArbitraryRecord> = fc.record({
  created: fc.constantFrom(...times),
  metadata: fc.record({ s: present(text), t: present(text), f: present(fc.boolean()) }),
  scores: fc.record({ x: present(quarters) }),
  metrics: fc.record({ n: present(integers), m: present(quarters) }),
})

type Arbitrary = fc.Arbitrary<Expression>

/** Expressions by the type of their values. */
type Typed = Record<'number' | 'text' | 'truth' | 'time', Expression>

const numberPaths = [path('scores', 'x'), path('metrics', 'n'), path('metrics', 'm')]
const textPaths = [path('metadata', 's'), path('metadata', 't'), path('id')]
const truthPath = path('metadata', 'f')
const created = path('created')

const patterns = ['%', 'a%', '%b', '_', '%é%', 'A%', '%0\\%', '%l_o'].map(literal)
const expressions = ['^a', 'b', '[0-9]+', 'l{2}o$', '^.?$', 'É|é'].map(literal)

const {
  number,
  text: string,
  truth,
  time,
} = fc.letrec<Typed>((tie) => {
  const depth = { maxDepth: 3, depthIdentifier: 'typed' }
  const [number, text, truth, time] = [tie('number'), tie('text'), tie('truth'), tie('time')]
  return {
    number: fc.oneof(
      depth,
      { weight: 6, arbitrary: fc.constantFrom(...numberPaths) },
      { weight: 3, arbitrary: fc.oneof(quarters, integers).map((value) => literal(value + 0)) },
      { weight: 2, arbitrary: arithmetic(number) },
      { weight: 1, arbitrary: calls(['abs', 'floor', 'ceil', 'round'], number) },
      { weight: 1, arbitrary: number.map((of) => callOf('sqrt', callOf('abs', of))) },
      { weight: 1, arbitrary: calls(['length'], text) },
      { weight: 1, arbitrary: choices(number) },
      { weight: 1, arbitrary: conditional(truth, number) },
      { weight: 1, arbitrary: opposites('negate', number) },
    ),
    text: fc.oneof(
      depth,
      { weight: 6, arbitrary: fc.constantFrom(...textPaths) },
      { weight: 3, arbitrary: fc.constantFrom(...texts).map(literal) },
      { weight: 2, arbitrary: calls(['lower', 'upper', 'trim'], text) },
      { weight: 1, arbitrary: fc.tuple(text, text).map((list) => callOf('concat', ...list)) },
      { weight: 1, arbitrary: substring(text) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(text, fc.constantFrom('a', 'b', 'l'), fc.constantFrom('', 'zz'))
          .map(([of, from, to]) => callOf('replace', of, literal(from), literal(to))),
      },
      { weight: 1, arbitrary: choices(text) },
      { weight: 1, arbitrary: conditional(truth, text) },
    ),
    truth: fc.oneof(
      depth,
      { weight: 2, arbitrary: fc.constant(truthPath) },
      { weight: 4, arbitrary: tests(number) },
      { weight: 4, arbitrary: tests(text) },
      { weight: 2, arbitrary: tests(time, fc.constantFrom(...times).map(literal)) },
      { weight: 3, arbitrary: likes(text) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(text, fc.constantFrom(...expressions))
          .map((list) => callOf('regexp_match', ...list)),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('starts_with', 'ends_with'), text, text)
          .map(([name, ...list]) => callOf(name, ...list)),
      },
      { weight: 3, arbitrary: chains(truth) },
      { weight: 1, arbitrary: opposites('not', truth) },
    ),
    time: fc.oneof(
      depth,
      { weight: 2, arbitrary: fc.constant(created) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom('hour', 'day', 'week', 'month', 'quarter', 'year')
          .map((unit) => callOf('date_trunc', literal(unit), created)),
      },
      { weight: 1, arbitrary: calls(['day', 'month', 'year'], fc.constant(created)) },
    ),
  }
})

function opposites(kind: 'negate' | 'not', value: Arbitrary): Arbitrary {
  return value.map((operand) => ({ kind, operand, span }))
}

function chains(truth: Arbitrary): Arbitrary {
  return fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(truth, { minLength: 2, maxLength: 3 }))
    .map(([kind, operands]) => ({ kind, operands, span }))
}

function arithmetic(number: Arbitrary): Arbitrary {
  return fc
    .tuple(fc.constantFrom('add', 'sub', 'mul', 'div', 'mod'), number, number)
    .map(([operator, left, right]) => ({ kind: 'arithmetic', operator, left, right, span }))
}

function calls(names: readonly string[], argument: Arbitrary): Arbitrary {
  return fc.tuple(fc.constantFrom(...names), argument).map(([name, of]) => callOf(name, of))
}

/** Functions of values of one type. */
function choices(value: Arbitrary): Arbitrary {
  return fc
    .tuple(fc.constantFrom('coalesce', 'nullif', 'least', 'greatest'), value, value)
    .map(([name, ...list]) => callOf(name, ...list))
}

function substring(text: Arbitrary): Arbitrary {
  return fc
    .tuple(text, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 }))
    .map(([of, start, count]) => callOf('substring', of, literal(start), literal(count)))
}

function conditional(truth: Arbitrary, value: Arbitrary): Arbitrary {
  return fc.tuple(truth, value, value).map(([condition, result, otherwise]) => {
    return { kind: 'conditional', branches: [{ condition, result }], otherwise, span }
  })
}

/** @param constants what values are compared with where one side must be written out */
function tests(value: Arbitrary, constants: Arbitrary = value): Arbitrary {
  const operators = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'is_same', 'is_different'] as const
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(...operators), value, fc.oneof(value, constants))
      .map(([operator, left, right]) => ({
        kind: 'comparison' as const,
        operator,
        left,
        right,
        span,
      })),
    fc
      .tuple(value, fc.boolean())
      .map(([operand, negated]) => ({ kind: 'is_null' as const, operand, negated, span })),
    fc.tuple(value, constants, constants, fc.boolean()).map(([operand, low, high, negated]) => {
      return { kind: 'between' as const, operand, low, high, negated, span }
    }),
    fc
      .tuple(value, fc.array(constants, { minLength: 1, maxLength: 3 }), fc.boolean())
      .map(([operand, items, negated]) => {
        const list = { kind: 'array' as const, items, span }
        return { kind: 'in' as const, operand, list, negated, span }
      }),
  )
}

function likes(text: Arbitrary): Arbitrary {
  return fc
    .tuple(text, fc.constantFrom(...patterns), fc.boolean(), fc.boolean())
    .map(([operand, pattern, caseInsensitive, negated]) => {
      return { kind: 'like', operand, pattern, caseInsensitive, negated, span }
    })
}

const anything = fc.oneof(number, string, truth, time)

/** Sums are of quarters, so that no digits cancel. */
const aggregates: Arbitrary = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom('count', 'count_distinct', 'min', 'max'), anything),
      fc.tuple(
        fc.constantFrom('sum', 'avg', 'median', 'stddev', 'var_pop'),
        fc.constantFrom(...numberPaths),
      ),
      fc.tuple(fc.constantFrom('bool_and', 'bool_or'), truth),
    ),
    fc.boolean(),
    fc.option(truth, { nil: undefined, freq: 2 }),
  )
  .map(([[name, of], distinct, filter]) => {
    const call = callOf(name, of) as Extract<Expression, { kind: 'call' }>
    return { ...call, distinct: distinct && ['count', 'sum', 'avg'].includes(name), filter }
  })

const count = fc.option(
  fc.integer({ min: 0, max: 6 }).map((value) => ({ value, span })),
  { nil: undefined },
)
const direction = fc.constantFrom('asc' as const, 'desc' as const)

function isLiteral({ kind }: Expression): boolean {
  return kind === 'literal'
}

const rows = fc
  .record({
    select: fc.array(anything, { minLength: 1, maxLength: 3 }),
    filter: fc.option(truth, { nil: undefined, freq: 4 }),
    sort: fc.array(
      fc.tuple(anything, direction).filter(([key]) => !isLiteral(key)),
      { maxLength: 2 },
    ),
    limit: count,
    offset: count,
  })
  .map(({ select, sort, ...rest }) => ({
    ...rest,
    select: select.map((expression, i) => named(expression, `c${i}`)),
    ...(sort.length > 0 && {
      sort: sort.map(([expression, direction]) => ({ expression, direction, span })),
    }),
  }))

const groups = fc
  .record({
    keys: fc.array(
      anything.filter((key) => !isLiteral(key)),
      { maxLength: 2 },
    ),
    values: fc.array(aggregates, { minLength: 1, maxLength: 3 }),
    filter: fc.option(truth, { nil: undefined }),
    having: fc.option(fc.tuple(fc.constantFrom('ge', 'lt'), integers), { nil: undefined }),
    sorted: fc.option(direction, { nil: undefined }),
    limit: count,
    offset: count,
  })
  .map(({ keys, values, having, sorted, ...rest }) => {
    const total = named(callOf('count', literal(1)), 'total')
    const left = path('total')
    return {
      ...rest,
      ...(keys.length > 0 && { dimensions: keys.map((key, i) => named(key, `d${i}`)) }),
      measures: [total, ...values.map((value, i) => named(value, `m${i}`))],
      ...(having && {
        finalFilter: {
          kind: 'comparison' as const,
          operator: having[0] as 'ge' | 'lt',
          left,
          right: literal(having[1]),
          span,
        },
      }),
      ...(sorted && { sort: [{ expression: left, direction: sorted, span }] }),
    }
  })

/** Queries of `experiment('e')`. */
export const typedQueries: fc.Arbitrary<Query> = fc
  .oneof(rows, groups)
  .map((clauses) => ({ kind: 'query', ...clauses, from: tableOf(['e'], undefined), span }))
