/** Random expressions over the records of `arbitrary-record.ts`, as syntax trees without places. */
import fc from 'fast-check'
import type { Expression, Projection } from '../../src/parser/ast.ts'
import type { PathPart } from '../../src/type/value.ts'
import { callsOf } from './arbitrary-call.ts'
import { bigIntegers, farTimes, numbers, texts } from './arbitrary-value.ts'

export const span = { start: 0, end: 0 }

export function path(...parts: PathPart[]): Expression {
  return { kind: 'path', parts, span }
}

export function literal(value: null | boolean | number | bigint | string): Expression {
  return { kind: 'literal', value, span }
}

export function callOf(name: string, ...list: readonly Expression[]): Expression {
  const base = { kind: 'call', nameSpan: span, distinct: false, filter: undefined, span } as const
  return { ...base, name, arguments: list }
}

export function named(expression: Expression, alias: string): Projection {
  return { expression, alias, span }
}

export const spanPaths = [
  path('input'),
  path('output'),
  path('error'),
  path('metadata'),
  path('metadata', 'a'),
  path('metadata', 'b'),
  path('metadata', 'c', 'd'),
  path('metadata', 'odd key'),
  path('metadata', 'a', 'a'),
  path('metadata', 'missing'),
  path('metadata', 'model'),
  path('input', 0),
  path('input', 'a'),
  path('output', 'a', 'b'),
  path('tags'),
  path('tags', -1),
  path('scores', 'x'),
  path('scores'),
  path('metrics', 'n'),
  path('metrics', 'duration'),
  path('created'),
  path('is_root'),
  path('id'),
  path('root_span_id'),
  path('span_attributes', 'type'),
  // Nested names that need no path.
  path('name'),
  path('prompt_tokens'),
]

export const numberPaths = [
  path('scores', 'x'),
  path('scores', 'y'),
  path('metrics', 'n'),
  path('metrics', 'tokens'),
  path('metadata', 'n'),
]
const textPaths = [path('output'), path('metadata', 'a'), path('input'), path('id')]

const times = [
  ...farTimes,
  '2024-01-01',
  '2024-01-01T00:00:00.500Z',
  '2024-02-29T12:00:00Z',
  '2024-13-01',
  'soon',
]

/** A negative number is written with its sign, which the parser takes for part of the literal. */
export const literals: fc.Arbitrary<Expression> = fc
  .oneof(
    fc.constant(null),
    fc.boolean(),
    numbers.map((number) => number + 0),
    bigIntegers,
    texts,
    fc.constantFrom('timeout', 'llm', 'm1', 't1'),
    fc.constantFrom(...times),
  )
  .map(literal)

const patterns = fc
  .array(fc.constantFrom('%', '_', 'a', 'b', 'é', 'hello', '\\%', '"', '1', 'A'), { maxLength: 4 })
  .map((parts) => literal(parts.join('')))

const words = fc
  .constantFrom(
    ...['a', 'hello', 'HELLO world', 'true', '1', '', '?!', '🎉', 'C++', '€5', '→', '"a → b"'],
    ...['👩‍💻', '👍', '🇩🇪', '❤️', ':)', '.NET', 'hello, (world)!', '"hello 🎉"', 'a!=1', '100%'],
  )
  .map(literal)

const repeatsUsage = callOf('repeats_usage')
const cost = callOf('estimated_cost')

export interface Expressions {
  /** Values of any kind. */
  readonly value: fc.Arbitrary<Expression>
  readonly condition: fc.Arbitrary<Expression>
}

