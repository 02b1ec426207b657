import { describe, expect, test } from 'vitest'
import {
  ColumnBuilder,
  columnOf,
  compactColumn,
  gatherColumn,
  sliceColumn,
} from '../../src/executor/column/relation-column.ts'
import { plainValues, vectorOf, type WireValues } from '../../src/executor/column/wire-values.ts'
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
  ]

  test.each(columns)('are cut out: %#', (column, values) => {
    expect(valuesOf(sliceColumn(column, 1, 3), 2)).toEqual(values.slice(1, 3))
    expect(valuesOf(sliceColumn(column, 4, 4), 0)).toEqual([])
  })

  test.each(columns)('are put in another order: %#', (column, values) => {
    const rows = [3, 0, 0, 1, 2]
    const gathered = gatherColumn(column, Int32Array.from(rows))
    expect(valuesOf(gathered, rows.length)).toEqual(rows.map((row) => values[row]))
  })
})
