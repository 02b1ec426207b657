/** How the cells of an Arrow column become JSON, by its type. */
import {
  TimeUnit as ArrowTimeUnit,
  type Data,
  DataType,
  DateUnit,
  type FixedSizeBinary,
  type FixedSizeList,
  IntervalUnit,
  type Map_,
  Precision,
  Type,
  type Union,
} from 'apache-arrow'
import {
  bytesText,
  dateText,
  decimalText,
  durationText,
  float16,
  jsonOfUtf8,
  littleEndianInteger,
  memberName,
  numberText,
  objectText,
  type TimeUnit,
  textOfUtf8,
  timestampText,
  timeText,
  uuidText,
} from './cell-text.ts'
import type { ListRoom } from './damage.ts'

/** JSON of the cell of a row; `null` for none. Throws when JSON has no form for it. */
export type CellReader = (row: number) => string

const units: Readonly<Record<ArrowTimeUnit, TimeUnit>> = {
  [ArrowTimeUnit.SECOND]: 'second',
  [ArrowTimeUnit.MILLISECOND]: 'millisecond',
  [ArrowTimeUnit.MICROSECOND]: 'microsecond',
  [ArrowTimeUnit.NANOSECOND]: 'nanosecond',
}

const dayMs = 86_400_000

/** What the metadata of a field says of its texts or bytes. */
export type Extension = 'json' | 'uuid' | 'text' | undefined

/** Throws for a type that is not known, and where there are fewer values than rows. */
export function cellReader(data: Data, room: ListRoom, extension?: Extension): CellReader {
  requireValues(data)
  const read = valueReader(data, room, extension)
  if (DataType.isNull(data.type) || DataType.isUnion(data.type)) return read
  return (row) => (data.getValid(row) ? read(row) : 'null')
}

/** What a file says of the length of a column need not be so. */
function requireValues(data: Data): void {
  const { type, length, offset, values, valueOffsets, children } = data
  // All are null.
  if (data.nullCount > 0 && data.nullBitmap.length === 0) return
  let count = length
  if (DataType.isStruct(type)) count = Math.min(length, ...children.map((child) => child.length))
  else if (DataType.isFixedSizeList(type)) count = (children[0]?.length ?? 0) / type.listSize
  else if (DataType.isUnion(type)) count = data.typeIds.length
  else if (DataType.isBool(type)) count = values.length * 8 - offset
  else if (hasOffsets(type)) count = valueOffsets.length - 1
  else if (!DataType.isNull(type)) count = values.length / valuesOfRow(type)
  if (count < length) throw new Error(`${length} rows, of which it has ${Math.max(0, count)}`)
}

function hasOffsets(type: DataType): boolean {
  return (
    DataType.isUtf8(type) ||
    DataType.isLargeUtf8(type) ||
    DataType.isBinary(type) ||
    DataType.isLargeBinary(type) ||
    DataType.isList(type) ||
    DataType.isLargeList(type) ||
    DataType.isMap(type)
  )
}

/** Of the array that they are in. */
function valuesOfRow(type: DataType): number {
  if (DataType.isDecimal(type)) return type.bitWidth / 32
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth
  if (DataType.isUtf8View(type) || DataType.isBinaryView(type)) return viewBytesOfRow
  if (!DataType.isInterval(type) || type.unit === IntervalUnit.YEAR_MONTH) return 1
  return type.unit === IntervalUnit.DAY_TIME ? 2 : 4
}

const viewBytesOfRow = 16

function valueReader(data: Data, room: ListRoom, extension: Extension): CellReader {
  const { type, values, offset } = data
  if (DataType.isDictionary(type)) return dictionaryReader(data, room, extension)
  if (DataType.isNull(type)) return () => 'null'
  if (DataType.isBool(type)) {
    return (row) => String(((values[(offset + row) >> 3] >> ((offset + row) & 7)) & 1) === 1)
  }
  if (DataType.isInt(type)) return (row) => String(values[row])
  if (DataType.isFloat(type)) {
    return type.precision === Precision.HALF
      ? (row) => numberText(float16(values[row]))
      : (row) => numberText(values[row])
  }
  if (DataType.isDecimal(type)) {
    const words = type.bitWidth / 32
    return (row) => decimalText(littleEndianInteger(bytesOf(values, row, words)), type.scale)
  }
  if (DataType.isDate(type)) {
    return type.unit === DateUnit.DAY
      ? (row) => dateText(values[row])
      : (row) => dateText(Number(values[row]) / dayMs)
  }
  if (DataType.isTime(type)) return (row) => timeText(BigInt(values[row]), units[type.unit])
  if (DataType.isTimestamp(type)) {
    return (row) => timestampText(BigInt(values[row]), units[type.unit])
  }
  if (DataType.isDuration(type)) {
    return (row) => durationText(0, 0, BigInt(values[row]), units[type.unit])
  }
  if (DataType.isInterval(type)) return intervalReader(type.unit, data)
  if (DataType.isStruct(type)) return structReader(data, room)
  if (DataType.isMap(type)) return mapReader(data, room)
  if (DataType.isUnion(type)) return unionReader(data, room)
  const isList = DataType.isList(type) || DataType.isLargeList(type)
  if (isList || DataType.isFixedSizeList(type)) return listReader(data, room)
  return textReader(data, extension)
}

function bytesOf(values: Uint32Array, row: number, words: number): Uint8Array {
  const { buffer, byteOffset } = values
  return new Uint8Array(buffer, byteOffset + row * words * 4, words * 4)
}

