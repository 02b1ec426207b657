/**
 * A Parquet file in pieces: row groups, which can be made by whoever has their rows, and the footer,
 * which tells where each of them came to lie.
 *
 * Texts are `STRING`, times `TIMESTAMP` in microseconds of UTC, lists have three levels. A column of
 * JSON is a text too; the key `assay.columns` of the footer says which those are.
 */
import { gzipSync } from 'node:zlib'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Texts } from '../vector/column.ts'
import type { ColumnData } from './column-data.ts'
import type { ColumnType, TypedColumn } from './column-type.ts'

type RowGroup = ParquetWriter['row_groups'][number]
type SchemaElement = ParquetWriter['schema'][number]

/** Rows of a file and what its footer says of them. Plain data: it crosses threads. */
export interface ParquetRowGroup {
  readonly bytes: Uint8Array
  /** With offsets as if the group came first in its file. */
  readonly metadata: RowGroup
}

const magic = 'PAR1'

/** Of gzip; the library's own Snappy takes longer and leaves half as much again. */
const compressionLevel = 1

export function parquetHead(): Uint8Array {
  return Buffer.from(magic)
}

/** @param checkCancelled is called between pages; what it throws ends the group */
export function parquetRowGroup(
  columns: readonly TypedColumn[],
  data: readonly ColumnData[],
  rowCount: number,
  checkCancelled = () => {},
): ParquetRowGroup {
  const writer = new ByteWriter(64 * 1024)
  const file = new ParquetWriter({
    writer,
    schema: schemaOf(columns),
    codec: 'GZIP',
    compressors: {
      GZIP: (bytes) => {
        checkCancelled()
        return gzipSync(bytes, { level: compressionLevel })
      },
    },
  })
  file.write({
    rowGroupSize: rowCount,
    columnData: columns.map(({ name, type }, i) => ({
      name,
      data: valuesOf(data[i]!),
      offsetIndex: false,
      // JSON texts hardly ever repeat, and their bounds say nothing.
      ...(type === 'json' && { encoding: 'PLAIN', statistics: false }),
    })),
  })
  return { bytes: writer.getBytes().subarray(magic.length), metadata: file.row_groups[0]! }
}

/** Collects the row groups of one file, in their order. */
export class ParquetFooter {
  readonly #columns: readonly TypedColumn[]
  readonly #groups: RowGroup[] = []
  #offset = magic.length

  constructor(columns: readonly TypedColumn[]) {
    this.#columns = columns
  }

  add({ bytes, metadata }: ParquetRowGroup): void {
    this.#groups.push(moved(metadata, BigInt(this.#offset - magic.length)))
    this.#offset += bytes.length
  }

  /** What follows the last row group. */
  finish(): Uint8Array {
    const writer = new ByteWriter(4096)
    const file = new ParquetWriter({
      writer,
      schema: schemaOf(this.#columns),
      createdBy: 'assay',
      kvMetadata: [
        {
          key: 'assay.columns',
          value: JSON.stringify(this.#columns.map(({ name, type }) => ({ name, type }))),
        },
      ],
    })
    file.row_groups = this.#groups
    file.num_rows = this.#groups.reduce((sum, group) => sum + group.num_rows, 0n)
    void file.finish()
    return writer.getBytes().subarray(magic.length)
  }
}

/** The same, `by` bytes further on. */
function moved(group: RowGroup, by: bigint): RowGroup {
  return {
    ...group,
    columns: group.columns.map((column) => {
      const { meta_data: metadata } = column
      const dictionary = metadata?.dictionary_page_offset
      return {
        ...column,
        file_offset: column.file_offset + by,
        ...(metadata && {
          meta_data: {
            ...metadata,
            data_page_offset: metadata.data_page_offset + by,
            ...(dictionary !== undefined && { dictionary_page_offset: dictionary + by }),
          },
        }),
      }
    }),
  }
}

const text = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const

function schemaOf(columns: readonly TypedColumn[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(({ name, type }) => elementsOf(name, type)),
  ]
}

function elementsOf(name: string, type: ColumnType): SchemaElement[] {
  const optional = { name, repetition_type: 'OPTIONAL' } as const
  switch (type) {
    case 'boolean':
      return [{ ...optional, type: 'BOOLEAN' }]
    case 'number':
      return [{ ...optional, type: 'DOUBLE' }]
    case 'integer':
      return [{ ...optional, type: 'INT64' }]
    case 'timestamp':
      return [
        {
          ...optional,
          type: 'INT64',
          converted_type: 'TIMESTAMP_MICROS',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
        },
      ]
    case 'text':
    case 'json':
      return [{ ...optional, ...text }]
    case 'texts':
      return [
        { ...optional, converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', repetition_type: 'OPTIONAL', ...text },
      ]
  }
}

/** The values as the library takes them, null where there is none. */
function valuesOf(column: ColumnData): unknown[] {
  const { rowCount, valid } = column
  const read = readerOf(column)
  const values = new Array<unknown>(rowCount)
  for (let row = 0; row < rowCount; row++) values[row] = valid?.[row] === 0 ? null : read(row)
  return values
}

function readerOf(column: ColumnData): (row: number) => unknown {
  switch (column.kind) {
    case 'booleans':
      return (row) => column.values[row] === 1
    case 'numbers':
    case 'integers':
      return (row) => column.values[row]
    case 'texts':
      return (row) => bytesAt(column.texts, row)
    case 'coded': {
      // The library tells equal texts by their identity.
      const entries = Array.from({ length: column.entries.offsets.length - 1 }, (_, i) =>
        bytesAt(column.entries, i),
      )
      return (row) => entries[column.codes[row]!]
    }
    case 'lists':
      return (row) => {
        const [from, to] = [column.offsets[row]!, column.offsets[row + 1]!]
        return Array.from({ length: to - from }, (_, i) => bytesAt(column.items, from + i))
      }
  }
}

function bytesAt({ bytes, offsets }: Texts, index: number): Uint8Array {
  return bytes.subarray(offsets[index]!, offsets[index + 1]!)
}
