/** How the cells of a Parquet column become JSON, by the schema. */
import type { FileMetaData, SchemaElement } from 'hyparquet'
import {
  bigEndianInteger,
  bytesText,
  dateText,
  decimalText,
  durationText,
  float16,
  jsonOfUtf8,
  memberName,
  numberText,
  objectText,
  type TimeUnit,
  textOfUtf8,
  timestampText,
  timeText,
  uuidText,
} from './cell-text.ts'
import { type ColumnTypes, retyped } from './column-types.ts'

/** JSON of a cell that is not null; undefined for nothing. Throws when JSON has no form for it. */
type CellWriter = (cell: unknown) => string

export interface ParquetColumn {
  readonly name: string
  /** What the reader calls it. */
  readonly key: string
  readonly write: (cell: unknown) => string | undefined
}

/** An element of the schema with those that are in it. */
interface Node {
  readonly element: SchemaElement
  /** By which the reader knows it in what it is in. */
  readonly key: string
  readonly children: readonly Node[]
}

export interface OpenedColumns {
  readonly columns: readonly ParquetColumn[]
  readonly plain: FileMetaData
}

/**
 * The columns of a file, and its metadata as the reader is to have them: without types, so that it converts nothing,
 * and with keys for names, which may have dots in them, be given twice, or be `__proto__`.
 */
export function openColumns(metadata: FileMetaData, types: ColumnTypes): OpenedColumns {
  const elements = metadata.schema
  let at = 0
  const schema: SchemaElement[] = []
  const read = (key: string): Node => {
    const element = elements[at++]!
    schema.push(plainElement(element, key))
    const children: Node[] = []
    for (let i = 0; i < (element.num_children ?? 0); i++) children.push(read(String(i)))
    return { element, key, children }
  }
  const root = read('root')
  const kinds = ownTypes(metadata)
  const columns = root.children.map((node): ParquetColumn => {
    const { name } = node.element
    const type = types.of(name)
    const isJson = kinds?.get(name) === 'json' && isText(node.element)
    const isBytes = node.children.length === 0 && node.element.type === 'BYTE_ARRAY'
    const writer = isJson ? json : writerOf(node)
    const asText: CellWriter = (cell) => textOfUtf8(cell as Uint8Array)
    const write = type === 'text' && isBytes && !isJson ? asText : writer
    return { name, key: node.key, write: (cell) => retyped(write(cell), type) }
  })
  const paths = leafPaths(root)
  const plain = {
    ...metadata,
    schema,
    row_groups: metadata.row_groups.map((group) => ({
      ...group,
      columns: group.columns.map((column, i) => ({
        ...column,
        ...(column.meta_data && {
          meta_data: { ...column.meta_data, path_in_schema: paths[i] ?? [] },
        }),
      })),
    })),
  }
  return { columns, plain }
}

/** What the footer of a file of this service says of its columns. */
function ownTypes(metadata: FileMetaData): Map<string, string> | undefined {
  const text = metadata.key_value_metadata?.find(({ key }) => key === 'assay.columns')?.value
  if (text === undefined) return undefined
  try {
    const columns = JSON.parse(text) as { name: string; type: string }[]
    return new Map(columns.map(({ name, type }) => [name, type]))
  } catch {
    return undefined
  }
}

function leafPaths({ children }: Node): string[][] {
  return children.flatMap((child) => {
    if (child.children.length === 0) return [[child.key]]
    return leafPaths(child).map((path) => [child.key, ...path])
  })
}

function plainElement(element: SchemaElement, key: string): SchemaElement {
  const { converted_type: _, logical_type: __, ...rest } = element
  return { ...rest, name: key, ...(isList(element) && { converted_type: 'LIST' as const }) }
}

function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'LIST' || logical?.type === 'LIST'
}

