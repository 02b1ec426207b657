import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BoundUnpivot } from '../../src/binder/bound.ts'
import { keyAt } from '../../src/executor/column/key-column.ts'
import type { SortedRows } from '../../src/executor/column/row-list.ts'
import { ColumnScan } from '../../src/executor/scan/column-scan.ts'
import { elementsOf } from '../../src/executor/scan/unpivot-batch.ts'
import type { GroupsResult, RowsResult } from '../../src/executor/task/task.ts'
import { fromPlain } from '../../src/type/plain.ts'
import type { Value } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import {
  constant,
  field,
  inputKinds,
  keyReader,
  object,
  type RecordWithId,
  ScannedRecords,
} from '../support/scan-task.ts'

const scores: BoundUnpivot = { expression: field('metadata', 'v'), index: 0 }
const inner: BoundUnpivot = { expression: field('#value0'), index: 1 }

const leaf = fc.constantFrom(null, 0, 1, 0.5, true, 'x', 'y', '')
const list = fc.array(fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })), { maxLength: 4 })
const entries = fc.dictionary(fc.constantFrom('b', 'a', 'é', '0'), fc.oneof(leaf, list))
const nested = fc.record({ a: leaf, o: fc.record({ k: leaf }) })
/** Mostly objects of numbers, as scores are, and now and then something else. */
const unpivoted = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.dictionary(
      fc.constantFrom('b', 'a', 'c'),
      fc.double({ min: -9, max: 9, noNaN: true }),
    ),
  },
  entries,
  list,
  nested,
  leaf,
)

interface Given extends RecordWithId {
  readonly metadata: { readonly v: unknown }
}

const records = fc
  .array(unpivoted, { minLength: 1, maxLength: 12 })
  .map((values): Given[] => values.map((v, i) => ({ id: `r${i}`, metadata: { v } })))

/** What unpivoting is to give, newest rows first. */
function expectedRows(given: readonly Given[]): [id: string, name: Value, value: Value][] {
  return given
    .toReversed()
    .flatMap(({ id, metadata }) =>
      elementsOf(metadata.v as Value).map(([name, value]) => [id, name, value] as never),
    )
}

function text(values: readonly Value[]): string {
  return canonicalJson(values)
}

function idOf(rows: ScannedRecords, transaction: number): string {
  return rows.ids[rows.set.keys.transaction.indexOf(transaction)]!
}

