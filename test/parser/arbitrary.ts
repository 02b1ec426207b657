import fc from 'fast-check'
import type { Expression, Projection, Query, Source } from '../../src/parser/ast.ts'
import { intervalUnits, keywords } from '../../src/parser/keyword.ts'

const span = { start: 0, end: 0 }

/** Names of fields: plain ones, keywords, and what only quotes can hold. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'model', '_xact_id', 'Größe', '名', '__proto__') },
  { weight: 2, arbitrary: fc.constantFrom(...keywords) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'a b', '2024', '"', '`', "'", '\\', '\\%', '\ud800'),
  },
)

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({
    unit: fc.constantFrom("'", '"', '`', '\\', '%', '_', 'u', 'n', '\n', '\0', '\ud800', '--', '|'),
    maxLength: 8,
  }),
)

const number = fc.oneof(
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    0.5,
    50,
    2 ** 53,
    -(2 ** 53),
    2 ** 60,
    1e21,
    5e-324,
    1.7976931348623157e308,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

const bigInteger = fc
  .bigInt({ min: 2n ** 53n + 1n, max: 2n ** 80n })
  .chain((value) => fc.constantFrom(value, -value))

const literal: fc.Arbitrary<Expression> = fc
  .oneof(fc.constantFrom(null, true, false), number, bigInteger, text)
  .map((value) => ({ kind: 'literal', value, span }))

const interval: fc.Arbitrary<Expression> = fc
  .record({ value: fc.maxSafeInteger(), unit: fc.constantFrom(...intervalUnits) })
  .map(({ value, unit }) => ({ kind: 'interval', value: value === 0 ? 0 : value, unit, span }))

const path: fc.Arbitrary<Expression> = fc
  .tuple(name, fc.array(fc.oneof(name, fc.integer({ min: -9, max: 9 })), { maxLength: 3 }))
  .map(([first, rest]) => ({
    kind: 'path',
    parts: [first, ...rest.map((part) => (Object.is(part, -0) ? 0 : part))],
    span,
  }))

const functionName = fc.constantFrom('count', 'f', 'current_date', 'contains', 'match', 'to_string')

/** Trees as the parser makes them: whatever it can never give is left out. */
export const expressionArbitrary: fc.Arbitrary<Expression> = fc.letrec<{ expression: Expression }>(
  (tie) => {
    const expression = tie('expression')
    const operands = fc.array(expression, { minLength: 2, maxLength: 4 })
    const negated = fc.boolean()
    const inner: fc.Arbitrary<Expression>[] = [
      fc.array(expression, { maxLength: 3 }).map((items) => ({ kind: 'array', items, span })),
      fc
        .uniqueArray(fc.tuple(name, expression), { maxLength: 3, selector: ([key]) => key })
        .map((entries) => ({ kind: 'object', entries, span })),
      fc
        .tuple(functionName, fc.array(expression, { maxLength: 3 }), fc.boolean())
        .map(([called, items, distinct]) => ({
          kind: 'call',
          name: called,
          nameSpan: span,
          arguments: items,
          distinct: distinct && items.length > 0,
          span,
        })),
      fc.constant<Expression>({
        kind: 'call',
        name: 'count',
        nameSpan: span,
        arguments: [{ kind: 'star', span }],
        distinct: false,
        span,
      }),
      fc.record({
        kind: fc.constant('comparison' as const),
        operator: fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge', 'is_same', 'is_different'),
        left: expression,
        right: expression,
        span: fc.constant(span),
      }),
      fc.record({
        kind: fc.constant('arithmetic' as const),
        operator: fc.constantFrom('add', 'sub', 'mul', 'div', 'mod'),
        left: expression,
        right: expression,
        span: fc.constant(span),
      }),
      expression.map((operand) => ({ kind: 'negate', operand, span })),
      expression.map((operand) => ({ kind: 'not', operand, span })),
      fc.tuple(fc.constantFrom('and' as const, 'or' as const), operands).map(([kind, items]) => ({
        kind,
        operands: items,
        span,
      })),
      fc
        .tuple(expression, negated)
        .map(([operand, not]) => ({ kind: 'is_null', operand, negated: not, span })),
      fc
        .tuple(expression, expression, negated, fc.boolean())
        .map(([operand, pattern, not, caseInsensitive]) => ({
          kind: 'like',
          operand,
          pattern,
          caseInsensitive,
          negated: not,
          span,
        })),
      fc.tuple(expression, expression, negated).map(([haystack, needle, not]) => ({
        kind: 'includes',
        haystack,
        needle,
        negated: not,
        span,
      })),
      fc
        .tuple(expression, expression, negated)
        .map(([operand, query, not]) => ({ kind: 'match', operand, query, negated: not, span })),
      fc
        .tuple(expression, expression, negated)
        .map(([operand, list, not]) => ({ kind: 'in', operand, list, negated: not, span })),
      fc.tuple(expression, expression, expression, negated).map(([operand, low, high, not]) => ({
        kind: 'between',
        operand,
        low,
        high,
        negated: not,
        span,
      })),
      fc
        .tuple(
          fc.array(fc.record({ condition: expression, result: expression }), {
            minLength: 1,
            maxLength: 3,
          }),
          expression,
        )
        .map(([branches, otherwise]) => ({ kind: 'conditional', branches, otherwise, span })),
    ]
    return {
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        literal,
        path,
        interval,
        ...inner,
      ),
    }
  },
).expression

const projection: fc.Arbitrary<Projection> = fc
  .tuple(expressionArbitrary, fc.option(name, { nil: undefined }))
  .map(([expression, alias]) => ({ expression, alias, span }))

const star: fc.Arbitrary<Projection> = fc.constant({
  expression: { kind: 'star', span },
  alias: undefined,
  span,
})

const source: fc.Arbitrary<Source> = fc
  .tuple(
    fc.constantFrom('experiment', 'project_logs', 'dataset', 'project'),
    fc.array(text, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('spans', 'traces', 'summary', undefined),
  )
  .map(([table, ids, shape]) => ({
    table,
    tableSpan: span,
    ids: ids.map((value) => ({ value, span })),
    shape,
    shapeSpan: shape === undefined ? undefined : span,
    span,
  }))

const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(item, { minLength: 1, maxLength: 3 })

const columns: fc.Arbitrary<Pick<Query, 'select' | 'dimensions' | 'measures'>> = fc.oneof(
  some(fc.oneof(projection, star)).map((select) => ({
    select,
    dimensions: undefined,
    measures: undefined,
  })),
  some(projection).map((dimensions) => ({ select: undefined, dimensions, measures: undefined })),
  some(projection).map((measures) => ({ select: undefined, dimensions: undefined, measures })),
  fc
    .tuple(some(projection), some(projection))
    .map(([dimensions, measures]) => ({ select: undefined, dimensions, measures })),
)

const nil = { nil: undefined }
const count = fc.option(
  fc.maxSafeNat().map((value) => ({ value, span })),
  nil,
)

export const queryArbitrary: fc.Arbitrary<Query> = fc
  .tuple(
    columns,
    source,
    fc.option(expressionArbitrary, nil),
    fc.option(
      some(
        fc.record({
          expression: expressionArbitrary,
          direction: fc.constantFrom('asc', 'desc'),
          span: fc.constant(span),
        }),
      ),
      nil,
    ),
    count,
    count,
    fc.option(
      text.map((value) => ({ value, span })),
      nil,
    ),
  )
  .map(([projections, from, filter, sort, limit, offset, cursor]) => ({
    kind: 'query',
    ...projections,
    from,
    filter,
    sort,
    limit,
    offset,
    cursor,
    span,
  }))
