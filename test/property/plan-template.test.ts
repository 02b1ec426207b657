/**
 * A plan that was made of another with the same shape is the plan that its text has by itself, whatever
 * literals stand in it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KnownFields } from '../../src/binder/known-fields.ts'
import type { CatalogObject, CatalogView } from '../../src/catalog/catalog.ts'
import { type GivenQuery, JsonQuery, textOfQuery } from '../../src/parser/given-query.ts'
import { parseRequest } from '../../src/parser/parse-request.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printSqlQuery } from '../../src/parser/print-sql.ts'
import { PlanCache } from '../../src/planner/plan-cache.ts'
import {
  type PlanContext,
  type PlannedQuery,
  type PlanRecorder,
  planQuery,
} from '../../src/planner/plan-query.ts'
import { parseExactJson, writeExactJson } from '../../src/type/exact-json.ts'
import { jsonForm } from '../support/json-form.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const experiment: CatalogObject = {
  type: 'experiment',
  id: 'e1',
  name: 'tried',
  number: 7,
  projectId: 'p',
  organizationId: 'o',
}

const view: CatalogView = {
  readable: () => experiment,
  writable: () => experiment,
  readableInProject: () => [experiment],
  readableOfType: () => [experiment],
  readableByName: () => [experiment],
  readableProject: () => ({ id: 'p', name: 'project' }),
  organization: () => ({ id: 'o', name: 'organization' }),
}

const knownFields = new KnownFields([
  ['metadata', 'model'],
  ['metrics', 'tokens'],
  ['scores', 'f'],
])

const context: PlanContext = {
  now: Date.UTC(2026, 0),
  tzOffset: 0,
  view,
  randomSeed: 1,
  knownFields: () => knownFields,
}

const recorder: PlanRecorder = { now: () => 0, add: () => undefined }

const fields = fc.constantFrom(
  ...['id', 'root_span_id', 'created', '_xact_id', '_pagination_key', 'project_id', 'is_root'],
  ...['metadata.model', 'metadata."a b"', 'metrics.tokens', 'scores.f', 'tags', 'input', 'nowhere'],
  ...['span_attributes.type', 'error', 'metrics.tokens + 1', 'lower(metadata.model)'],
)
const operators = fc.constantFrom('=', '==', '!=', '<>', '<', '<=', '>', '>=', '<=>', '<!=>')

/** By kind: values that are alike in their texts and not in what they mean. */
const literals = [
  fc.oneof(
    fc.constantFrom('0', '1', '5', '0.5', '1e3', '5%', '123456789012345', '12345678901234567890'),
    fc.integer({ min: 0, max: 1e6 }).map(String),
  ),
  fc.oneof(
    fc.constantFrom("''", "'a'", "'true'", "'null'", "'12'", "'llm'", "'p07'", "'it''s'", "'%x%'"),
    fc.constantFrom("'metadata'", "'2026-02-30'", "'e1'", "'12'::float"),
    fc.stringMatching(/^[a-zA-Z0-9 ._:-]{0,30}$/).map((text) => `'${text}'`),
  ),
  fc.constantFrom("'2026-01-01'", "'2026-01-01T10:00:00.000Z'", "'1999-12-31 23:59'", "'2026'"),
  fc.constantFrom('"a"', '"2026-01-01"', '"model"', 'true', 'null', '-1', '2 + 3', "'a'"),
]

const comparison = fc.tuple(fields, operators).map(([field, operator]) => `${field} ${operator} ?`)

const condition = fc.oneof(
  comparison,
  fc.tuple(comparison, comparison).map(([a, b]) => `${a} and ${b}`),
  fc.tuple(comparison, comparison).map(([a, b]) => `${a} or not (${b})`),
  comparison.map((a) => `any_span(${a})`),
  fields.map((field) => `? = ${field}`),
  fields.map((field) => `${field} between ? and ?`),
  fields.map((field) => `${field} in [?, ?]`),
)

