import { describe, expect, it } from 'vitest'
import type { BoundExpression } from '../../src/binder/bound.ts'
import { evaluate } from '../../src/binder/evaluate.ts'
import { plainValues } from '../../src/executor/column/wire-values.ts'
import { type Batch, VectorField } from '../../src/executor/expression/batch.ts'
import { compile } from '../../src/executor/expression/compile.ts'
import { withSemiJoinSets } from '../../src/executor/expression/semi-join-set.ts'
import type { Relation } from '../../src/executor/relation/relation.ts'
import { pruneRows } from '../../src/executor/scan/prune.ts'
import type { RowsResult } from '../../src/executor/task/task.ts'
import { traceSetOf } from '../../src/scheduler/scan/semi-join-sets.ts'
import type { ColumnMetadata, SegmentMetadata } from '../../src/storage/segment/metadata.ts'
import type { Value } from '../../src/type/value.ts'
import { textEntries, type Vector, valueReader } from '../../src/vector/vector.ts'
import { context, field, inputKinds, ScannedRecords } from '../support/scan-task.ts'

const inSet: BoundExpression = {
  kind: 'in_traces',
  set: 0,
  object: field('#object'),
  trace: field('root_span_id'),
  type: 'boolean',
}

/** Groups by object and trace, as the plan of a set leaves them. */
function relationOf(rows: readonly (readonly [object: number, trace: Value])[]): Relation {
  return {
    rowCount: rows.length,
    rows: undefined,
    groupColumns: [
      { kind: 'number', values: Float64Array.from(rows, ([object]) => object) },
      plainValues(rows.map(([, trace]) => trace)),
    ],
    fields: [],
  }
}

const set = traceSetOf(
  relationOf([
    [1, 'a'],
    [2, 'b'],
    [1, null],
    [1, 'é'],
    [1, ''],
    [1, 'half \ud800'],
  ]),
)

const traces = ['a', 'b', 'é', '', null, 'half \ud800', 'half \ufffd', 'ab']
const texts = traces.filter((trace) => trace === null || !/half/.test(trace))

function batchOf(object: Vector, trace: Vector, rowCount: number): Batch {
  return {
    rowCount,
    field: (path) => new VectorField(path[0] === '#object' ? object : trace),
  }
}

function textVector(values: readonly (string | null)[]): Extract<Vector, { kind: 'text' }> {
  const parts = values.map((value) => Buffer.from(value ?? ''))
  const offsets = new Int32Array(parts.length + 1)
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + part.length
  const valid = Uint8Array.from(values, (value) => (value === null ? 0 : 1))
  return { kind: 'text', texts: { bytes: Buffer.concat(parts), offsets }, first: 0, valid }
}

/** Ways by which a batch may hold the traces. */
const forms: readonly (readonly [string, readonly (string | null)[], Vector])[] = [
  ['boxed values', traces, { kind: 'values', values: traces }],
  ['texts', texts, textVector(texts)],
  [
    'a dictionary',
    texts,
    {
      kind: 'dictionary',
      codes: Int32Array.from(texts, (text, i) => (text === null ? -1 : i)),
      entries: textEntries(textVector(texts).texts, 'text'),
    },
  ],
  ['a constant', ['a'], { kind: 'constant', value: 'a' }],
]

describe('a condition on a set of traces', () => {
  const task = withSemiJoinSets(context, [set])

  it.each(forms)('gives in %s what it gives value by value', (_, values, trace) => {
    for (const number of [1, 2, 3]) {
      const objects: Vector[] = [
        { kind: 'constant', value: number },
        { kind: 'number', values: new Float64Array(values.length).fill(number) },
      ]
      const expected = values.map((value) =>
        evaluate(
          inSet,
          (leaf) => (leaf.kind === 'field' && leaf.path[0] === '#object' ? number : value),
          task,
        ),
      )
      for (const object of objects) {
        const found = compile(inSet, task)(batchOf(object, trace, values.length), undefined)
        const read = valueReader(found)
        expect(values.map((_value, row) => read(row))).toEqual(expected)
      }
    }
  })

  it('knows the traces of an object from those of another, and null from all', () => {
    const holds = (object: number, trace: Value) => task.inTraces!(0, object, trace)
    expect(traces.filter((trace) => holds(1, trace))).toEqual(['a', 'é', '', 'half \ud800'])
    expect(traces.filter((trace) => holds(2, trace))).toEqual(['b'])
    expect(traces.filter((trace) => holds(3, trace))).toEqual([])
  })

  it.each(inputKinds)('filters the rows of a scan: %s', (kind) => {
    const rows = [
      { id: 'r0', root_span_id: 'a' },
      { id: 'r1', root_span_id: 'b' },
      { id: 'r2', root_span_id: 'é' },
    ]
    const records = new ScannedRecords(rows)
    const stage = { kind: 'rows', carried: ['#object'] } as const
    const plan = { stage, predicates: [inSet] }
    const { rows: found } = records.scan(plan, kind, { semiJoinSets: [set] }) as RowsResult
    const { transaction } = records.set.keys
    expect(Array.from(found.transaction, (t) => records.ids[transaction.indexOf(t)])).toEqual([
      'r2',
      'r0',
    ])
    expect(found.keys[0]).toEqual({ kind: 'number', values: Float64Array.of(1, 1) })
  })
})

describe('pruning by a set of traces', () => {
  const roots: ColumnMetadata = {
    path: ['root_span_id'],
    type: 'text',
    encoding: 'plain',
    nullCount: 0,
    offsets: [0, 0, 0],
    bytes: [0, 0, 0],
    bounds: { minimum: 'c', maximum: 'e' },
  }
  const metadata = { columns: [roots], keys: {} } as unknown as SegmentMetadata
  const rowsOf = (object: number) => ({ object, from: 0, to: 10 }) as never
  const isRead = (object: number, semiJoinSets: Parameters<typeof pruneRows>[3]) =>
    pruneRows(metadata, rowsOf(object), [inSet], semiJoinSets).ranges.length > 0

  it('leaves out a segment in which none of its traces can be', () => {
    const relation = relationOf([
      [1, 'a'],
      [1, 'f'],
      [2, 'd'],
    ])
    const found = [traceSetOf(relation)]
    expect(isRead(1, found)).toBe(false)
    expect(isRead(2, found)).toBe(true)
    expect(isRead(3, found)).toBe(false)
  })

  it('reads what it does not know', () => {
    expect(isRead(1, [])).toBe(true)
    const many = Array.from({ length: 65 }, (_, i) => [1, `a${i}`] as const)
    expect(isRead(1, [traceSetOf(relationOf(many))])).toBe(true)
  })

  it('leaves out a segment without nulls for a test for null', () => {
    const isNull = (path: string): BoundExpression => ({
      kind: 'is_null',
      operand: field(path),
      type: 'boolean',
    })
    const ranges = (path: string) => pruneRows(metadata, rowsOf(1), [isNull(path)], []).ranges
    expect(ranges('root_span_id')).toEqual([])
    expect(ranges('input')).toEqual([{ from: 0, to: 10 }])
    expect(ranges('_pagination_key')).toEqual([{ from: 0, to: 10 }])
  })
})
