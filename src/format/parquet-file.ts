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
type Statistics = NonNullable<NonNullable<RowGroup['columns'][number]['meta_data']>['statistics']>

/** Rows of a file and what its footer says of them. Plain data: it crosses threads. */
export interface ParquetRowGroup {
  readonly bytes: Uint8Array
  /** With offsets as if the group came first in its file. */
  readonly metadata: RowGroup
}

const magic = 'PAR1'

/** Of gzip; the library's own Snappy takes longer and leaves half as much again. */
const compressionLevel = 1

/** Compressed between two cancellation checks: some milliseconds. */
const pageBytes = 256 * 1024

export function parquetHead(): Uint8Array {
  return Buffer.from(magic)
}

/** @param checkCancelled is called between columns and pages; what it throws ends the group */
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
    pageSize: pageBytes,
    columnData: columns.map(({ name, type }, i) => ({
      name,
      data: lazyValues(data[i]!, checkCancelled),
      offsetIndex: false,
      // JSON texts hardly ever repeat, and their bounds say nothing.
      ...(type === 'json' && { encoding: 'PLAIN', statistics: false }),
    })),
  })
  return { bytes: writer.getBytes().subarray(magic.length), metadata: withOwn(file.row_groups[0]!) }
}

/**
 * The same without views of the columns' memory: bounds of texts are such, and each took all texts of its column
 * along to the thread that writes the footer, where they stayed until the end of the file.
 */
function withOwn(group: RowGroup): RowGroup {
  const columns = group.columns.map((column) => {
    const { meta_data: metadata } = column
    const bounds = metadata?.statistics
    if (!bounds) return column
    const statistics = { ...bounds, ...own('min_value', bounds), ...own('max_value', bounds) }
    return { ...column, meta_data: { ...metadata, statistics } }
  })
  return { ...group, columns }
}

function own(name: 'min_value' | 'max_value', { [name]: value }: Statistics) {
  return value instanceof Uint8Array ? { [name]: new Uint8Array(value) } : {}
}

/**
 * Collects what a footer says of the row groups of one file, in their order. Each is encoded as it comes: as objects,
 * those of a large file would take a hundred megabytes, and more than a second at its end.
 */
export class ParquetFooter {
  readonly #columns: readonly TypedColumn[]
  readonly #schema: SchemaElement[]
  readonly #groups = new ByteWriter(4096)
  #first: RowGroup | undefined
  /** Of no rows. */
  #around: Around | undefined
  #groupCount = 0
  #rowCount = 0n
  #offset = magic.length

  constructor(columns: readonly TypedColumn[]) {
    this.#columns = columns
    this.#schema = schemaOf(columns)
  }

  add({ bytes, metadata }: ParquetRowGroup): void {
    const group = moved(metadata, BigInt(this.#offset - magic.length))
    this.#first ??= group
    this.#around ??= this.#findAround(0n)
    const { without, place } = this.#around
    const whole = this.#encoded(0n, [group])
    const afterGroup = whole.length - (without.length - place - 1)
    this.#groups.appendBytes(whole.subarray(place + 1, afterGroup))
    this.#groupCount++
    this.#rowCount += metadata.num_rows
    this.#offset += bytes.length
  }

  /** What follows the last row group. */
  finish(): Uint8Array {
    if (this.#groupCount === 0) return this.#encoded(0n, [])
    const { without, place } = this.#findAround(this.#rowCount)
    const writer = new ByteWriter(without.length + this.#groups.offset + 16)
    writer.appendBytes(without.subarray(0, place))
    writer.appendUint8((Math.min(this.#groupCount, longList) << 4) | thriftStruct)
    if (this.#groupCount >= longList) writer.appendVarInt(this.#groupCount)
    writer.appendBytes(this.#groups.getBytes())
    writer.appendBytes(without.subarray(place + 1, without.length - lengthBytes - magic.length))
    writer.appendUint32(writer.offset)
    writer.appendBytes(Buffer.from(magic))
    return writer.getBytes()
  }

  #findAround(rowCount: bigint): Around {
    const without = this.#encoded(rowCount, [])
    const one = this.#encoded(rowCount, [this.#first!])
    let place = 0
    while (without[place] === one[place]) place++
    return { without, place }
  }

  #encoded(rowCount: bigint, groups: RowGroup[]): Uint8Array {
    const writer = new ByteWriter(4096)
    const file = new ParquetWriter({
      writer,
      schema: this.#schema,
      createdBy: 'assay',
      kvMetadata: [
        {
          key: 'assay.columns',
          value: JSON.stringify(this.#columns.map(({ name, type }) => ({ name, type }))),
        },
      ],
    })
    file.row_groups = groups
    file.num_rows = rowCount
    void file.finish()
    return writer.getBytes().subarray(magic.length)
  }
}

/** A footer without row groups, and the place of the byte that says so: the first that is another with one. */
interface Around {
  readonly without: Uint8Array
  readonly place: number
}

/** Of Thrift's compact protocol: the type of the items of a list, and from which length on that is written by itself. */
const thriftStruct = 12
const longList = 15

/** Of the number that tells how long a footer is. */
const lengthBytes = 4

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

/**
 * The same, made when the library comes to the column, of which it takes the length and a slice of all: objects of
 * all columns at once take several times the memory of the values.
 */
function lazyValues(column: ColumnData, checkCancelled: () => void): unknown[] {
  const slice = () => valuesOf(column, checkCancelled)
  return Object.assign([], { length: column.rowCount, slice })
}

/** Rows between two cancellation checks, each of which makes an object of V8. */
const rowsPerCheck = 4096

/** The values as the library takes them, null where there is none. */
function valuesOf(column: ColumnData, checkCancelled: () => void): unknown[] {
  const { rowCount, valid } = column
  checkCancelled()
  const read = readerOf(column)
  const values = new Array<unknown>(rowCount)
  for (let from = 0; from < rowCount; from += rowsPerCheck) {
    const to = Math.min(rowCount, from + rowsPerCheck)
    for (let row = from; row < to; row++) values[row] = valid?.[row] === 0 ? null : read(row)
    checkCancelled()
  }
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