describe('unpivoting a scan', () => {
  it('gives the elements of each row in order, for rows', () => {
    const stage = { kind: 'rows', carried: ['#name0', '#value0'] } as const
    fc.assert(
      fc.property(records, (given) => {
        ScannedRecords.during(given, (rows) => {
          for (const kind of inputKinds) {
            const { rows: found } = rows.scan({ stage, unpivots: [scores] }, kind) as RowsResult
            const [names, values] = found.keys
            const made = Array.from(found.transaction, (transaction, i) =>
              text([
                idOf(rows, transaction),
                fromPlain(keyAt(names!, i)),
                fromPlain(keyAt(values!, i)),
              ]),
            )
            expect(made).toEqual(expectedRows(given).map(text))
          }
        })
      }),
      { numRuns: 25 },
    )
  })

  it('gives the same elements to groups, whether columns hold them or not', () => {
    const keys = [field('id'), field('#name0'), field('#value0')]
    const stage = { kind: 'groups', keys, aggregates: [], row: undefined } as const
    fc.assert(
      fc.property(records, (given) => {
        ScannedRecords.during(given, (rows) => {
          for (const kind of inputKinds) {
            const found = rows.scan({ stage, unpivots: [scores] }, kind) as GroupsResult
            const readers = found.keys.map(keyReader)
            const made = Array.from({ length: found.groupCount }, (_, group) =>
              text(readers.map((read) => read(group))),
            )
            expect(made.sort()).toEqual(expectedRows(given).map(text).sort())
          }
        })
      }),
      { numRuns: 25 },
    )
  })

  it('keeps the fields of rows that have other members', () => {
    const rows = new ScannedRecords([
      { id: 'r0', metadata: { v: { a: 1 }, mixed: 1 } },
      { id: 'r1', metadata: { v: { b: 2 }, mixed: 'text' } },
    ])
    const keys = [field('#name0'), field('metadata', 'mixed')]
    const stage = { kind: 'groups', keys, aggregates: [], row: undefined } as const
    for (const kind of inputKinds) {
      const found = rows.scan({ stage, unpivots: [scores] }, kind) as GroupsResult
      const [names, mixed] = found.keys.map(keyReader)
      const made = [0, 1].map((group) => [names!(group), mixed!(group)])
      expect(made.sort()).toEqual([
        ['a', 1],
        ['b', 'text'],
      ])
    }
  })

  it('chains, and filters what was made', () => {
    const rows = new ScannedRecords([
      { id: 'r0', metadata: { v: { a: [1, 2], b: [3] } } },
      { id: 'r1', metadata: { v: [[4, 5]] } },
    ])
    const stage = { kind: 'rows', carried: ['#name0', '#name1', '#value1'] } as const
    const predicate = {
      kind: 'comparison',
      operator: 'ge',
      left: field('#value1'),
      right: constant(2),
      type: 'boolean',
    } as const
    const plan = { stage, unpivots: [scores, inner], unpivotedPredicates: [predicate] }
    for (const kind of inputKinds) {
      const { rows: found } = rows.scan(plan, kind) as RowsResult
      const made = Array.from(found.transaction, (transaction, i) => [
        idOf(rows, transaction),
        ...found.keys.map((column) => keyAt(column, i)),
      ])
      expect(made).toEqual([
        ['r1', 0, 0, 4],
        ['r1', 0, 1, 5],
        ['r0', 'a', 1, 2],
        ['r0', 'b', 0, 3],
      ])
    }
  })

  it('splits rows with more elements than a batch has rows', () => {
    const v = Array.from({ length: 20_000 }, (_, i) => i)
    const rows = new ScannedRecords([
      { id: 'r0', metadata: { v } },
      { id: 'r1', metadata: { v } },
    ])
    const stage = { kind: 'rows', carried: ['#name0'] } as const
    const { rows: found } = rows.scan({ stage, unpivots: [scores] }) as RowsResult
    expect(firstKeys(found)).toEqual([...v, ...v])
    expect(idOf(rows, found.transaction[20_000]!)).toBe('r0')
    const first = rows.scan({ stage, unpivots: [scores] }, 'segment', { wanted: 20_001 })
    expect(firstKeys((first as RowsResult).rows)).toEqual([...v, 0])
  })
})

function firstKeys({ keys, object: { length } }: SortedRows) {
  return Array.from({ length }, (_, row) => keyAt(keys[0]!, row))
}

describe('entries of a batch', () => {
  function names(values: readonly unknown[]): string[] | undefined {
    const rows = new ScannedRecords(values.map((v, i) => ({ id: `r${i}`, metadata: { v } })))
    const scan = new ColumnScan(rows.set, object, () => null, undefined)
    const batch = scan.batch(0, values.length)
    return batch.field(['metadata', 'v']).members?.map(({ name }) => name)
  }

  it('are the columns of members, by name', () => {
    expect(names([{ b: 1 }, { a: 2 }])).toEqual(['a', 'b'])
    expect(names([{ a: 1 }, {}, null, 7, 'text', []])).toEqual(['a'])
    expect(names([{ a: 1 }, { a: 'text' }, { a: [1] }])).toEqual(['a'])
  })

  it('are not known when columns do not tell all members', () => {
    expect(names([{ a: 1 }, [1]])).toBeUndefined()
    expect(names([{ a: 1 }, { a: { k: 1 } }])).toBeUndefined()
    expect(names([{ a: 'x'.repeat(2 << 20) }])).toBeUndefined()
  })
})
