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
  ])('%s', (text, expected) => {
    expect(printExpression(parseExpression(text))).toBe(expected)
  })
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
    { numRuns: 2_000 },
  )
})

function withoutSpans(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpans)
  if (typeof value !== 'object' || value === null) return value
  return new Map(
    Object.entries(value)
      .filter(([key]) => !/^(span|.*Span)$/.test(key))
      .map(([key, inner]) => [key, withoutSpans(inner)]),
  )
}
