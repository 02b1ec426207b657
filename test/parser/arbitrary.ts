import fc from 'fast-check'
import type {
  Expression,
  Pivot,
  Projection,
  Query,
  Sample,
  Source,
  Unpivot,
} from '../../src/parser/ast.ts'
import { keywords } from '../../src/parser/keyword.ts'
import { intervalUnits } from '../../src/type/parse-interval.ts'

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

const parts = fc
  .array(fc.oneof(name, fc.integer({ min: -9, max: 9 })), { minLength: 1, maxLength: 3 })
  .map((items) => items.map((part) => (Object.is(part, -0) ? 0 : part)))

const functionName = fc.oneof(
  fc.constantFrom('count', 'f', 'current_date', 'contains', 'match', 'to_string'),
  name.map((word) => word.toLowerCase()),
)

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
        .tuple(
          functionName,
          fc.array(expression, { maxLength: 3 }),
          fc.boolean(),
          fc.option(expression, { nil: undefined }),
        )
        .map(([called, items, distinct, filter]) => ({
          kind: 'call',
          name: called,
          nameSpan: span,
          arguments: items,
          distinct: distinct && items.length > 0,
          filter,
          span,
        })),
      // A step from a field is a longer field, and one from an access a longer access.
      fc
        .tuple(
          expression.filter(({ kind }) => kind !== 'path' && kind !== 'access'),
          parts,
        )
        .map(([operand, steps]) => ({ kind: 'access', operand, parts: steps, span })),
      fc.constant<Expression>({
        kind: 'call',
        name: 'count',
        nameSpan: span,
        arguments: [{ kind: 'star', replace: [], span }],
        distinct: false,
        filter: undefined,
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

const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(item, { minLength: 1, maxLength: 3 })

const nil = { nil: undefined }
const perhaps = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(item, nil)

const named: fc.Arbitrary<Projection> = fc
  .tuple(expressionArbitrary, name)
  .map(([expression, alias]) => ({ expression, alias, span }))

const star: fc.Arbitrary<Projection> = fc
  .array(named, { maxLength: 2 })
  .map((replace) => ({ expression: { kind: 'star', replace, span }, alias: undefined, span }))

const table: fc.Arbitrary<Source> = fc
  .tuple(
    fc.constantFrom('experiment', 'project_logs', 'dataset', 'project'),
    // None stand for the project of the request.
    fc.array(text, { maxLength: 3 }),
    fc.constantFrom('spans', 'traces', 'summary', undefined),
  )
  .map(([called, ids, shape]) => ({
    kind: 'table',
    table: called,
    tableSpan: span,
    ids: ids.map((value) => ({ value, span })),
    shape,
    shapeSpan: shape === undefined ? undefined : span,
    span,
  }))

const pivot = (key: fc.Arbitrary<Expression | undefined>): fc.Arbitrary<Pivot> =>
  fc.tuple(some(projection), key).map(([measures, by]) => ({ measures, key: by, span }))

/** The columns of a query and the clauses that only some kinds of columns allow. */
const columns: fc.Arbitrary<Partial<Query>> = fc.oneof(
  fc.record({
    select: some(fc.oneof(projection, star)),
    distinct: fc.constantFrom(true, undefined),
    comparisonKey: perhaps(expressionArbitrary),
    weightedScores: perhaps(some(named)),
    customColumns: perhaps(some(named)),
  }),
  fc.record({
    select: some(fc.oneof(projection, star)),
    pivot: perhaps(pivot(expressionArbitrary)),
  }),
  fc.record({
    select: some(projection),
    dimensions: some(projection),
    pivot: perhaps(pivot(perhaps(expressionArbitrary))),
    finalMeasures: perhaps(some(projection)),
  }),
  fc.record({ dimensions: some(projection), finalDimensions: perhaps(some(projection)) }),
  fc.record({
    measures: some(projection),
    pivot: perhaps(pivot(expressionArbitrary)),
    finalMeasures: perhaps(some(projection)),
  }),
  fc.record({
    dimensions: some(projection),
    measures: some(projection),
    pivot: perhaps(pivot(perhaps(expressionArbitrary))),
    customColumns: perhaps(some(named)),
    comparisonKey: perhaps(expressionArbitrary),
    finalDimensions: perhaps(some(projection)),
    finalMeasures: perhaps(some(projection)),
  }),
  fc.record({
    infer: some(fc.oneof(path, fc.constant<Expression>({ kind: 'star', replace: [], span }))),
    inferenceBudget: perhaps(fc.maxSafeNat().map((value) => ({ value, span }))),
  }),
)

const unpivot: fc.Arbitrary<Unpivot> = fc.record({
  expression: expressionArbitrary,
  // An underscore says that the name is not wanted.
  name: perhaps(name.filter((word) => word !== '_')),
  value: name,
  span: fc.constant(span),
})

const sample: fc.Arbitrary<Sample> = fc.record({
  method: fc.oneof(
    fc.record({
      type: fc.constant('rate' as const),
      value: fc.oneof(
        fc.constantFrom(0, 1, 0.25, 0.145, 1e-7, 5e-324),
        fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs),
      ),
    }),
    fc.record({ type: fc.constant('count' as const), value: fc.maxSafeNat().map((n) => n || 1) }),
  ),
  seed: perhaps(fc.maxSafeNat()),
  span: fc.constant(span),
})

const count = perhaps(fc.maxSafeNat().map((value) => ({ value, span })))

const otherClauses: fc.Arbitrary<Partial<Query>> = fc.record({
  unpivot: perhaps(some(unpivot)),
  filter: perhaps(expressionArbitrary),
  spanFilter: perhaps(expressionArbitrary),
  traceFilter: perhaps(expressionArbitrary),
  sample: perhaps(sample),
  finalFilter: perhaps(expressionArbitrary),
  sort: perhaps(
    some(
      fc.record({
        expression: expressionArbitrary,
        direction: fc.constantFrom('asc', 'desc'),
        span: fc.constant(span),
      }),
    ),
  ),
  limit: count,
  offset: count,
  cursor: perhaps(text.map((value) => ({ value, span }))),
  previewLength: perhaps(
    fc.oneof(fc.constant(-1), fc.maxSafeNat()).map((value) => ({ value, span })),
  ),
})

/** Queries that `checkClauses` lets through; some take their rows from a query in parentheses. */
export const queryArbitrary: fc.Arbitrary<Query> = fc.letrec<{ query: Query; source: Source }>(
  (tie) => ({
    source: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      table,
      tie('query').map((query): Source => ({ kind: 'subquery', query, span })),
    ),
    query: fc
      .tuple(columns, otherClauses, tie('source'))
      .map(([wanted, others, from]) => ({ kind: 'query', ...wanted, ...others, from, span })),
  }),
).query
