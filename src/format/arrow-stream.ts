/**
 * The Arrow IPC stream, message by message, so that each batch can be made by whoever has its rows:
 * the schema, then batches, each after the dictionaries that it uses, then the end.
 */
import {
  Bool,
  type Data,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  Vector,
} from 'apache-arrow'
import type { Texts } from '../vector/column.ts'
import type { ColumnData } from './column-data.ts'
import type { ColumnType, TypedColumn } from './column-type.ts'

export interface ArrowColumn extends TypedColumn {
  /** Of texts: whether they are written as codes into a dictionary, one for each batch. */
  readonly isCoded: boolean
}

/** Of a field: `json` where its texts are the JSON of any values. */
const typeKey = 'assay:type'

/** A continuation mark and a length of 0. */
const endOfStream = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

/** The schema's message, with which a stream begins. */
export function arrowHead(columns: readonly ArrowColumn[]): Uint8Array {
  const writer = new RecordBatchStreamWriter({ autoDestroy: false })
  writer.reset(undefined, schemaOf(columns))
  return withoutEnd(writer.finish().toUint8Array(true))
}

/** The messages of a batch. Its dictionaries take the place of those before. */
export function arrowBatch(
  columns: readonly ArrowColumn[],
  data: readonly ColumnData[],
  rowCount: number,
): Uint8Array {
  const schema = schemaOf(columns)
  const struct = makeData({
    type: new Struct(schema.fields),
    length: rowCount,
    nullCount: 0,
    children: data.map((column, i) => arrowData(column, i, columns[i]!)),
  })
  const writer = new RecordBatchStreamWriter({ autoDestroy: false })
  writer.write(new RecordBatch(schema, struct))
  const bytes = writer.finish().toUint8Array(true)
  return withoutEnd(bytes.subarray(schemaLength(bytes)))
}

export function arrowTail(): Uint8Array {
  return endOfStream
}

/** Bytes of the first message: a mark, a length and, since a schema has no body, as much as that. */
function schemaLength(bytes: Uint8Array): number {
  return 8 + new DataView(bytes.buffer, bytes.byteOffset).getInt32(4, true)
}

function withoutEnd(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.length - endOfStream.length)
}

function schemaOf(columns: readonly ArrowColumn[]): Schema {
  const fields = columns.map(({ name, type, isCoded }, i) => {
    const metadata = new Map(type === 'json' ? [[typeKey, 'json']] : [])
    const plain = arrowType(type)
    const stored = isCoded ? new Dictionary(plain, new Int32(), i) : plain
    return new Field(name, stored, true, metadata)
  })
  return new Schema(fields)
}

function arrowType(type: ColumnType): DataType {
  switch (type) {
    case 'boolean':
      return new Bool()
    case 'number':
      return new Float64()
    case 'integer':
      return new Int64()
    case 'timestamp':
      return new TimestampMicrosecond('UTC')
    case 'texts':
      return listType()
    case 'text':
    case 'json':
      return new Utf8()
  }
}

function listType(): List<Utf8> {
  return new List(new Field('item', new Utf8(), true))
}

function arrowData(column: ColumnData, index: number, { type }: ArrowColumn): Data {
  const length = column.rowCount
  const nulls = column.valid
    ? { nullCount: countZeros(column.valid), nullBitmap: packed(column.valid) }
    : { nullCount: 0 }
  switch (column.kind) {
    case 'booleans':
      return makeData({ type: new Bool(), length, ...nulls, data: packed(column.values) })
    case 'numbers':
      return makeData({ type: new Float64(), length, ...nulls, data: column.values })
    case 'integers':
      return type === 'timestamp'
        ? makeData({ type: new TimestampMicrosecond('UTC'), length, ...nulls, data: column.values })
        : makeData({ type: new Int64(), length, ...nulls, data: column.values })
    case 'texts':
      return textData(column.texts, length, nulls)
    case 'coded': {
      const { entries, codes } = column
      const dictionary = new Vector([
        textData(entries, entries.offsets.length - 1, { nullCount: 0 }),
      ])
      const coded = new Dictionary(new Utf8(), new Int32(), index)
      return makeData({ type: coded, length, ...nulls, data: codes, dictionary })
    }
    case 'lists': {
      const { items, offsets } = column
      const child = textData(items, items.offsets.length - 1, { nullCount: 0 })
      return makeData({ type: listType(), length, ...nulls, valueOffsets: offsets, child })
    }
  }
}

interface Nulls {
  readonly nullCount: number
  readonly nullBitmap?: Uint8Array
}

function textData({ bytes, offsets }: Texts, length: number, nulls: Nulls): Data<Utf8> {
  return makeData({ type: new Utf8(), length, ...nulls, valueOffsets: offsets, data: bytes })
}

/** Bits of bytes that are 0 or 1. */
function packed(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array((bytes.length + 7) >> 3)
  for (let i = 0; i < bytes.length; i++) bits[i >> 3]! |= bytes[i]! << (i & 7)
  return bits
}

function countZeros(bytes: Uint8Array): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) count++
  return count
}