/** Texts and bytes. */
function textReader(data: Data, extension: Extension): CellReader {
  const { type } = data
  const isText = DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type)
  const write =
    extension === 'json'
      ? jsonOfUtf8
      : extension === 'uuid'
        ? uuidText
        : isText || extension === 'text'
          ? textOfUtf8
          : bytesText
  const read = bytesReader(data)
  return (row) => write(read(row))
}

function bytesReader(data: Data): (row: number) => Uint8Array {
  const { type, values, valueOffsets: offsets } = data
  switch (type.typeId) {
    case Type.FixedSizeBinary: {
      const width = (type as FixedSizeBinary).byteWidth
      return (row) => values.subarray(row * width, (row + 1) * width)
    }
    case Type.Utf8:
    case Type.Binary:
    case Type.LargeUtf8:
    case Type.LargeBinary:
      return (row) => values.subarray(Number(offsets[row]), Number(offsets[row + 1]))
    case Type.Utf8View:
    case Type.BinaryView:
      return (row) => viewBytes(data, row)
    default:
      throw new Error(`values of the type ${type} are not known`)
  }
}

/** Texts of up to 12 bytes are in the view itself; of others it has a buffer and a place there. */
function viewBytes({ values, variadicBuffers }: Data, row: number): Uint8Array {
  const bytes = values as Uint8Array
  const view = new DataView(bytes.buffer, bytes.byteOffset + row * 16, 16)
  const length = view.getInt32(0, true)
  if (length <= 12) return bytes.subarray(row * 16 + 4, row * 16 + 4 + length)
  const start = view.getInt32(12, true)
  return variadicBuffers[view.getInt32(8, true)]!.subarray(start, start + length)
}

function dictionaryReader(data: Data, room: ListRoom, extension: Extension): CellReader {
  const chunks = data.dictionary?.data ?? []
  const readers = chunks.map((chunk) => cellReader(chunk, room, extension))
  return (row) => {
    let index = Number(data.values[row])
    for (const [i, chunk] of chunks.entries()) {
      if (index < chunk.length) return readers[i]!(index)
      index -= chunk.length
    }
    throw new Error('a code that its dictionary does not have')
  }
}

function intervalReader(unit: IntervalUnit, { values }: Data): CellReader {
  switch (unit) {
    case IntervalUnit.YEAR_MONTH:
      return (row) => durationText(values[row], 0, 0n, 'second')
    case IntervalUnit.DAY_TIME:
      return (row) => durationText(0, values[2 * row], BigInt(values[2 * row + 1]), 'millisecond')
    default:
      return (row) => {
        const [months, days, low, high] = values.subarray(4 * row, 4 * row + 4)
        const count = (BigInt(high) << 32n) | BigInt.asUintN(32, BigInt(low))
        return durationText(months, days, count, 'nanosecond')
      }
  }
}

function structReader({ type, children }: Data, room: ListRoom): CellReader {
  const fields = children.map((child, i) => {
    const field = type.children[i]!
    return {
      name: field.name as string,
      read: cellReader(child, room, extensionOf(field.metadata)),
    }
  })
  return (row) => objectText(fields.map(({ name, read }) => [name, read(row)] as const))
}

function listReader(data: Data, room: ListRoom): CellReader {
  const { type, children } = data
  const [items] = children
  const read = cellReader(items!, room, extensionOf(type.children[0]!.metadata))
  const placeOf = places(data, items!)
  return (row) => {
    const { from, to } = placeOf(row)
    const texts: string[] = []
    for (let at = from; at < to; at++) {
      const text = read(at)
      room.take(text.length + 1)
      texts.push(text)
    }
    return `[${texts.join(',')}]`
  }
}

function mapReader(data: Data, room: ListRoom): CellReader {
  const { type, children } = data
  const [pair] = children
  const [keyField, valueField] = (type as Map_).children[0]!.type.children
  const readKey = cellReader(pair!.children[0]!, room, extensionOf(keyField!.metadata))
  const readValue = cellReader(pair!.children[1]!, room, extensionOf(valueField!.metadata))
  const placeOf = places(data, pair!)
  return (row) => {
    const { from, to } = placeOf(row)
    const pairs: [string, string][] = []
    for (let at = from; at < to; at++) {
      const name = memberName(readKey(at))
      const text = readValue(at)
      room.take(name.length + text.length + 4)
      pairs.push([name, text])
    }
    return objectText(pairs)
  }
}

/** Where the items of a row are. */
function places({ type, valueOffsets: offsets }: Data, items: Data) {
  const size = DataType.isFixedSizeList(type) ? (type as FixedSizeList).listSize : undefined
  return (row: number) => {
    const from = size === undefined ? Number(offsets[row]) : row * size
    const to = size === undefined ? Number(offsets[row + 1]) : from + size
    if (!(0 <= from && from <= to && to <= items.length)) {
      throw new Error('a list that goes beyond its items')
    }
    return { from, to }
  }
}

function unionReader(data: Data, room: ListRoom): CellReader {
  const { typeIdToChildIndex } = data.type as Union
  const isDense = DataType.isDenseUnion(data.type)
  const readers = data.children.map((child, i) => {
    return cellReader(child, room, extensionOf(data.type.children[i]!.metadata))
  })
  return (row) => {
    const child = typeIdToChildIndex[data.typeIds[row]]!
    return readers[child]!(isDense ? data.valueOffsets[row] : row)
  }
}

/** JSON is known by the name that Arrow gives it, or by the one that our own answers have. */
export function extensionOf(metadata: ReadonlyMap<string, string>): Extension {
  if (metadata.get('assay:type') === 'json') return 'json'
  switch (metadata.get('ARROW:extension:name')) {
    case 'arrow.json':
      return 'json'
    case 'arrow.uuid':
      return 'uuid'
    default:
      return undefined
  }
}
