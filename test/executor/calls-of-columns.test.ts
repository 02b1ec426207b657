/** Calls that are made for whole columns give what they give value by value, whatever the columns hold. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { evaluate } from '../../src/binder/evaluate.ts'
import { VectorField } from '../../src/executor/expression/batch.ts'
import { compile } from '../../src/executor/expression/compile.ts'
import { costFields } from '../../src/function/cost.ts'
import { dateParts } from '../../src/function/time.ts'
import { type Path, Timestamp, type Value } from '../../src/type/value.ts'
import {
  compactValues,
  rowsOf,
  type Selection,
  type Vector,
  valueEntries,
  valueReader,
} from '../../src/vector/vector.ts'
import { randomSeed as seed } from '../support/random-seed.ts'
import { constant, field } from '../support/scan-task.ts'

const rowCount = 12

const counts = fc.constantFrom<Value>(null, null, 0, 1, 250, 1_000_000, -5, 1.5, true, '7', 12n)
const columnsOfCost: readonly fc.Arbitrary<Value>[] = [
  fc.constantFrom<Value>(null, null, null, 'scorer', 'other'),
  fc.constantFrom<Value>(null, null, null, 0.25, 0, false, '1'),
  fc.constantFrom<Value>('gpt-4o', 'claude-sonnet-4-5', 'o3', 'unheard', 7, null),
  ...costFields.slice(3).map(() => counts),
]

/** All of one value, of several, or of some types. */
function column(values: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> {
  const many = fc.array(values, { minLength: rowCount, maxLength: rowCount })
  const one = values.map((value) => new Array<Value>(rowCount).fill(value))
  const plain = many.map((all) => {
    return all.map((value) => (typeof value === typeof all[0] ? value : null))
  })
  return fc.oneof(many, one, plain)
}

const vectors: Readonly<Record<string, (values: Value[]) => Vector>> = {
  compact: (values) => compactValues([...values], rowsOf(undefined, rowCount)),
  boxed: (values) => ({ kind: 'values', values }),
  dictionary: (values) => {
    const entries = [...new Set(values)].filter((value) => value !== null)
    const codes = Int32Array.from(values, (value) => (value === null ? -1 : entries.indexOf(value)))
    return { kind: 'dictionary', codes, entries: valueEntries(entries) }
  },
}
const vectorKind = fc.constantFrom(...Object.keys(vectors))
const selection = fc.option(
  fc
    .subarray([...rowsOf(undefined, rowCount)], { minLength: 1 })
    .map((rows) => Int32Array.from(rows)),
  { nil: undefined },
)

interface Columns {
  readonly paths: readonly Path[]
  readonly values: readonly Value[][]
  readonly kinds: readonly string[]
}

function check(node: BoundExpression, columns: Columns, tzOffset: number, rows: Selection): void {
  const context = { now: 0, tzOffset }
  const at = (path: Path) => columns.paths.findIndex((each) => each.join() === path.join())
  const fields = columns.values.map((values, i) => {
    return new VectorField(vectors[columns.kinds[i]!]!(values))
  })
  const made = compile(node, context)({ rowCount, field: (path) => fields[at(path)]! }, rows)
  const read = valueReader(made)
  for (const row of rowsOf(rows, rowCount)) {
    const leaf = (leaf: { kind: string; path?: Path }) => columns.values[at(leaf.path!)]![row]!
    expect(read(row)).toEqual(evaluate(node, leaf, context))
  }
}

test('estimated_cost', () => {
  const node: BoundExpression = {
    kind: 'call',
    name: 'estimated_cost',
    arguments: costFields.map((path) => field(...path)),
    type: 'number',
  }
  const values = fc.tuple(...columnsOfCost.map(column))
  const kinds = fc.array(vectorKind, { minLength: costFields.length, maxLength: costFields.length })
  fc.assert(
    fc.property(values, kinds, selection, (values, kinds, rows) => {
      check(node, { paths: costFields, values, kinds }, 0, rows)
    }),
    { seed, numRuns: 300 },
  )
})

test('coalesce', () => {
  const paths = [['a'], ['b'], ['c']]
  const time = fc.constantFrom<Value>(new Timestamp(5), new Timestamp(-7), null)
  const values = fc.oneof(counts, time)
  const columns = fc.tuple(...paths.map(() => column(values)))
  const kinds = fc.tuple(...paths.map(() => vectorKind))
  fc.assert(
    fc.property(columns, kinds, selection, (values, kinds, rows) => {
      const node: BoundExpression = {
        kind: 'call',
        name: 'coalesce',
        arguments: paths.map((path) => field(...path)),
        type: 'json',
      }
      check(node, { paths, values, kinds }, 0, rows)
    }),
    { seed, numRuns: 500 },
  )
})

const timeCalls = {
  date_trunc: ['day', '6 hours', '15 minutes', ' 2 DAYS', 'weeks', 'month', '1 quarter', 'year'],
  date_part: dateParts,
} as const

test.each(['date_trunc', 'date_part'] as const)('%s', (name) => {
  const times = fc.oneof(
    fc.integer({ min: -1e12, max: 4e12 }).map((ms) => new Timestamp(ms) as Value),
    fc.integer({ min: -100, max: 100 }).map((minutes) => new Timestamp(minutes * 60_000.5)),
    fc.constantFrom<Value>(null, '2026-01-01T00:00:00Z', 'no time'),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...timeCalls[name]),
      column(times),
      vectorKind,
      fc.constantFrom(0, -330, 480),
      selection,
      (unit, values, kind, tzOffset, rows) => {
        const node: BoundExpression = {
          kind: 'call',
          name,
          arguments: [constant(unit), field('created')],
          type: 'json',
        }
        check(node, { paths: [['created']], values: [values], kinds: [kind] }, tzOffset, rows)
      },
    ),
    { seed, numRuns: 300 },
  )
})
