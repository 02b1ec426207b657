/**
 * Expressions over fields that hold values of several kinds give, row by row, what the language says
 * of each value by itself: whatever column the value lies in, and in the row store and residual too.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { evaluate } from '../../src/binder/evaluate.ts'
import { compile } from '../../src/executor/expression/compile.ts'
import { compileFilter } from '../../src/executor/filter/filter.ts'
import { countFiltered } from '../../src/executor/filter/filtered-rows.ts'
import { ColumnScan } from '../../src/executor/scan/column-scan.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { type JsonObject, type Value, valueAt } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import { valueReader } from '../../src/vector/vector.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { context, field, object } from '../support/scan-task.ts'
import { versionedRow } from '../support/versioned-row.ts'

const words = [
  'error',
  'Error',
  'kb/77',
  'née',
  'NÉE',
  '\u212aelvin',
  'a\nnote',
  '"x"',
  '12',
  'null',
]

const word = fc.constantFrom(...words)
const text = fc.oneof(
  word,
  fc.array(word, { minLength: 1, maxLength: 4 }).map((several) => several.join(' ')),
  fc.constant('half \ud83d of one'),
)
const scalar = fc.oneof(
  text,
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(0.5, 1e21, true, false, null),
)
const inner = fc.record({ c: scalar, d: fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })) })
const objects = fc.oneof(
  fc.record({ a: scalar }),
  fc.record({ a: fc.oneof(scalar, inner), b: scalar }),
  fc.record({ error: inner, x: word.map((some) => `${some} long`.repeat(60)) }),
  fc.constant({}),
)
const lists = fc.array(fc.oneof(scalar, objects), { maxLength: 3 })
const mixed = fc.oneof(scalar, text, objects, lists)

/** JSON as a client may write it: escaped where it need not be, with blanks. */
const written = fc.tuple(
  fc.array(fc.record({ m: mixed, o: objects, t: text }, { requiredKeys: [] }), {
    minLength: 1,
    maxLength: 40,
  }),
  fc.constantFrom(
    (json: string) => json,
    (json: string) => json.replace(/[o\u0080-\uffff]/g, escaped).replaceAll('/', '\\/'),
    (json: string) => json.replaceAll('":', '" : ').replaceAll('e21', 'E+21'),
  ),
)

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const paths = fc.constantFrom(
  ...[['m'], ['m', 'a'], ['m', 'a', 'c'], ['m', 0], ['m', -1, 'a'], ['o'], ['o', 'error'], ['t']],
)

const leaf = (value: Value): BoundExpression =>
  ({ kind: 'constant', value, type: 'json' }) as BoundExpression

const predicates: fc.Arbitrary<BoundExpression> = fc.letrec<{ predicate: BoundExpression }>(
  (tie) => ({
    predicate: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      { weight: 6, arbitrary: fc.tuple(paths, fc.nat(8), mixed, word).map(simple) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('and', 'or'), tie('predicate'), tie('predicate'))
          .map(([kind, a, b]) => ({ kind, operands: [a, b], type: 'boolean' }) as BoundExpression),
      },
      {
        weight: 1,
        arbitrary: tie('predicate').map(
          (operand) => ({ kind: 'not', operand, type: 'boolean' }) as BoundExpression,
        ),
      },
    ),
  }),
).predicate

function simple([path, form, value, part]: [(string | number)[], number, Value, string]) {
  const operand = field('metadata', ...path)
  const pattern = leaf(`%${part}%`)
  const forms: BoundExpression[] = [
    { kind: 'like', operand, pattern, caseInsensitive: true, type: 'boolean' },
    { kind: 'like', operand, pattern, caseInsensitive: false, type: 'boolean' },
    { kind: 'match', operand, query: leaf(part), type: 'boolean' },
    { kind: 'includes', haystack: operand, needle: leaf(value), type: 'boolean' },
    { kind: 'comparison', operator: 'eq', left: operand, right: leaf(value), type: 'boolean' },
    { kind: 'comparison', operator: 'lt', left: leaf(value), right: operand, type: 'boolean' },
    { kind: 'in', operand, list: leaf([value, part]), type: 'boolean' },
    { kind: 'is_null', operand, type: 'boolean' },
    {
      kind: 'comparison',
      operator: 'is_same',
      left: { kind: 'call', name: 'lower', arguments: [operand], type: 'string' },
      right: leaf(part),
      type: 'boolean',
    },
  ]
  return forms[form]!
}

describe(`fields of several kinds, seed ${randomSeed}`, { timeout: 600_000 }, () => {
  it('have in each row the value that the expression has for it alone', () => {
    let varied = 0
    fc.assert(
      fc.property(
        written,
        predicates,
        fc.nat(6),
        fc.boolean(),
        (given, predicate, step, isRare) => {
          const [some, write] = given
          // Among many rows, what few of them have is in the residual.
          const records = isRare ? [...some, ...Array(180).fill({ t: 'error' })] : some
          const texts = records.map((metadata, row) => {
            return `{"id":"${row}","metadata":${write(JSON.stringify(metadata))}}`
          })
          const rows = texts.map((json, index) => {
            return versionedRow(json, { version: { transaction: 1000, index } })
          })
          const parsed = texts.map((json) => parseJson(json) as JsonObject)
          const set = shred(rows, { maximumValueBytes: 200 })
          const batch = new ColumnScan(
            set,
            object,
            (_, row, path) => valueAt(parsed[row]!, path),
            undefined,
          ).batch(0, rows.length)
          if (batch.field(['metadata', 'm']).encoding.kind === 'mixed') varied++
          const selection =
            step === 0
              ? undefined
              : Int32Array.from(rows.keys()).filter((row) => row % (step + 1) !== 1)
          const expected = parsed.map((record) => {
            const read = (found: BoundExpression) =>
              found.kind === 'field' ? valueAt(record, found.path) : null
            return evaluate(predicate, read, context)
          })
          const read = valueReader(compile(predicate, context)(batch, selection))
          const alive = selection ?? Int32Array.from(rows.keys())
          for (const row of alive) {
            expect(canonicalJson(read(row)), texts[row]).toBe(canonicalJson(expected[row]!))
          }
          const passing = compileFilter([predicate], context).keep(batch, selection) ?? alive
          expect([...passing]).toEqual([...alive].filter((row) => expected[row] === true))
          const kept = compileFilter([predicate], context).select(batch, selection)
          expect(countFiltered(kept, batch.rowCount)).toBe(passing.length)
        },
      ),
      { numRuns: isSlow ? 20_000 : 1500, seed: randomSeed },
    )
    expect(varied).toBeGreaterThan(100)
  })
})
