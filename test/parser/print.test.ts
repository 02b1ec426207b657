import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExpression, parseQuery, parseSearch } from '../../src/parser/parse.ts'
import { printExpression } from '../../src/parser/print.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { expressionArbitrary, queryArbitrary } from './arbitrary.ts'

describe('canonical text', () => {
  test.each([
    ['((a)) AND ((b OR c))', 'a and (b or c)'],
    ['(a and b) or not (c = 1)', 'a and b or not c = 1'],
    ['a-(b-c)-d', 'a - (b - c) - d'],
    ['a*(b+c)', 'a * (b + c)'],
    ['(a*b)+c', 'a * b + c'],
    ['-(-a)', '- -a'],
    ['-(-1)', '-(-1)'],
    ['-(a + b)', '-(a + b)'],
    ['- a.b', '-a.b'],
    ['a - -1', 'a - -1'],
    ['(a ? b : c) ? d : e', '(a ? b : c) ? d : e'],
    ['case when a then b else c end', 'a ? b : c'],
    ['(a = b) is null', '(a = b) is null'],
    ['a in +(b ? c : d)', 'a in +(b ? c : d)'],
    ['a in (b)', 'a in [b]'],
    ['"say ""hi"""', `'say "hi"'`],
    [String.raw`'a\\b\%\u0007' `, String.raw`'a\\b\%\u0007'`],
    ['1e20', '1e+20'],
    ['9007199254740993', '9007199254740993'],
    ['50%', '0.5'],
    ['count( DISTINCT (- -a) )', 'count(distinct (- -a))'],
    ['a BETWEEN 1 AND 2 AND b NOT ILIKE "x"', "a between 1 and 2 and b not ilike 'x'"],
    ['a eq b add c', 'a = b + c'],
    ['isnull x', 'x is null'],
    ['interval 7 days', 'interval 7 day'],
    ['current_date', 'current_date()'],
    ['"a"."b c"."AND".d', 'a."b c".AND.d'],
    ['`select`', '`select`'],
    ['`F`(a) + `union`(b)', 'f(a) + `union`(b)'],
    ['on(a)', '`on`(a)'],
    ["a->'b'->0->>'c d'", `to_string(a.b[0]."c d")`],
    ['(a::float)[0].b', 'to_number(a)[0].b'],
    ["('x').a", "('x').a"],
    ['(a ? b : c).d', '(a ? b : c).d'],
    ['- f(x)[0]', '-f(x)[0]'],
    ['(-f(x))[0]', '(-f(x))[0]'],
    ['a in ((b ? c : d).e)', 'a in [(b ? c : d).e]'],
    ['a in +(b ? c : d).e', 'a in +(b ? c : d).e'],
    ['[1, 2][0]', '[1, 2][0]'],
    ['{a: 1}["a"]', '{a: 1}.a'],
    ["a !~* 'x'", "not regexp_match(a, 'x', 'i')"],
    ['a is not true', 'a <!=> true'],
    ["a - interval '1 day 2 hours'", 'a - (interval 1 day + interval 2 hour)'],
    ['COUNT(*) FILTER (WHERE a > 1)', 'count(*) filter (where a > 1)'],
    ["match(a, b) against ('q')", "a match 'q' or b match 'q'"],
    ["case a when 1 then 'x' end", "a = 1 ? 'x' : null"],
  ])('%s', (text, expected) => {
    expect(printExpression(parseExpression(text))).toBe(expected)
  })
})

test.each([
  ['0%', 0],
  ['100%', 1],
  ['25%', 0.25],
  ['14.5%', 0.145],
  ['0.00001%', 1e-7],
  ['33.333333333333333%', 1 / 3],
])('the share of %s', (written, share) => {
  const query = parseQuery(`select: * | sample: ${written}`)
  expect(query.sample!.method).toEqual({ type: 'rate', value: share })
  expect(parseQuery(printQuery(query)).sample!.method).toEqual({ type: 'rate', value: share })
})

test('parsing what was printed gives the expression again', () => {
  fc.assert(
    fc.property(expressionArbitrary, (expression) => {
      const text = printExpression(expression)
      expect(withoutSpans(parseExpression(text)), text).toEqual(withoutSpans(expression))
      expect(printExpression(parseExpression(text))).toBe(text)
      expect(parseSearch(text).kind).toBe('expression')
    }),
    { numRuns: 2_000 },
  )
})

test('parsing what was printed gives the query again', () => {
  fc.assert(
    fc.property(queryArbitrary, (query) => {
      const text = printQuery(query)
      expect(withoutSpans(parseQuery(text)), text).toEqual(withoutSpans(query))
      // On one line it is the same query.
      expect(printQuery(parseQuery(text.replaceAll('\n', ' | ')))).toBe(text)
      expect(parseSearch(text).kind).toBe('query')
    }),
    { numRuns: 600 },
  )
})

function withoutSpans(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpans)
  if (typeof value !== 'object' || value === null) return value
  return new Map(
    Object.entries(value)
      .filter(([key, inner]) => inner !== undefined && !/^(span|.*Span)$/.test(key))
      .map(([key, inner]) => [key, withoutSpans(inner)]),
  )
}
