import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CollectState } from '../../src/executor/aggregate/collect.ts'
import { keyAt } from '../../src/executor/column/key-column.ts'
import {
  ColumnBuilder,
  columnOf,
  columnReader,
  compactColumn,
  gatherColumn,
  gatherOrNull,
  sliceColumn,
  vectorSlices,
} from '../../src/executor/column/relation-column.ts'
import {
  countOf,
  plainValues,
  vectorOf,
  type WireValues,
} from '../../src/executor/column/wire-values.ts'
import { fromPlain } from '../../src/type/plain.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'
import { valueReader } from '../../src/vector/vector.ts'

function valuesOf(column: WireValues, count: number): Value[] {
  const read = valueReader(vectorOf(column))
  return Array.from({ length: count }, (_, row) => read(row))
}

const mixed: Value[] = [1, null, new Timestamp(5), 'text', true, 2n ** 70n, [1, { a: null }]]

describe('a column of values', () => {
  test('is numbers or times when it holds nothing else', () => {
    expect(columnOf([1, null, 2.5])).toEqual({
      kind: 'number',
      values: Float64Array.of(1, Number.NaN, 2.5),
    })
    expect(columnOf([null, new Timestamp(7)])).toEqual({
      kind: 'timestamp',
      values: Float64Array.of(Number.NaN, 7),
    })
    expect(valuesOf(columnOf([null, null]), 2)).toEqual([null, null])
  })

  test('holds any kinds, in whatever order they come', () => {
    for (let turn = 0; turn < mixed.length; turn++) {
      const values = [...mixed.slice(turn), ...mixed.slice(0, turn)]
      expect(valuesOf(columnOf(values), values.length)).toEqual(values)
    }
  })

  test('is arrays when it holds nothing but objects of numbers, whose keys stay in their order', () => {
    const column = columnOf([null, { b: 1, a: null }, {}, { a: 0.5 }])
    expect(column).toEqual({
      kind: 'objects',
      valid: Uint8Array.of(0, 1, 1, 1),
      offsets: Int32Array.of(0, 0, 2, 2, 3),
      keys: Int32Array.of(0, 1, 1),
      numbers: Float64Array.of(1, Number.NaN, 0.5),
      names: ['b', 'a'],
    })
    expect(JSON.stringify(valuesOf(column, 4))).toBe('[null,{"b":1,"a":null},{},{"a":0.5}]')
  })

  test('gives back any objects', () => {
    const member = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null))
    const object: fc.Arbitrary<Value> = fc.dictionary(
      fc.oneof(fc.constantFrom('a', 'b', '1', '__proto__'), fc.string()),
      fc.oneof({ weight: 20, arbitrary: member }, { weight: 1, arbitrary: fc.bigInt() }),
    )
    const values = fc.array(fc.oneof({ weight: 9, arbitrary: object }, fc.constant(null)))
    fc.assert(
      fc.property(values, (all) => {
        const given = valuesOf(columnOf(all), all.length)
        expect(given).toEqual(
          all.map((value) => value && Object.assign(Object.create(null), value)),
        )
        expect(given.map((value) => value && Object.keys(value))).toEqual(
          all.map((value) => value && Object.keys(value)),
        )
      }),
    )
  })

  test('is put together from vectors of batches, with the rows that are alive', () => {
    const builder = new ColumnBuilder(6)
    builder.append({ kind: 'number', values: Float64Array.of(1, 2, 3) }, 3, undefined)
    builder.append({ kind: 'number', values: Float64Array.of(4, 5, 6) }, 3, Int32Array.of(2))
    builder.append({ kind: 'boolean', values: Uint8Array.of(1, 2) }, 2, undefined)
    expect(valuesOf(builder.finish(), 6)).toEqual([1, 2, 3, 6, true, null])
  })

  test('that came in boxes is unpacked', () => {
    expect(compactColumn(plainValues([1, null]))).toEqual(columnOf([1, null]))
    expect(compactColumn(plainValues([new Timestamp(1), null]))).toEqual(
      columnOf([new Timestamp(1), null]),
    )
    expect(valuesOf(compactColumn(plainValues(mixed)), mixed.length)).toEqual(mixed)
  })
})

/** Lists by group: of texts, of a text and a number, none. */
function lists(): WireValues {
  const state = new CollectState()
  state.resize(4)
  const values: Value[] = ['b', 'a', 'b', 'x', 7]
  const groups = Int32Array.of(0, 0, 0, 1, 1)
  const rows = { rowCount: 5, selection: undefined, groups, count: 5 }
  state.update([{ kind: 'values', values }], rows)
  return state.column(Int32Array.of(0, 2, 1, 0))!
}

describe('rows of a column', () => {
  const texts: WireValues = {
    kind: 'texts',
    bytes: Buffer.from('aßc'),
    offsets: Int32Array.of(0, 1, 1, 3, 4),
    valid: Uint8Array.of(1, 0, 1, 1),
  }
  const columns: readonly (readonly [WireValues, Value[]])[] = [
    [texts, ['a', null, 'ß', 'c']],
    [columnOf([1, null, 3, 4]), [1, null, 3, 4]],
    [columnOf(['x', null, true, 4]), ['x', null, true, 4]],
    [columnOf([{ a: 1 }, null, {}, { b: 2, a: 3 }]), [{ a: 1 }, null, {}, { b: 2, a: 3 }]],
    [lists(), [['a', 'b', 'b'], null, [7, 'x'], ['a', 'b', 'b']]],
  ]

  test.each(columns)('are cut out: %#', (column, values) => {
    expect(valuesOf(sliceColumn(column, 1, 3), 2)).toEqual(values.slice(1, 3))
    expect(valuesOf(sliceColumn(column, 4, 4), 0)).toEqual([])
  })

  test.each(columns)('are read one by one, and in parts: %#', (column, values) => {
    expect(countOf(column)).toBe(values.length)
    const read = columnReader(column)
    const slices = vectorSlices(column)
    for (const [row, value] of values.entries()) {
      expect(read(row)).toEqual(value)
      expect(fromPlain(keyAt(column, row))).toEqual(value)
      const part = valueReader(slices(row, values.length))
      expect(values.slice(row).map((_, i) => part(i))).toEqual(values.slice(row))
    }
  })

  test.each(columns)('are null where there is none: %#', (column, values) => {
    const rows = [3, -1, 0, 2, -1]
    const gathered = gatherOrNull(column, Int32Array.from(rows))
    expect(valuesOf(gathered, rows.length)).toEqual(rows.map((row) => values[row] ?? null))
    const again = gatherColumn(gathered, Int32Array.of(1, 2))
    expect(valuesOf(again, 2)).toEqual([null, values[0]])
  })

  test.each(columns)('are put in another order: %#', (column, values) => {
    const rows = [3, 0, 0, 1, 2]
    const gathered = gatherColumn(column, Int32Array.from(rows))
    expect(valuesOf(gathered, rows.length)).toEqual(rows.map((row) => values[row]))
  })
})
