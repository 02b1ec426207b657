/**
 * What the cluster tells of patterns and of `includes` is true of values of all kinds: over random JSON as it may be written,
 * with escapes, names that are given twice and numbers in all spellings, against the operators on single values.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePredicates } from '../../src/clickhouse/read/compile-predicates.ts'
import { StatementConstants } from '../../src/clickhouse/read/statement-names.ts'
import type { Expression } from '../../src/parser/ast.ts'
import { printExpression } from '../../src/parser/print.ts'
import { includes } from '../../src/type/includes.ts'
import { like } from '../../src/type/like.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { isObject, type JsonObject, type Value, valueAt } from '../../src/type/value.ts'
import { literal, path, span } from '../support/arbitrary-expression.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'
import { loadTexts, spansWhere } from '../support/exported-rows.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const clusterNumber = 96
const database = 'assay_json'
const loads = Number(process.env.ASSAY_LOADS ?? (isSlow ? 50 : 1))
const queriesPerLoad = 80
const rowsPerLoad = 150
const atOnce = 10

/** Parts of texts as JSON has them. */
const pieces = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('word', 'Word', 'best', 'ant', 'true', 'null', 'e', 'k'),
  },
  { weight: 3, arbitrary: fc.constantFrom(' ', '{', '}', ':', ',', '/', '-', '.') },
  { weight: 2, arbitrary: fc.constantFrom('5', '1.50', '1e5', '0', 'u00', '{}') },
  { weight: 2, arbitrary: fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\\\u0041', '\\b') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('é', 'É', 'ß', 'σ', 'Σ', 'İ', '\u212a', '🎉', '\u2028', 'ж', '漢'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['\\u0041', '\\u00e9', '\\u00C9', '\\u2028', '\\u001b', '\\u001B', '\\u000a', '\\u002f'],
      ...['\\u0130', '\\u212A', '\\ud83c\\udf89', '\\ud83c', '\\u0022', '\\u005c', '\\u0436'],
    ),
  },
)
const texts = fc.array(pieces, { maxLength: 4 }).map((list) => `"${list.join('')}"`)
const numbers = fc.constantFrom(
  ...['5', '-5', '0', '-0', '-0.0', '1.5', '1.50', '1e5', '1E5', '0.0000001', '1e21', '1E-3'],
  ...['12345678901234567890', '9007199254740993', '123456789012345678901234', '1e400', '0.1'],
)
const names = fc.constantFrom('"a"', '"a"', '"b"', '"\\u0061"', '"a.b"', '""', '"word"', '"%o"')

const { written } = fc.letrec<{ written: string }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    { weight: 5, arbitrary: texts },
    { weight: 2, arbitrary: numbers },
    { weight: 2, arbitrary: fc.constantFrom('true', 'false', 'null', '{}', '[]') },
    { weight: 4, arbitrary: list(tie('written')).map((items) => `[${items.join(',')}]`) },
    { weight: 5, arbitrary: list(fc.tuple(names, tie('written'))).map(objectOf) },
  ),
}))

function list<Of>(of: fc.Arbitrary<Of>): fc.Arbitrary<Of[]> {
  return fc.array(of, { minLength: 1, maxLength: 3 })
}

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${name}:${value}`).join(', ')}}`
}

const fields = {
  input: path('input'),
  'input.a': path('input', 'a'),
  error: path('error'),
  'metadata.a': path('metadata', 'a'),
  metadata: path('metadata'),
} as const
type Field = keyof typeof fields

interface Row {
  readonly text: string
  readonly values: Readonly<Record<Field, Value>>
}

const rows = fc.tuple(written, written, written, list(names), written).map((made): Row => {
  const [input, error, a, others, other] = made
  const named = others.filter((name) => !/a"$|61/.test(name))
  const metadata = objectOf([...named.map((name) => [name, other] as const), ['"a"', a]])
  const text = `"input":${input},"error":${error},"metadata":${metadata}`
  const record = parseJson(`{${text}}`)
  const values = Object.entries(fields).map(([name]) => [name, valueAt(record, name.split('.'))])
  return { text, values: Object.fromEntries(values) }
})

const parts = fc.constantFrom(
  ...[
    'word',
    'WORD',
    'wor',
    'best',
    'ant',
    'tru',
    'null',
    'e',
    'E5',
    '5',
    '1',
    '50',
    '1e',
    'k',
    'K',
  ],
  ...[
    '{',
    '}',
    '{}',
    ':',
    '":',
    '"',
    ',',
    '[',
    '\\\\',
    '/',
    ' ',
    'd/',
    '-',
    '-0',
    '.5',
    '0.1',
    'A',
  ],
  ...[
    'u00',
    '001b',
    '1B',
    '2028',
    'é',
    'É',
    'σ',
    'İ',
    'i',
    '🎉',
    '\u2028',
    'ж',
    'Ж',
    '漢',
    'n',
    '%o',
  ],
)
const patterns = fc.oneof(
  { weight: 6, arbitrary: parts.map((part) => `%${escaped(part)}%`) },
  {
    weight: 3,
    arbitrary: fc.tuple(parts, parts).map(([a, b]) => `%${escaped(a)}${escaped(b)}%`),
  },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.oneof(parts.map(escaped), fc.constantFrom('%', '_')), { maxLength: 4 })
      .map((all) => all.join('')),
  },
)

