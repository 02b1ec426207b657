/** The indexes of a segment's texts, as columns of its file. */
import { assert } from '../../error.ts'
import type { PathColumns, TextColumn } from '../../vector/column.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import { type ArrowColumn, bytesColumn } from './arrow-column.ts'
import { indexedFromBytes, writeGrams } from './gram-writer.ts'
import { columnName, residualName } from './layout.ts'
import type { BufferPlace, GramIndexMetadata } from './metadata.ts'

export interface GramColumn {
  readonly index: Omit<GramIndexMetadata, 'place'>
  readonly column: ArrowColumn<BufferPlace>
}

/** One for each column, and for the residual, that has enough text. */
export function gramColumns(table: ColumnTable): GramColumn[] {
  const columns = table.pathsBelow([]).flatMap((path) => {
    const { text, json }: PathColumns = table.columns(path) ?? {}
    return [
      ...gramColumn(table, columnName(path, 'text'), { path, type: 'text' }, text),
      ...gramColumn(table, columnName(path, 'json'), { path, type: 'json' }, json),
    ]
  })
  const residual = { path: [], type: 'residual' } as const
  return [...columns, ...gramColumn(table, residualName, residual, table.residual)]
}

function gramColumn(
  { rowCount }: ColumnTable,
  name: string,
  place: Pick<GramIndexMetadata, 'path' | 'type'>,
  column: TextColumn | undefined,
): GramColumn[] {
  if (!column) return []
  assert(column.encoding !== 'compressed', 'texts are indexed before they are compressed')
  const texts = column.encoding === 'plain' ? column.texts : column.dictionary
  if (texts.offsets.at(-1)! < indexedFromBytes) return []
  const { bytes, ...shape } = writeGrams(texts, place.type === 'text' ? 'text' : 'json')
  return [{ index: { ...place, ...shape }, column: bytesColumn(`${name}:index`, bytes, rowCount) }]
}
