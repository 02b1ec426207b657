/** Columns as Arrow data, over the same memory, and what a segment's metadata says of them. */
import {
  Bool,
  type Data,
  Dictionary,
  FixedSizeBinary,
  Float64,
  Int8,
  Int16,
  Int32,
  makeData,
  Uint16,
  Utf8,
  Vector,
} from 'apache-arrow'
import { assert } from '../../error.ts'
import type { NarrowNumbers, NumberScale } from '../../kernel/widen.ts'
import type {
  BooleanColumn,
  NumberColumn,
  PathColumns,
  TextColumn,
  Texts,
} from '../../vector/column.ts'
import { countSet } from '../../vector/read-column.ts'
import { type AlignedBytes, columnName } from './layout.ts'
import type { BufferPlace, ColumnMetadata, TextColumnBase, TextColumnMetadata } from './metadata.ts'
import { asIntegers, narrowestCodes } from './narrow-numbers.ts'
import { packTexts, type WrittenIdentifiers } from './packed-texts.ts'
import { compressTexts, type WrittenBlocks } from './text-blocks.ts'
import { numberZones, textBounds } from './zone-map.ts'

/** Tells where in the file a view over it lies, of which the first `byteLength` bytes count. */
export type Place = (view: ArrayBufferView, byteLength: number) => BufferPlace

/**
 * A column of the file; `describe` is given the same column as it was read back from the file, and where
 * its loose bytes are.
 */
export interface ArrowColumn<Description> {
  readonly name: string
  readonly data: Data
  /** What its whole numbers stand for, if it has any. */
  readonly scale?: NumberScale
  /** Bytes that belong to no row. */
  readonly loose?: readonly Uint8Array[]
  describe(data: Data, place: Place, loose: readonly BufferPlace[]): Description
}

/** The columns of one path, one for each type. */
export function arrowColumns(
  path: readonly string[],
  columns: PathColumns,
  rowCount: number,
): ArrowColumn<ColumnMetadata>[] {
  const { number, timestamp, boolean, text, json, objects, stored, nulls } = columns
  const found: ArrowColumn<ColumnMetadata>[] = []
  if (number) found.push(numberColumn(path, 'number', number, rowCount))
  if (timestamp) found.push(numberColumn(path, 'timestamp', timestamp, rowCount))
  if (boolean) found.push(booleanColumn(path, boolean, rowCount))
  if (text) found.push(textColumn(columnName(path, 'text'), path, 'text', text, rowCount))
  if (json) found.push(textColumn(columnName(path, 'json'), path, 'json', json, rowCount))
  if (objects) found.push(bitmapColumn(path, 'objects', objects, rowCount))
  if (stored) found.push(bitmapColumn(path, 'stored', stored, rowCount))
  if (nulls) found.push(bitmapColumn(path, 'nulls', nulls, rowCount))
  return found
}

function numberColumn(
  path: readonly string[],
  type: 'number' | 'timestamp',
  column: NumberColumn,
  rowCount: number,
): ArrowColumn<ColumnMetadata> {
  const nulls = arrowNulls(column.validity, rowCount)
  const values = column.values.between(0, rowCount)
  const whole = asIntegers(values)
  const zones = numberZones(values, column.validity, type)
  const shape = { length: rowCount, ...nulls }
  return {
    name: columnName(path, type),
    data: whole
      ? integerData(whole.integers, shape)
      : makeData({ type: new Float64(), ...shape, data: values }),
    ...(whole && { scale: whole.scale }),
    describe: (data, place) => ({
      path,
      type,
      nullCount: nulls.nullCount,
      ...placeValidity(data, place, rowCount),
      values: place(data.values, (whole?.integers ?? values).byteLength),
      ...(whole && { scale: whole.scale }),
      ...zones,
    }),
  }
}

function booleanColumn(
  path: readonly string[],
  column: BooleanColumn,
  rowCount: number,
): ArrowColumn<ColumnMetadata> {
  const nulls = arrowNulls(column.validity, rowCount)
  return {
    name: columnName(path, 'boolean'),
    data: makeData({ type: new Bool(), length: rowCount, ...nulls, data: column.bits }),
    describe: (data, place) => ({
      path,
      type: 'boolean',
      nullCount: nulls.nullCount,
      ...placeValidity(data, place, rowCount),
      values: place(data.values, bitmapBytes(rowCount)),
      trueCount: countSet(column.bits),
    }),
  }
}

function bitmapColumn(
  path: readonly string[],
  type: 'objects' | 'stored' | 'nulls',
  bits: Uint8Array,
  rowCount: number,
): ArrowColumn<ColumnMetadata> {
  return {
    name: columnName(path, type),
    data: makeData({ type: new Bool(), length: rowCount, nullCount: 0, data: bits }),
    describe: (data, place) => ({
      path,
      type,
      nullCount: rowCount - countSet(bits),
      values: place(data.values, bitmapBytes(rowCount)),
    }),
  }
}

