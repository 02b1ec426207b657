import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { readJsonQuery } from '../../src/parser/read-json-query.ts'
import { hasJsonForm, jsonForm } from '../support/json-form.ts'
import { queryArbitrary } from './arbitrary.ts'

const star = [{ op: 'star' }]
const ident = (...name: (string | number)[]) => ({ op: 'ident', name })
const literal = (value: unknown) => ({ op: 'literal', value })
const dataset = {
  op: 'function',
  name: ident('dataset'),
  args: [literal('d')],
}

/** An object with a key `then` must not look like a promise to who reads the code. */
const choice = (condition: unknown, result: unknown) =>
  Object.fromEntries([
    ['cond', condition],
    ['then', result],
  ])

/** The canonical text of a filter. */
function filterOf(filter: unknown): string {
  const text = printQuery(readJsonQuery({ select: star, from: dataset, filter }))
  return text.slice(text.indexOf('filter: ') + 'filter: '.length)
}

test('reading what was written as JSON gives the query again', () => {
  fc.assert(
    fc.property(queryArbitrary, (query) => {
      fc.pre(hasJsonForm(query))
      const text = printQuery(query)
      expect(printQuery(readJsonQuery(jsonForm(query)))).toBe(text)
    }),
    { numRuns: 600 },
  )
})

describe('filters', () => {
  test.each([
    [{ op: 'eq', left: ident('id'), right: literal('x') }, "id = 'x'"],
    [{ op: 'is', left: ident('a'), right: literal(null) }, 'a <=> null'],
    [{ op: 'ne', left: ident('span_parents'), right: literal(null) }, 'span_parents is not null'],
    [{ op: 'eq', left: ident('a'), right: literal(null) }, 'a = null'],
    [{ op: 'in', left: ident('a'), right: literal(['x', 1, null]) }, "a in ['x', 1, null]"],
    [{ op: 'includes', haystack: ident('tags'), needle: literal('t') }, "tags includes 't'"],
    [{ op: 'and', children: [] }, 'true'],
    [{ op: 'or', children: [ident('a')] }, 'a'],
    [
      {
        op: 'and',
        left: { op: 'and', left: ident('a'), right: ident('b') },
        right: { op: 'not', expr: ident('c') },
      },
      'a and b and not c',
    ],
    [{ op: 'and', children: [{ btql: 'a or b' }, { op: 'btql', btql: 'c' }] }, '(a or b) and c'],
    [{ btql: "metadata.topic = 'test'" }, "metadata.topic = 'test'"],
    [{ op: 'isnull', expr: ident('metadata', 'a b', 0) }, 'metadata."a b"[0] is null'],
    [{ op: 'singlespanfilter', expr: ident('is_root') }, 'any_span(is_root)'],
    [{ op: 'matchingspansfilter', expr: ident('is_root') }, 'filter_spans(is_root)'],
    [
      {
        op: 'gt',
        left: ident('created'),
        right: {
          op: 'sub',
          left: { op: 'function', name: ident('NOW'), args: [] },
          right: { op: 'interval', value: 7, unit: 'day' },
        },
      },
      'created > now() - interval 7 day',
    ],
    [
      { op: 'if', conds: [choice(ident('a'), literal(1))], else: literal({ k: [1] }) },
      'a ? 1 : {k: [1]}',
    ],
    [
      { op: 'eq', left: ident('a'), right: literal(1), loc: { start: { line: 1, col: 1 } } },
      'a = 1',
    ],
  ])('%j is %s', (filter, text) => {
    expect(filterOf(filter)).toBe(text)
  })
})

describe('sources', () => {
  test.each([
    [dataset, "dataset('d')"],
    ["dataset('d')", "dataset('d')"],
    ["project_logs('p') traces", "project_logs('p') traces"],
    [{ ...dataset, shape: 'summary' }, "dataset('d') summary"],
    [
      { ...dataset, args: [literal('d'), { expr: literal('traces'), alias: 'shape' }] },
      "dataset('d') traces",
    ],
    [{ select: star, from: "dataset('d')" }, "(select: * | from: dataset('d'))"],
  ])('%j is %s', (from, text) => {
    expect(printQuery(readJsonQuery({ select: star, from }))).toBe(`select: *\nfrom: ${text}`)
  })
})

test('clauses that are null or empty are absent', () => {
  const query = { select: star, from: dataset, cursor: null, sort: [], measures: null }
  expect(printQuery(readJsonQuery(query))).toBe("select: *\nfrom: dataset('d')")
})

describe('faults name their place', () => {
  test.each([
    [{ select: star, form: dataset }, 'query', 'query has an unknown key "form"'],
    [{ select: {}, from: dataset }, 'query.select', 'query.select must be an array'],
    [{ select: [{ op: 'ident' }], from: dataset }, 'query.select[0]', 'has no "name"'],
    [{ select: [{ op: 'idnet', name: ['a'] }] }, 'query.select[0].op', 'cannot be "idnet"'],
    [{ select: [ident(1)], from: dataset }, 'query.select[0].name', 'begins with a name'],
    [{ select: star, from: dataset, limit: '5' }, 'query.limit', 'must be a whole number'],
    [{ select: star, from: dataset, filter: { btql: 'a =' } }, 'query.filter.btql', 'character 4'],
    [{ select: star, from: ident('dataset') }, 'query.from', 'names no objects'],
    [{ select: star, from: { ...dataset, args: [ident('d')] } }, 'query.from.args[0]', 'no id'],
    [{ select: star, from: 'dataset(' }, 'query.from', 'expected an id in quotes'],
    [
      { select: star, from: dataset, sample: { method: { type: 'rate', value: 2 } } },
      'query.sample.method.value',
      'must be from 0 to 1',
    ],
    [
      { select: star, from: dataset, filter: { op: 'if', conds: [], else: literal(1) } },
      'query.filter.conds',
      'at least one condition',
    ],
    [[], 'query', 'query must be an object'],
  ])('%j', (query, path, message) => {
    expect(faultOf(query)).toMatchObject({ path, message: expect.stringContaining(message) })
  })
})

test('whatever is put in place of a part, the answer is a query or a fault', () => {
  const places = fc.array(fc.nat(50), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(queryArbitrary, places, fc.jsonValue(), (query, steps, part) => {
      fc.pre(hasJsonForm(query))
      const broken = withPart(jsonForm(query), steps, part)
      try {
        printQuery(readJsonQuery(broken))
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(AssayError)
        expect((thrown as AssayError).family).toBe('user')
      }
    }),
    { numRuns: 2_000 },
  )
})

/** The value with a part of it replaced, which the steps lead to. */
function withPart(value: unknown, [step, ...steps]: readonly number[], part: unknown): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return part
  const keys = Object.keys(value)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return part
  const copy = Array.isArray(value) ? [...value] : { ...value }
  const inner = (value as Record<string, unknown>)[key]
  ;(copy as Record<string, unknown>)[key] = withPart(inner, steps, part)
  return copy
}

test('a query nested without end is refused', () => {
  let filter: unknown = literal(true)
  for (let depth = 0; depth < 100_000; depth++) filter = { op: 'not', expr: filter }
  expect(faultOf({ select: star, from: dataset, filter }).code).toBe('PARSE_TOO_DEEP')
})

function faultOf(query: unknown): AssayError {
  try {
    readJsonQuery(query)
  } catch (thrown) {
    if (thrown instanceof AssayError) return thrown
    throw thrown
  }
  throw new Error('the query was read')
}
