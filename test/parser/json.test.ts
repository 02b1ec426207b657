import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import type { Query } from '../../src/parser/ast.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import { printAst } from '../../src/parser/print-ast.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { readJsonQuery } from '../../src/parser/read-json-query.ts'
import { parseExactJson, writeExactJson } from '../../src/type/exact-json.ts'
import { hasJsonForm, jsonForm } from '../support/json-form.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
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

test('a query is the same tree as an object and as text', () => {
  fc.assert(
    fc.property(queryArbitrary, (query) => {
      fc.pre(hasJsonForm(query))
      const tree = parseQuery(printQuery(query))
      expect(printAst(readJsonQuery(sent(jsonForm(query))))).toBe(printAst(tree))
      expect(printAst(readJsonQuery(sent(jsonForm(tree))))).toBe(printAst(tree))
    }),
    { numRuns: 600 },
  )
})

/** As it comes in a body. */
function sent(query: unknown): unknown {
  return parseExactJson(writeExactJson(query))
}

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

/** What has the right form somewhere else, or nowhere. */
const misplaced = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    ...[-1, -0, 0.5, 1e300, '', '_', 'shape', [], {}, null, true],
    ...[{ op: 'star' }, { op: 'star', replace: { a: literal(1) } }, { op: 'btql', btql: 'a b' }],
    ...[{ op: 'star', alias: 'x' }, { expr: { op: 'star' }, alias: 'x' }, { expr: ident('a') }],
    ...[{ btql: "a = 'x'" }, { btql: '*' }, { btql: '-'.repeat(300) }, literal(-5), ident('a', -1)],
    ...[{ op: 'function', name: ident('count'), args: [], duplicate_treatment: 'Distinct' }],
    ...[{ op: 'function', name: ident('select', 'x'), args: [{ op: 'star' }, literal(1)] }],
    ...["(select: * | from: dataset('d'))", 'dataset() where', 'select * from dataset()'],
  ),
  queryArbitrary.filter(hasJsonForm).map(jsonForm),
)

test('whatever is put in place of a part, it is a query with a text, or a fault with a place', () => {
  const places = fc.array(fc.nat(50), { minLength: 1, maxLength: 12 })
  let queries = 0
  let faults = 0
  fc.assert(
    fc.property(queryArbitrary, places, misplaced, (query, steps, part) => {
      fc.pre(hasJsonForm(query))
      const tree = outcomeOf(sent(withPart(jsonForm(query), steps, part)))
      if (tree instanceof AssayError) {
        faults++
        expect(tree.status).toBe(400)
        expect(tree.path).toMatch(/^query/)
      } else {
        queries++
        expect(printAst(parseQuery(printQuery(tree)))).toBe(printAst(tree))
      }
    }),
    { numRuns: isSlow ? 6_000 : 600, seed },
  )
  expect(Math.min(queries, faults)).toBeGreaterThan(10)
})

function outcomeOf(query: unknown): Query | AssayError {
  try {
    return readJsonQuery(query)
  } catch (thrown) {
    if (thrown instanceof AssayError) return thrown
    throw thrown
  }
}

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
  const outcome = outcomeOf(query)
  if (outcome instanceof AssayError) return outcome
  throw new Error('the query was read')
}