/** @param ofSpans what conditions can ask of the spans of the trace: of the same paths, or of others */
export function expressionsOver(
  paths: readonly Expression[],
  ofSpans: 'same' | 'other' | 'none',
): Expressions {
  const anyPath = fc.constantFrom(...paths)
  const has = (wanted: Expression) => JSON.stringify(wanted)
  const known = new Set(paths.map(has))
  const numeric = [...numberPaths.filter((x) => known.has(has(x))), ...paths.slice(0, 1)]
  const texts = [...textPaths.filter((x) => known.has(has(x))), ...paths.slice(0, 1)]
  return fc.letrec<{ value: Expression; condition: Expression }>((tie) => {
    const inner = tie('value')
    const test = tie('condition')
    return {
      value: fc.oneof(
        { maxDepth: 3, depthIdentifier: 'query' },
        { weight: 6, arbitrary: anyPath },
        { weight: 4, arbitrary: literals },
        { weight: 2, arbitrary: arithmetic(inner, numeric) },
        { weight: 1, arbitrary: fc.array(inner, { maxLength: 3 }).map(array) },
        { weight: 1, arbitrary: fc.tuple(fc.constantFrom('a', 'b'), inner).map(object) },
        { weight: 1, arbitrary: conditional(test, inner) },
        { weight: 2, arbitrary: call(inner) },
        { weight: 1, arbitrary: access(inner) },
        { weight: 1, arbitrary: test },
        ...(ofSpans === 'same' ? [{ weight: 1, arbitrary: fc.constant(cost) }] : []),
        {
          weight: 1,
          arbitrary: inner.map((operand) => ({ kind: 'negate' as const, operand, span })),
        },
      ),
      condition: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'query' },
        { weight: 6, arbitrary: comparison(inner) },
        { weight: 3, arbitrary: comparison(fc.oneof(anyPath, literals)) },
        { weight: 2, arbitrary: chain(test) },
        { weight: 1, arbitrary: test.map((operand) => ({ kind: 'not' as const, operand, span })) },
        { weight: 2, arbitrary: nullTest(inner) },
        { weight: 2, arbitrary: like(fc.oneof(fc.constantFrom(...texts), inner), inner) },
        { weight: 2, arbitrary: includes(inner) },
        { weight: 1, arbitrary: match(inner) },
        { weight: 2, arbitrary: isIn(inner) },
        { weight: 1, arbitrary: between(inner) },
        { weight: 1, arbitrary: anyPath },
        ...(ofSpans === 'same' ? [{ weight: 1, arbitrary: anySpan(test) }] : []),
        ...(ofSpans === 'same' ? [{ weight: 1, arbitrary: fc.constant(repeatsUsage) }] : []),
        ...(ofSpans === 'other' ? [{ weight: 1, arbitrary: anySpan(conditions) }] : []),
      ),
    }
  })
}

export const { value: values, condition: conditions } = expressionsOver(spanPaths, 'same')

function anySpan(condition: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return condition.map((of) => callOf('any_span', of))
}

function arithmetic(
  operand: fc.Arbitrary<Expression>,
  numeric: readonly Expression[],
): fc.Arbitrary<Expression> {
  const side = fc.oneof(fc.constantFrom(...numeric), operand)
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
  return callsOf(argument, literal).map(({ name, arguments: list }) => callOf(name, ...list))
}

/** A step into what is no path. */
function access(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const made = fc.oneof(
    operand.map((value) => callOf('coalesce', value, literal('none'))),
    operand.map((value) => array([value, literal(1)])),
    operand.map((value) => object(['a', value])),
  )
  return fc
    .tuple(made, fc.array(fc.constantFrom<PathPart>('a', 0, -1), { minLength: 1, maxLength: 2 }))
    .map(([of, parts]) => ({ kind: 'access', operand: of, parts, span }))
}

export function comparison(operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
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

function like(
  searched: fc.Arbitrary<Expression>,
  operand: fc.Arbitrary<Expression>,
): fc.Arbitrary<Expression> {
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

/** What gives one value per group, exactly, whatever the order: sums are over sums of quarters. */
export function aggregatesOver(
  { value, condition }: Expressions,
  numeric: readonly Expression[],
): fc.Arbitrary<Expression> {
  const anyNumber = fc.constantFrom(...numeric)
  const aggregates = fc.oneof(
    fc.tuple(
      fc.constantFrom('count', 'min', 'max', 'count_distinct', 'array_agg', 'mode'),
      fc.tuple(value),
    ),
    fc.tuple(fc.constantFrom('sum', 'avg', 'median'), fc.tuple(anyNumber)),
    fc.tuple(fc.constantFrom('sum', 'count_if', 'bool_and', 'bool_or'), fc.tuple(condition)),
    fc.tuple(fc.constantFrom('first', 'last'), fc.tuple(value, value)),
    fc.tuple(
      fc.constant('percentile'),
      fc.tuple(anyNumber, fc.constantFrom(0, 0.25, 1).map(literal)),
    ),
    fc.tuple(fc.constantFrom('sum_entries', 'avg_entries'), fc.tuple(value)),
  )
  const filters = fc.option(condition, { nil: undefined, freq: 3 })
  const exact = fc
    .tuple(aggregates, fc.boolean(), filters)
    .map(([[name, list], distinct, filter]) => {
      const base = callOf(name, ...list) as Extract<Expression, { kind: 'call' }>
      return { ...base, distinct: distinct && canBeDistinct.has(name), filter }
    })
  const spreads = fc.constantFrom('stddev', 'stddev_pop', 'variance', 'var_pop')
  return fc.oneof(
    { weight: 8, arbitrary: exact },
    { weight: 1, arbitrary: fc.constant(callOf('count', literal(1))) },
    {
      weight: 1,
      // The last digits are those of one way to calculate.
      arbitrary: fc
        .tuple(spreads, anyNumber)
        .map(([name, of]) => callOf('round', callOf(name, of), literal(6))),
    },
  )
}

const canBeDistinct = new Set(['count', 'sum', 'avg', 'min', 'max', 'count_distinct', 'array_agg'])
