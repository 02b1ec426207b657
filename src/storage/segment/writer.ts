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
import type { NumberScale } from '../../kernel/widen.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import {
  type ArrowColumn,
  arrowColumns,
  keyColumn,
  type Place,
  sharedOut,
  textColumn,
} from './arrow-column.ts'
import {
  aligned,
  bufferAlignment,
  type KeyColumnName,
  keyColumnNames,
  looseName,
  mappedBytes,
  paddedFromBytes,
  paddedFromRows,
  residualName,
} from './layout.ts'
import { type BufferPlace, type SegmentMetadata, segmentFormat } from './metadata.ts'
import { objectRows } from './object-rows.ts'
import { dictionaryIndexes } from './text-indexes.ts'

export interface WrittenSegment {
  readonly bytes: Uint8Array
  readonly metadata: SegmentMetadata
}

/**
 * @param rowBytes those of the rows that the columns were made of; compaction goes by them
 * @param currentThrough see `SegmentMetadata`
 */
export function writeSegment(
  table: ColumnTable,
  rowBytes: number,
  currentThrough?: number,
): WrittenSegment {
  const { rowCount, residual } = table
  assert(rowCount > 0, 'a segment has rows')
  const written = writtenKeys(table)
  const keyColumns = written.map((name) => keyColumn(keyColumnNames[name], table.keys[name]!))
  const pathColumns = [[], ...table.pathsBelow([])].flatMap((path) =>
    arrowColumns(path, table.columns(path) ?? {}, rowCount),
  )
  const residuals = residual ? [textColumn(residualName, [], 'json', residual, rowCount)] : []
  const indexes = dictionaryIndexes(table)
  const all = [...keyColumns, ...pathColumns, ...residuals]
  const loose = [
    ...all.flatMap((column) => column.loose ?? []),
    ...indexes.map((index) => index.bytes),
  ]
  const bytes = encodeFile(all, loose, rowCount)

  const columnsOfFile = readBack(bytes)
  const place = placeIn(bytes)
  const loosePlaces = aligned(loose).buffers.map(({ bytes: { length }, offset }) =>
    place(columnsOfFile.at(-1)!.values.subarray(offset, offset + length), length),
  )
  let at = 0
  const describe = <T>(columns: readonly ArrowColumn<T>[]): T[] =>
    columns.map((column) =>
      column.describe(
        columnsOfFile[at++]!,
        place,
        loosePlaces.splice(0, column.loose?.length ?? 0),
      ),
    )
  const keys: Partial<Record<KeyColumnName, BufferPlace>> = {}
  for (const [i, keyPlace] of describe(keyColumns).entries()) keys[written[i]!] = keyPlace
  for (const [name, same] of pairedKeys) keys[name] ??= keys[same]!
  const columns = describe(pathColumns)
  const [residualMetadata] = describe(residuals)
  const partIndexes = indexes.map(({ of }, i) => ({ ...of, place: loosePlaces[i]! }))
  const objects = objectRows(table)
  const metadata: SegmentMetadata = {
    format: segmentFormat,
    rowCount,
    byteLength: bytes.byteLength,
    rowBytes,
    firstTransaction: Math.min(...objects.map((rows) => rows.firstTransaction)),
    lastTransaction: Math.max(...objects.map((rows) => rows.lastTransaction)),
    ...(table.keys.supersededBy && { supersededThrough: greatest(table.keys.supersededBy) }),
    ...(currentThrough !== undefined && { currentThrough }),
    objects,
    keys,
    columns,
    ...(residualMetadata && { residual: residualMetadata }),
    residualPaths: table.residualPaths,
    ...(partIndexes.length > 0 && { partIndexes }),
  }
  return { bytes, metadata }
}

function greatest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0)
}

/** Of a record's first version, both are the same. */
const pairedKeys = [
  ['transaction', 'paginationTransaction'],
  ['index', 'paginationIndex'],
] as const

/** Where all rows are first versions, the place of one column is that of two. */
function writtenKeys({ keys }: ColumnTable): KeyColumnName[] {
  const names = Object.keys(keyColumnNames) as KeyColumnName[]
  const left = pairedKeys.filter(([name, same]) => {
    const values = keys[name]
    const others = keys[same]
    for (let row = 0; row < values.length; row++) if (values[row] !== others[row]) return false
    return true
  })
  return names.filter(
    (name) => keys[name] !== undefined && !left.some(([isLeft]) => isLeft === name),
  )
}

function encodeFile(
  columns: readonly ArrowColumn<unknown>[],
  loose: readonly Uint8Array[],
  rowCount: number,
): Uint8Array {
  const { buffers, byteLength: looseBytes } = aligned(loose)
  const ofRows = columns.reduce((sum, column) => sum + column.data.byteLength, 0)
  const byteLength = ofRows + looseBytes
  const isMapped = byteLength >= paddedFromBytes || rowCount >= paddedFromRows
  const padding = isMapped ? Math.max(0, mappedBytes - byteLength) : 0
  const fields = columns.map(
    ({ name, data, scale }) => new Field(name, data.type, data.nullCount > 0, fieldMetadata(scale)),
  )
  const children = columns.map(({ data }) => data)
  if (looseBytes + padding > 0) {
    const shared = sharedOut(buffers, looseBytes + padding, rowCount)
    fields.push(new Field(looseName, shared.type, false))
    children.push(shared)
  }
  const struct = makeData({ type: new Struct(fields), length: rowCount, nullCount: 0, children })
  return tableToIPC(new Table(new RecordBatch(new Schema(fields), struct)), 'file')
}

/** Says nothing of numbers that stand for themselves. */
function fieldMetadata(scale: NumberScale | undefined): Map<string, string> {
  const isPlain = scale === undefined || (scale.base === 0 && scale.divisor === 1)
  return new Map(isPlain ? [] : Object.entries(scale).map(([name, value]) => [name, `${value}`]))
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
