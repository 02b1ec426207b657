/** What is kept of the row groups of a file until its end, and the footer that is made of it. */
import { parquetMetadata } from 'hyparquet'
import { expect, test } from 'vitest'
import { columnBuffer } from '../../src/format/column-buffer.ts'
import type { TypedColumn } from '../../src/format/column-type.ts'
import { ParquetFooter, parquetHead, parquetRowGroup } from '../../src/format/parquet-file.ts'
import type { Value } from '../../src/type/value.ts'

const columns: readonly TypedColumn[] = [
  { name: 'id', type: 'text' },
  { name: 'tokens', type: 'number' },
  { name: 'input', type: 'json' },
]

function rowGroup(from: number, count: number) {
  const rows = Array.from({ length: count }, (_, i) => [`row ${from + i}`, from + i, { n: i }])
  const data = columns.map(({ type }, c) => {
    const buffer = columnBuffer(type, false, count)
    for (const row of rows) buffer.push(row[c] as Value)
    return buffer.finish()
  })
  return parquetRowGroup(columns, data, count)
}

/** All memory that the views in it are of: what crosses to another thread with it. */
function memoryOf(part: unknown): number {
  if (ArrayBuffer.isView(part)) return part.buffer.byteLength
  if (typeof part !== 'object' || part === null) return 0
  return Object.values(part).reduce<number>((sum, each) => sum + memoryOf(each), 0)
}

test('the bounds of texts take no more along than themselves', () => {
  const { metadata } = rowGroup(0, 5000)
  expect(metadata.columns[0]?.meta_data?.statistics).toMatchObject({
    min_value: Uint8Array.from(Buffer.from('row 0')),
    max_value: Uint8Array.from(Buffer.from('row 999')),
  })
  expect(memoryOf(metadata)).toBe('row 0'.length + 'row 999'.length)
})

test.each([0, 1, 14, 15, 300])('a footer of %i row groups tells where each is', (count) => {
  const footer = new ParquetFooter(columns)
  const parts: Uint8Array[] = [parquetHead()]
  const groups = Array.from({ length: count }, (_, i) => rowGroup(i * 3, 1 + (i % 3)))
  const places: number[] = []
  for (const group of groups) {
    places.push(Buffer.concat(parts).length)
    footer.add(group)
    parts.push(group.bytes)
  }
  parts.push(footer.finish())
  const file = Buffer.concat(parts)
  const read = parquetMetadata(new Uint8Array(file).buffer)
  const rowCount = groups.reduce((sum, { metadata }) => sum + metadata.num_rows, 0n)
  expect(read).toMatchObject({ num_rows: rowCount, created_by: 'assay' })
  expect(read.key_value_metadata?.[0]?.value).toBe(JSON.stringify(columns))
  expect(read.schema.map(({ name }) => name)).toEqual(['root', 'id', 'tokens', 'input'])
  expect(read.metadata_length).toBe(file.length - Buffer.concat(parts.slice(0, -1)).length - 8)
  expect(read.row_groups.map(({ num_rows: rows }) => rows)).toEqual(
    groups.map(({ metadata }) => metadata.num_rows),
  )
  for (const [g, group] of read.row_groups.entries()) {
    const given = groups[g]!.metadata.columns
    for (const [c, { meta_data: column, file_offset: offset }] of group.columns.entries()) {
      const by = places[g]! - parquetHead().length
      expect(Number(offset)).toBe(Number(given[c]!.file_offset) + by)
      expect(Number(column!.data_page_offset)).toBe(
        Number(given[c]!.meta_data!.data_page_offset) + by,
      )
      expect(column!.num_values).toBe(group.num_rows)
    }
    const text = group.columns[0]!.meta_data!.statistics
    expect(text).toMatchObject({ min_value: `row ${g * 3}`, null_count: 0n })
  }
})