function isMap({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP'
}

function isText({ type, converted_type: converted, logical_type: logical }: SchemaElement) {
  return type === 'BYTE_ARRAY' && (converted === 'UTF8' || logical?.type === 'STRING')
}

function orNull(write: CellWriter): CellWriter {
  return (cell) => (cell === null || cell === undefined ? 'null' : write(cell))
}

const json: CellWriter = (cell) => jsonOfUtf8(cell as Uint8Array)

function writerOf(node: Node): CellWriter {
  const one = nodeWriter(node)
  if (node.element.repetition_type !== 'REPEATED') return one
  const item = orNull(one)
  return (cell) => `[${(cell as unknown[]).map(item).join(',')}]`
}

function nodeWriter(node: Node): CellWriter {
  const { element, children } = node
  if (children.length === 0) return leafWriter(element)
  if (element.logical_type?.type === 'VARIANT') {
    return () => {
      throw new Error('a VARIANT, which is not read; JSON is')
    }
  }
  const [first] = children
  if (isMap(element) && children.length === 1 && first!.children.length === 2)
    return mapWriter(first!)
  if (isList(element) && children.length === 1 && first!.element.repetition_type === 'REPEATED') {
    // Old writers leave out the middle of the three levels.
    const isThreeLevels = first!.children.length === 1
    const item = orNull(isThreeLevels ? writerOf(first!.children[0]!) : nodeWriter(first!))
    return (cell) => `[${(cell as unknown[]).map(item).join(',')}]`
  }
  return structWriter(children)
}

function structWriter(children: readonly Node[]): CellWriter {
  const fields = children.map((child) => {
    return { name: child.element.name, key: child.key, write: orNull(writerOf(child)) }
  })
  return (cell) => {
    const struct = cell as Record<string, unknown>
    return objectText(fields.map(({ name, key, write }) => [name, write(struct[key])] as const))
  }
}

function mapWriter(pair: Node): CellWriter {
  const [key, value] = pair.children
  const writeKey = writerOf(key!)
  const writeValue = orNull(writerOf(value!))
  return (cell) => {
    const pairs = (cell as Record<string, unknown>)[pair.key] as
      | Record<string, unknown>[]
      | undefined
    return objectText(
      (pairs ?? []).map((each) => {
        return [memberName(writeKey(each[key!.key])), writeValue(each[value!.key])] as const
      }),
    )
  }
}

const units = { MILLIS: 'millisecond', MICROS: 'microsecond', NANOS: 'nanosecond' } as const

function integerOf(cell: unknown): bigint {
  return cell instanceof Uint8Array ? bigEndianInteger(cell) : BigInt(cell as number | bigint)
}

function leafWriter(element: SchemaElement): CellWriter {
  const { type, converted_type: converted, logical_type: logical } = element
  const bytes =
    (write: (bytes: Uint8Array) => string): CellWriter =>
    (cell) =>
      write(cell as Uint8Array)
  const time =
    (write: typeof timeText, unit: TimeUnit): CellWriter =>
    (cell) =>
      write(integerOf(cell), unit)
  switch (logical?.type) {
    case 'STRING':
    case 'ENUM':
      return bytes(textOfUtf8)
    case 'JSON':
      return json
    case 'UUID':
      return bytes(uuidText)
    case 'FLOAT16':
      return bytes((two) => numberText(float16(two[0]! | (two[1]! << 8))))
    case 'DATE':
      return (cell) => dateText(cell as number)
    case 'TIME':
      return time(timeText, units[logical.unit])
    case 'TIMESTAMP':
      return time(timestampText, units[logical.unit])
    case 'DECIMAL':
      return (cell) => decimalText(integerOf(cell), logical.scale)
    case 'INTEGER':
      return integerWriter(logical.isSigned, logical.bitWidth)
  }
  switch (converted) {
    case 'UTF8':
    case 'ENUM':
      return bytes(textOfUtf8)
    case 'JSON':
      return json
    case 'DATE':
      return (cell) => dateText(cell as number)
    case 'TIME_MILLIS':
    case 'TIME_MICROS':
      return time(timeText, converted === 'TIME_MILLIS' ? 'millisecond' : 'microsecond')
    case 'TIMESTAMP_MILLIS':
    case 'TIMESTAMP_MICROS':
      return time(timestampText, converted === 'TIMESTAMP_MILLIS' ? 'millisecond' : 'microsecond')
    case 'DECIMAL':
      return (cell) => decimalText(integerOf(cell), element.scale ?? 0)
    case 'INTERVAL':
      return bytes(intervalText)
    case 'UINT_8':
    case 'UINT_16':
    case 'UINT_32':
    case 'UINT_64':
      return integerWriter(false, type === 'INT64' ? 64 : 32)
  }
  switch (type) {
    case 'BOOLEAN':
      return (cell) => String(Boolean(cell))
    case 'FLOAT':
    case 'DOUBLE':
      return (cell) => numberText(cell as number)
    case 'INT32':
    case 'INT64':
      return (cell) => String(cell)
    case 'INT96':
      return (cell) => timestampText(cell as bigint, 'nanosecond')
    default:
      return bytes(bytesText)
  }
}

/** Numbers without a sign are stored as if they had one. */
function integerWriter(isSigned: boolean, bitWidth: number): CellWriter {
  if (isSigned) return (cell) => String(cell)
  return (cell) => String(BigInt.asUintN(bitWidth, BigInt(cell as number | bigint)))
}

/** Months, days and milliseconds. */
function intervalText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [months, days, ms] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
  ]
  return durationText(months, days, BigInt(ms), 'millisecond')
}