const query = fc.oneof(
  condition.map((c) => `select: * | from: experiment('e1') | filter: ${c}`),
  condition.map((c) => `select: id, ${c} as y | from: experiment('e1') | filter: ${c} | limit: 5`),
  fc
    .tuple(condition, condition)
    .map(
      ([a, b]) =>
        `dimensions: ${a} as d | measures: count(1) filter (where ${b}) as n, avg(metrics.tokens) as t | ` +
        `from: experiment('e1') | filter: ${b} | final_filter: n > ?`,
    ),
  condition.map((c) => `select: * | from: experiment('e1') traces | filter: ${c} | limit: 10`),
  condition.map((c) => `select: * | from: experiment('e1') summary | filter: ${c} | limit: 10`),
  condition.map((c) => `SELECT id, ${c} FROM experiment('e1') WHERE ${c} ORDER BY created LIMIT 3`),
)

/** Texts of one shape, or nearly: the same query with several lists of literals. */
const alike = fc
  .tuple(query, fc.array(fc.constantFrom(...literals), { minLength: 12, maxLength: 12 }))
  .chain(([text, kinds]) =>
    fc.tuple(fc.constant(text), fc.array(fc.tuple(...kinds), { minLength: 4, maxLength: 8 })),
  )

function filled(text: string, given: readonly string[]): string {
  let next = 0
  return text.replace(/\?/g, () => given[next++ % given.length]!)
}

/** The plan, or the code of the fault. */
function outcome(plan: () => PlannedQuery) {
  try {
    const { family: _, ...planned } = plan()
    return planned
  } catch (thrown) {
    return (thrown as { readonly code: unknown }).code
  }
}

/** The query in one of the forms that it may come in, if it is one. */
function written(text: string, form: number): GivenQuery {
  try {
    const tree = parseRequest(text, undefined)
    if (form === 1) return printQuery(tree)
    if (form === 2) return printSqlQuery(tree)
    if (form === 3) return new JsonQuery(parseExactJson(writeExactJson(jsonForm(tree))))
  } catch {
    // It is no query in any form.
  }
  return text
}

test('plans of templates are those of the queries, in whatever form these come', () => {
  let plans = 0
  let hits = 0
  fc.assert(
    fc.property(alike, fc.infiniteStream(fc.nat(3)), ([text, lists], forms) => {
      const cache = new PlanCache()
      for (const list of lists) {
        const query = filled(text, list)
        const given = written(query, forms.next().value!)
        const kept = outcome(() => cache.plan({ query: given }, context, recorder))
        const wanted = outcome(() => planQuery({ query }, context, recorder))
        expect(kept, `${query} as ${textOfQuery(given)}`).toEqual(wanted)
        plans++
      }
      hits += cache.statistics.hits
    }),
    { numRuns: isSlow ? 5000 : 80, seed },
  )
  // If no plan were made of another, nothing would be proven.
  expect(hits / plans).toBeGreaterThan(0.02)
})

test.each([
  ["filter: metadata.model = '?'", ['a', "it''s", '12', 'true', 'x%_']],
  [
    "filter: created > '?' and metrics.tokens <= 5",
    ['2026-01-01', '2026-01-02T10:00:00Z', '1970-01-01'],
  ],
  ['filter: metrics.tokens != ?', ['0', '1.5', '123456', '1e3']],
  ['filter: metrics.tokens > ? or scores.f < 0.5', ['0', '1.5', '123456', '1e3']],
  ["filter: root_span_id = '?' | limit: 3", ['a', '0f4ce1f2-6d52-4d5b-9a56-2ff6b1d9a0b1', '2026']],
])('%s: the third text needs no plan of its own', (clauses, values) => {
  const cache = new PlanCache()
  for (const value of values) {
    const text = `select: * | from: experiment('e1') | ${clauses.replace('?', value)}`
    const { physical } = cache.plan({ query: text }, context, recorder)
    expect(physical).toEqual(planQuery({ query: text }, context, recorder).physical)
  }
  expect(cache.statistics).toMatchObject({ misses: 2, hits: values.length - 2 })
})

test('equal literals are told from different ones', () => {
  const cache = new PlanCache()
  const plan = (a: number, b: number) =>
    cache.plan(
      {
        query:
          `measures: count(1) filter (where scores.f = ${a}) as a, ` +
          `count(1) filter (where scores.f = ${b}) as b | from: experiment('e1')`,
      },
      context,
      recorder,
    ).physical.plan.stage
  for (const [a, b] of [
    [1, 2],
    [3, 4],
    [5, 6],
    [7, 7],
  ] as const) {
    const aggregates = plan(a, b)
    expect(aggregates.kind === 'groups' && aggregates.aggregates).toHaveLength(a === b ? 1 : 2)
  }
})