export function textColumn(
  name: string,
  path: readonly string[],
  type: 'text' | 'json',
  column: TextColumn,
  rowCount: number,
): ArrowColumn<TextColumnMetadata> {
  assert(column.encoding !== 'compressed', 'texts are compressed when they are written')
  const nulls = arrowNulls(column.validity, rowCount)
  const describeBase = (data: Data, place: Place): TextColumnBase => ({
    path,
    type,
    nullCount: nulls.nullCount,
    ...placeValidity(data, place, rowCount),
    ...(type === 'text' && { bounds: textBounds(column, rowCount) }),
  })
  if (column.encoding === 'plain') {
    const compressed = compressTexts(column.texts, nulls.nullCount)
    if (compressed) return { name, ...compressedData(compressed, nulls, describeBase) }
    const packed = type === 'text' ? packTexts(column.texts, column.validity) : undefined
    if (packed) return { name, ...packedData(packed, rowCount, nulls, describeBase) }
    return {
      name,
      data: textData(column.texts, nulls),
      describe: (data, place) => ({
        ...describeBase(data, place),
        encoding: 'plain',
        ...placeTexts(data, place, column.texts),
      }),
    }
  }
  const { dictionary } = column
  const distinctCount = dictionary.offsets.length - 1
  const codes = narrowestCodes(column.codes.between(0, rowCount), distinctCount)
  return {
    name,
    data: makeData({
      type: new Dictionary(new Utf8(), integerTypes[codes.BYTES_PER_ELEMENT as 1 | 2 | 4]()),
      length: rowCount,
      ...nulls,
      data: codes,
      dictionary: new Vector([textData(dictionary, { nullCount: 0 })]),
    }),
    describe: (data, place) => ({
      ...describeBase(data, place),
      encoding: 'dictionary',
      codes: place(data.values, codes.byteLength),
      ...placeTexts((data as Data<Dictionary>).dictionary!.data[0]!, place, dictionary),
      distinctCount,
    }),
  }
}

function compressedData(
  { ends, directory, blocks }: WrittenBlocks,
  nulls: ArrowNulls,
  describeBase: (data: Data, place: Place) => TextColumnBase,
): Omit<ArrowColumn<TextColumnMetadata>, 'name'> {
  const shape = { length: ends.length, ...nulls }
  return {
    data:
      ends instanceof Uint16Array
        ? makeData({ type: new Uint16(), ...shape, data: ends })
        : makeData({ type: new Int32(), ...shape, data: ends }),
    loose: [directory, blocks],
    describe: (data, place, loose) => ({
      ...describeBase(data, place),
      encoding: 'compressed',
      ends: place(data.values, ends.byteLength),
      directory: loose[0]!,
      blocks: loose[1]!,
    }),
  }
}

function packedData(
  { form, width, bytes }: WrittenIdentifiers,
  length: number,
  nulls: ArrowNulls,
  describeBase: (data: Data, place: Place) => TextColumnBase,
): Omit<ArrowColumn<TextColumnMetadata>, 'name'> {
  return {
    data: makeData({ type: new FixedSizeBinary(width), length, ...nulls, data: bytes }),
    describe: (data, place) => ({
      ...describeBase(data, place),
      encoding: 'packed',
      form,
      width,
      values: place(data.values, bytes.length),
    }),
  }
}

export function keyColumn(
  name: string,
  values: Int32Array | Float64Array,
): ArrowColumn<BufferPlace> {
  const shape = { length: values.length, nullCount: 0 }
  return {
    name,
    data:
      values instanceof Int32Array
        ? makeData({ type: new Int32(), ...shape, data: values })
        : makeData({ type: new Float64(), ...shape, data: values }),
    describe: (data, place) => place(data.values, values.byteLength),
  }
}

/**
 * Bytes that belong to no row, as a column all the same: rows share them out, and zeros fill it up to at
 * least `byteLength` bytes.
 */
export function sharedOut(
  buffers: readonly AlignedBytes[],
  byteLength: number,
  rowCount: number,
): Data<FixedSizeBinary> {
  const width = Math.ceil(byteLength / rowCount)
  const data = new Uint8Array(width * rowCount)
  for (const { bytes, offset } of buffers) data.set(bytes, offset)
  return makeData({ type: new FixedSizeBinary(width), length: rowCount, nullCount: 0, data })
}

const integerTypes = {
  1: () => new Int8(),
  2: () => new Int16(),
  4: () => new Int32(),
} as const

function integerData(data: NarrowNumbers, shape: ArrowNulls & { readonly length: number }): Data {
  if (data instanceof Int8Array) return makeData({ type: new Int8(), ...shape, data })
  if (data instanceof Int16Array) return makeData({ type: new Int16(), ...shape, data })
  return makeData({ type: new Int32(), ...shape, data })
}

interface ArrowNulls {
  readonly nullCount: number
  readonly nullBitmap?: Uint8Array
}

function arrowNulls(validity: Uint8Array | undefined, rowCount: number): ArrowNulls {
  if (validity === undefined) return { nullCount: 0 }
  return { nullCount: rowCount - countSet(validity), nullBitmap: validity }
}

function textData(texts: Texts, nulls: ArrowNulls): Data<Utf8> {
  return makeData({
    type: new Utf8(),
    length: texts.offsets.length - 1,
    ...nulls,
    valueOffsets: texts.offsets,
    data: texts.bytes,
  })
}

function placeTexts(
  data: Data,
  place: Place,
  texts: Texts,
): { offsets: BufferPlace; bytes: BufferPlace } {
  return {
    offsets: place(data.valueOffsets, texts.offsets.byteLength),
    bytes: place(data.values, texts.offsets.at(-1)!),
  }
}

function placeValidity(data: Data, place: Place, rowCount: number): { validity?: BufferPlace } {
  if (data.nullCount === 0) return {}
  return { validity: place(data.nullBitmap, bitmapBytes(rowCount)) }
}

export function bitmapBytes(rowCount: number): number {
  return (rowCount + 7) >> 3
}