function escaped(part: string): string {
  return part.replace(/[%_]/g, '\\$&')
}

interface Asked {
  readonly condition: Expression
  readonly passes: (row: Row) => boolean | null
}

function patternOn(field: Field): fc.Arbitrary<Asked> {
  return fc
    .tuple(patterns, fc.boolean(), fc.boolean())
    .map(([pattern, caseInsensitive, negated]) => ({
      condition: {
        kind: 'like',
        operand: fields[field],
        pattern: literal(pattern),
        caseInsensitive,
        negated,
        span,
      },
      passes: ({ values }) => differs(like(values[field], pattern, caseInsensitive), negated),
    }))
}

function differs(truth: boolean | null, negated: boolean): boolean | null {
  return truth === null ? null : truth !== negated
}

function includesOn(field: Field, given: readonly Row[]): fc.Arbitrary<Asked> {
  const held = given.flatMap(({ values }) => needlesOf(values[field])).filter(isWritable)
  return fc.tuple(fc.constantFrom<Value>(...held), fc.boolean()).map(([needle, negated]) => ({
    condition: {
      kind: 'includes',
      haystack: fields[field],
      needle: expressionOf(needle),
      negated,
      span,
    },
    passes: ({ values }) => differs(includes(values[field], needle), negated),
  }))
}

/** What a value holds, and some that it nearly holds. */
function needlesOf(value: Value): Value[] {
  if (Array.isArray(value)) {
    const items = value as readonly Value[]
    return [...items, items, items.slice(0, 1), ...items.flatMap(needlesOf)]
  }
  if (!isObject(value)) return [value]
  const entries = Object.entries(value)
  const parts = entries.map((entry) => ofEntries([entry]))
  const other = entries.map(([name]) => ofEntries([[name, 'word']]))
  return [
    value,
    [value],
    ...parts,
    ...other,
    {},
    ...entries.flatMap(([, inner]) => [inner, ...needlesOf(inner)]),
  ]
}

function ofEntries(entries: readonly (readonly [string, Value])[]): JsonObject {
  return Object.fromEntries(entries)
}

/** Whether a query can have it: none has numbers beyond all doubles. */
function isWritable(value: Value): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([name, inner]) => isWritable(name) && isWritable(inner as Value),
  )
}

function expressionOf(value: Value): Expression {
  if (Array.isArray(value)) {
    return { kind: 'array', items: (value as readonly Value[]).map(expressionOf), span }
  }
  if (isObject(value)) {
    const entries = Object.entries(value).map(([name, of]) => [name, expressionOf(of)] as const)
    return { kind: 'object', entries, span }
  }
  return literal(value as string)
}

describe.runIf(isClusterAsked)(`JSON, seed ${seed}`, { timeout: 3_600_000 }, () => {
  const cluster = useCluster(clusterNumber, 2)

  test('is told to be as a pattern says, or to hold something, only where it is so', async () => {
    const counts = { like: noCounts(), includes: noCounts() }
    for (let i = 0; i < loads; i++) {
      const of = { numRuns: 1, seed: seed + i }
      const many = fc.array(rows, { minLength: rowsPerLoad, maxLength: rowsPerLoad })
      const given = fc.sample(many, of)[0]!
      const records = given.map(({ text }, place) => `{"span_id":"${place}",${text}}`)
      const object = await loadTexts(cluster(), database, records)
      const asked = fc
        .constantFrom<Field>(...(Object.keys(fields) as Field[]))
        .chain((field) => fc.oneof(patternOn(field), includesOn(field, given)))
      const all = fc.sample(asked, { numRuns: queriesPerLoad, seed: seed + i })
      const cases = all.map(({ condition }) => compiled(printExpression(condition), object))
      for (let at = 0; at < cases.length; at += atOnce) {
        const answers = await spansWhere(cluster(), database, cases.slice(at, at + atOnce), object)
        for (const [j, [certain, possible]] of answers.entries()) {
          const { passes, condition } = all[at + j]!
          const { text, sure, may } = cases[at + j]!
          const passing = given.flatMap((row, place) => (passes(row) ? [String(place)] : []))
          const wrong = certain.filter((place) => !passing.includes(place))
          const lost = passing.filter((place) => !possible.includes(place))
          const label = `seed ${seed + i}: ${text}\n${[...wrong, ...lost].map((place) => given[Number(place)]!.text).join('\n')}\nsure ${sure}\nmay ${may}`
          expect({ wrong, lost }, label).toEqual({ wrong: [], lost: [] })
          const counted = counts[condition.kind as 'like' | 'includes']
          counted.queries++
          counted.certain += certain.length
          counted.passing += passing.length
          counted.open += possible.length - certain.length
        }
      }
    }
    console.log(`seed ${seed}, ${rowsPerLoad} rows: ${JSON.stringify(counts)}`)
  })
})

function noCounts() {
  return { queries: 0, certain: 0, passing: 0, open: 0 }
}

function compiled(text: string, object: number) {
  const query = `select: id | from: experiment('e') | filter: ${text}`
  const { plan } = physicalQuery(query, () => object)
  const constants = new StatementConstants()
  const context = { ...clock, objects: plan.objects, traceSet: () => undefined, constants }
  return { text, ...compilePredicates(plan.predicates, context).rows }
}
