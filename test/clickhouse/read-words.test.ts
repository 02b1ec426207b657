/**
 * What the cluster tells of full-text search is true: over random texts and JSON of words, signs, escapes, numbers and
 * letters that fold, against the search of single values.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePredicates } from '../../src/clickhouse/read/compile-predicates.ts'
import { StatementConstants } from '../../src/clickhouse/read/statement-names.ts'
import { printExpression } from '../../src/parser/print.ts'
import { matchWords } from '../../src/type/text-match.ts'
import type { Value } from '../../src/type/value.ts'
import { literal, path, span } from '../support/arbitrary-expression.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'
import { loadTable, loadTexts, spansWhere } from '../support/exported-rows.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const clusterNumber = 98
const database = 'assay_words'
const loads = Number(process.env.ASSAY_LOADS ?? (isSlow ? 50 : 1))
const queriesPerLoad = 60
const rowsPerLoad = 150
const atOnce = 10

const pieces = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('not', 'sure', 'Not', 'SURE', 'c', 'surely', 'true') },
  { weight: 4, arbitrary: fc.constantFrom(' ', ' ', '  ', '\n', ', ', '_', '-', '"', '\\', '/') },
  { weight: 2, arbitrary: fc.constantFrom('++', '→', '🎉', '!=', '=', '%', ':)', '€', '.', '❤') },
  { weight: 2, arbitrary: fc.constantFrom('5', '50', '1.5', '1.0', '1e5', 'null', 'e') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'é',
      'ß',
      'K',
      '\u0338',
      '\u0301',
      '\u200d',
      '\ufe0f',
      '👍🏽',
      'İ',
      '가',
    ),
  },
)
const texts = fc.array(pieces, { maxLength: 6 }).map((list) => list.join(''))
const numbers = fc.constantFrom(5, 50, 1.5, 1, 100000, 1e21, 0.0000001, -5, 12345678901234567000)
const scalars = fc.oneof(
  { weight: 5, arbitrary: texts },
  { weight: 2, arbitrary: numbers },
  { weight: 1, arbitrary: fc.constantFrom(true, false, null) },
)
const searched = fc.oneof(
  { weight: 4, arbitrary: texts },
  { weight: 1, arbitrary: scalars },
  { weight: 2, arbitrary: fc.array(scalars, { minLength: 1, maxLength: 3 }) },
  { weight: 2, arbitrary: fc.dictionary(texts, scalars, { minKeys: 1, maxKeys: 2 }) },
) as fc.Arbitrary<Value>
const objects = fc.dictionary(texts, searched, { maxKeys: 2 }) as fc.Arbitrary<Value>
const records = fc.record({ input: searched, error: searched, metadata: objects })

const words = fc.constantFrom('not', 'sure', 'c', '5', '50', 'null', 'true', 'e', '1', 'é', 'k')
const signed = fc.constantFrom(
  'c++',
  '→',
  '🎉',
  '!=',
  '%',
  ':)',
  '€5',
  '.c',
  '5%',
  '=',
  '❤',
  '👍',
  'ß→',
)
const phrases = fc
  .array(fc.oneof(words, signed), { minLength: 1, maxLength: 3 })
  .map((list) => `"${list.join(' ')}"`)
const starts = words.map((word) => `${word.slice(0, 2)}*`)
const queries = fc
  .array(fc.oneof(words, signed, phrases, starts), { minLength: 1, maxLength: 2 })
  .map((list) => list.join(' '))
const fields = ['input', 'error', 'metadata'] as const

describe.runIf(isClusterAsked)(`searches, seed ${seed}`, { timeout: 3_600_000 }, () => {
  const cluster = useCluster(clusterNumber, 2)

  test('are sure of values that have the words, and keep all that may', async () => {
    const counts = { exact: 0, superset: 0, none: 0, certain: 0, passing: 0, open: 0 }
    for (let i = 0; i < loads; i++) {
      const many = fc.array(records, { minLength: rowsPerLoad, maxLength: rowsPerLoad })
      const options = { numRuns: 1, seed: seed + i }
      const given = fc.sample(many, options)[0]!
      const numbered = given.map((record, place) => ({ ...record, span_id: String(place) }))
      const { object } = await loadTable(cluster(), database, numbered)
      const asked = fc.sample(fc.tuple(fc.constantFrom(...fields), queries), {
        numRuns: queriesPerLoad,
        seed: seed + i,
      })
      const cases = asked.map(([field, query]) => compiled(field, query, object))
      for (let at = 0; at < cases.length; at += atOnce) {
        const answers = await spansWhere(cluster(), database, cases.slice(at, at + atOnce), object)
        for (const [j, [certain, possible]] of answers.entries()) {
          const [field, query] = asked[at + j]!
          const { level, sure, may } = cases[at + j]!
          const passing = given.flatMap((record, place) => {
            return matchWords(record[field], query) === true ? [String(place)] : []
          })
          const wrong = certain.filter((place) => !passing.includes(place))
          const lost = passing.filter((place) => !possible.includes(place))
          const values = [...wrong, ...lost].map((place) => given[Number(place)]![field])
          const label = `seed ${seed + i}: ${field} match ${query}: ${JSON.stringify(values)}\n${level}\nsure ${sure}\nmay ${may}`
          expect({ wrong, lost }, label).toEqual({ wrong: [], lost: [] })
          counts[level]++
          counts.certain += certain.length
          counts.passing += passing.length
          counts.open += possible.length - certain.length
        }
      }
    }
    console.log(`seed ${seed}: ${JSON.stringify(counts)}`)
  })
})

describe.runIf(isClusterAsked)('names that are given twice', { timeout: 3_600_000 }, () => {
  const cluster = useCluster(clusterNumber, 2)

  test.each([
    '{"a":"sure","a":"other"}',
    '{"a":"sure","a":null}',
    '{"a":"sure","a":{}}',
    '{"a":"sure","a":{"b":1}}',
    '{"a":{"b":"sure"},"a":null}',
    '{"a":{"b":"sure"},"a":5}',
    '[1,{"a":{"b":"sure"},"\\u0061":"{"}]',
  ])('are not found by what does not count of them: %s', async (input) => {
    const object = await loadTexts(cluster(), database, [`{"span_id":"0","input":${input}}`])
    const [answer] = await spansWhere(
      cluster(),
      database,
      [compiled('input', 'sure', object)],
      object,
    )
    expect(answer![0]).toEqual([])
  })
})

function compiled(field: string, query: string, object: number) {
  const condition = printExpression({
    kind: 'match',
    operand: path(field),
    query: literal(query),
    negated: false,
    span,
  })
  const text = `select: id | from: experiment('e') | filter: ${condition}`
  const { plan } = physicalQuery(text, () => object)
  const constants = new StatementConstants()
  const context = { ...clock, objects: plan.objects, traceSet: () => undefined, constants }
  const { level, rows } = compilePredicates(plan.predicates, context)
  return { level, ...rows }
}
