/** Reads files of Parquet by a second reader, which shares nothing with the first nor with the writer. */
import parquet from '@dsnp/parquetjs'
import type { TypedColumn } from '../../src/format/column-type.ts'
import type { Value } from '../../src/type/value.ts'

/** The cells of each row as that reader gives them. */
export async function readByParquetjs(
  bytes: Uint8Array,
  columns: readonly TypedColumn[],
): Promise<unknown[][]> {
  const reader = await parquet.ParquetReader.openBuffer(Buffer.from(bytes))
  try {
    const cursor = reader.getCursor()
    const rows: unknown[][] = []
    for (;;) {
      const row = (await cursor.next()) as Record<string, unknown> | null
      if (row === null) return rows
      rows.push(columns.map(({ name }) => (Object.hasOwn(row, name) ? row[name] : null)))
    }
  } finally {
    await reader.close()
  }
}

/**
 * Whether that reader knows columns of these names: it takes one with a comma for a path, and looks names up among
 * those that every object inherits.
 */
export function hasPlainNames(columns: readonly TypedColumn[]): boolean {
  return columns.every(({ name }) => !name.includes(',') && !(name in Object.prototype))
}

/** What a cell is; a time by the millisecond, as that reader has no other. */
export function cellValue(cell: unknown, toValue: (cell: unknown) => Value): Value {
  if (cell === null || cell === undefined) return null
  if (cell instanceof Date) return cell.getTime()
  if (typeof cell !== 'object') return toValue(cell)
  const { list } = cell as { readonly list: readonly { readonly element: string }[] | null }
  return (list ?? []).map(({ element }) => element)
}
