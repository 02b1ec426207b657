/** Columns to the bytes of a segment and its metadata. See `layout.ts` for the bytes. */
import { crc32 } from 'node:zlib'
import {
  type Data,
  Field,
  makeData,
  RecordBatch,
  RecordBatchReader,
  Schema,
  Struct,
  Table,
  tableToIPC,
} from 'apache-arrow'
import { assert } from '../../error.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import {
  type ArrowColumn,
  arrowColumns,
  keyColumn,
  type Place,
  paddingColumn,
  textColumn,
} from './arrow-column.ts'
import {
  bufferAlignment,
  type KeyColumnName,
  keyColumnNames,
  mappedBytes,
  paddedFromBytes,
  paddedFromRows,
  paddingName,
  residualName,
} from './layout.ts'
import { type BufferPlace, type SegmentMetadata, segmentFormat } from './metadata.ts'
import { objectRows } from './object-rows.ts'
import { textIndexColumns } from './text-index-column.ts'

export interface WrittenSegment {
  readonly bytes: Uint8Array
  readonly metadata: SegmentMetadata
}

/**
 * Smaller segments are those that were flushed, which are soon merged with others and indexed then. Their
 * texts are searched in some milliseconds.
 */
const indexedFromRows = 2 ** 15
const indexedFromRowBytes = 2 ** 25

/**
 * @param rowBytes those of the rows that the columns were made of; compaction goes by them
 * @param isIndexed whether texts of rows have an index
 */
export function writeSegment(
  table: ColumnTable,
  rowBytes: number,
  isIndexed = table.rowCount >= indexedFromRows || rowBytes >= indexedFromRowBytes,
): WrittenSegment {
  const { rowCount, residual } = table
  assert(rowCount > 0, 'a segment has rows')
  const keyColumns = keyNames(table).map((name) =>
    keyColumn(keyColumnNames[name], table.keys[name]!),
  )
  const pathColumns = [[], ...table.pathsBelow([])].flatMap((path) =>
    arrowColumns(path, table.columns(path) ?? {}, rowCount),
  )
  const residuals = residual ? [textColumn(residualName, [], 'json', residual, rowCount)] : []
  const indexes = textIndexColumns(table, isIndexed)
  const indexColumns = indexes.flatMap((index) => index.columns)
  const bytes = encodeFile([...keyColumns, ...pathColumns, ...residuals, ...indexColumns], rowCount)

  const written = readBack(bytes)
  const place = placeIn(bytes)
  let at = 0
  const describe = <T>(columns: readonly ArrowColumn<T>[]): T[] =>
    columns.map((column) => column.describe(written[at++]!, place))
  const keys: Partial<Record<KeyColumnName, BufferPlace>> = {}
  for (const [i, keyPlace] of describe(keyColumns).entries()) keys[keyNames(table)[i]!] = keyPlace
  const columns = describe(pathColumns)
  const [residualMetadata] = describe(residuals)
  const described = indexes.map((index) => index.describe(describe(index.columns)))
  const partIndexes = described.flatMap(({ grams }) => grams ?? [])
  const wordIndexes = described.flatMap(({ terms }) => terms ?? [])
  const objects = objectRows(table)
  const metadata: SegmentMetadata = {
    format: segmentFormat,
    rowCount,
    byteLength: bytes.byteLength,
    rowBytes,
    firstTransaction: Math.min(...objects.map((rows) => rows.firstTransaction)),
    lastTransaction: Math.max(...objects.map((rows) => rows.lastTransaction)),
    objects,
    keys,
    columns,
    ...(residualMetadata && { residual: residualMetadata }),
    ...(table.residualPaths && { residualPaths: table.residualPaths }),
    ...(partIndexes.length > 0 && { partIndexes }),
    ...(wordIndexes.length > 0 && { wordIndexes }),
  }
  return { bytes, metadata }
}

function keyNames(table: ColumnTable): KeyColumnName[] {
  const names = Object.keys(keyColumnNames) as KeyColumnName[]
  return names.filter((name) => table.keys[name] !== undefined)
}

function encodeFile(columns: readonly ArrowColumn<unknown>[], rowCount: number): Uint8Array {
  const byteLength = columns.reduce((sum, column) => sum + column.data.byteLength, 0)
  const padded =
    byteLength < mappedBytes && (byteLength >= paddedFromBytes || rowCount >= paddedFromRows)
  const all = padded
    ? [...columns, paddingColumn(paddingName, mappedBytes - byteLength, rowCount)]
    : columns
  const fields = all.map(({ name, data }) => new Field(name, data.type, data.nullCount > 0))
  const struct = makeData({
    type: new Struct(fields),
    length: rowCount,
    nullCount: 0,
    children: all.map(({ data }) => data),
  })
  return tableToIPC(new Table(new RecordBatch(new Schema(fields), struct)), 'file')
}

/** The columns of the file, as views over its bytes. */
function readBack(bytes: Uint8Array): readonly Data[] {
  const [batch, ...more] = RecordBatchReader.from(bytes)
  assert(batch && more.length === 0, 'a segment has one record batch')
  return batch.data.children
}

function placeIn(bytes: Uint8Array): Place {
  return (view, byteLength) => {
    if (byteLength === 0) return [0, 0, 0]
    const offset = view.byteOffset - bytes.byteOffset
    assert(
      view.buffer === bytes.buffer &&
        offset % bufferAlignment === 0 &&
        byteLength <= view.byteLength,
      'a column was read back in place',
    )
    return [offset, byteLength, crc32(bytes.subarray(offset, offset + byteLength))]
  }
}
