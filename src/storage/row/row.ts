/**
 * The bytes of one row version, as the row store keeps them. Integers are big-endian.
 *
 *     row       = header  members  directory
 *     header    = format u8, flags u8, 0 u16, field count u32,
 *                 created f64 (milliseconds since 1970 UTC),
 *                 pagination key (transaction u48, index u16),
 *                 transaction u48, 0 u16,
 *                 previous version (transaction u48, index u16; zeros for none)
 *     members   = { `"name":value` }       compact JSON, in the order of the request
 *     directory = { offset u32, name length u32, value length u32 }   one per member, sorted by name
 *
 * A member is kept exactly as it stands in the row's JSON text, so that a row is printed by copying
 * its members; an offset counts from the row's start, a name's length includes its quotes. Names are
 * escaped as `JSON.stringify` does it, whatever the request did, so equal names are equal bytes.
 * Members whose value is null are left out, and so is what the keys of a row or its object tell.
 *
 * `transaction` is the row's `_xact_id`. It equals the transaction of the row's key, unless the
 * request had more rows than one transaction numbers (`storage/write/record-writer.ts`).
 */
import type { ByteWriter } from '../../json/byte-writer.ts'
import { longBytes, noteLong } from '../../json/turn-limit.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import {
  type ObjectIdentity,
  type ObjectType,
  objectColumnValue,
  recordColumns,
} from '../../type/record.ts'
import { parseTimestamp } from '../../type/time.ts'
import { formatPaginationKey, formatTransaction, type RowKey } from '../../type/transaction.ts'
import { nearMs, Timestamp } from '../../type/value.ts'
import { readUint, writeDouble } from '../big-endian.ts'
import { compareBytes } from '../compare-bytes.ts'
import { readRowKey, writeRowKey } from '../record-key.ts'

const format = 1
const noKey: RowKey = { transaction: 0, index: 0 }
export const headerBytes = 40
export const directoryEntryBytes = 12

/** Bits of the header's flags. Of the generated values a later row of the record may give better. */
export const rowFlags = {
  tombstone: 1,
  createdGenerated: 2,
  spanGenerated: 4,
  rootGenerated: 8,
  /** The write merged into the version before. */
  merged: 16,
  /** A cluster alone has the body; what of the row is left, `evicted-row.ts` says. */
  evicted: 32,
} as const

/** A half-open range of bytes of a row. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

export interface RowHeader {
  readonly flags: number
  readonly createdMs: number
  readonly paginationKey: RowKey
  readonly transaction: number
  readonly previous: RowKey | undefined
}

/** What the rows of one object have in common. */
export type ObjectConstants = ObjectIdentity

const fieldNames = new Map(
  recordColumns.map(({ name }) => [name, Buffer.from(JSON.stringify(name))] as const),
)

/** The quoted and escaped bytes under which a row keeps the field `name`. */
export function fieldNameBytes(name: string): Uint8Array {
  return fieldNames.get(name) ?? Buffer.from(JSON.stringify(name))
}

/** One row version, read in place: nothing is parsed and nothing copied. */
export class RowView {
  readonly bytes: Buffer
  readonly fieldCount: number
  readonly #directory: number

  /** `bytes` must be exactly one row. */
  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (this.bytes.length > longBytes) noteLong(this.bytes.length)
    this.fieldCount = readUint(this.bytes, 4)
    this.#directory = this.bytes.length - this.fieldCount * directoryEntryBytes
  }

  get flags(): number {
    return this.bytes[1]!
  }

  get isTombstone(): boolean {
    return (this.bytes[1]! & rowFlags.tombstone) !== 0
  }

  get isEvicted(): boolean {
    return (this.bytes[1]! & rowFlags.evicted) !== 0
  }

  /** When the record was made; of a tombstone, when it was deleted. */
  get createdMs(): number {
    return this.bytes.readDoubleBE(8)
  }

  /** The same; its text has the microseconds for which a number has no room. */
  get created(): Timestamp {
    const ms = this.createdMs
    const text = Math.abs(ms) < nearMs ? undefined : this.fieldText('created')
    return (text && parseTimestamp(text.slice(1, -1))) || new Timestamp(ms)
  }

  get paginationKey(): RowKey {
    return readRowKey(this.bytes, 16)
  }

  /** The transaction that `_xact_id` shows. */
  get transaction(): number {
    return this.bytes.readUIntBE(24, 6)
  }

  /** The version of the same id that this one followed, a tombstone perhaps. */
  get previous(): RowKey | undefined {
    const key = readRowKey(this.bytes, 32)
    return key.transaction === 0 ? undefined : key
  }

  /** Where the compact JSON text of the field's value is; undefined when the row has none. */
  field(name: string): ByteSpan | undefined {
    const index = this.#find(fieldNameBytes(name))
    return index < 0 ? undefined : this.valueAt(index)
  }

  /** The field's compact JSON text; undefined when the row has none. */
  fieldText(name: string): string | undefined {
    const span = this.field(name)
    return span && decodeUtf8(this.bytes, span.start, span.end)
  }

  /** Name of the `index`-th field in sorted order, quoted and escaped. */
  nameAt(index: number): ByteSpan {
    const entry = this.#directory + index * directoryEntryBytes
    const start = readUint(this.bytes, entry)
    return { start, end: start + readUint(this.bytes, entry + 4) }
  }

  /** Value of the `index`-th field in sorted order. */
  valueAt(index: number): ByteSpan {
    const entry = this.#directory + index * directoryEntryBytes
    const start = readUint(this.bytes, entry) + readUint(this.bytes, entry + 4) + 1
    return { start, end: start + readUint(this.bytes, entry + 8) }
  }

  /** Where the `index`-th field begins, in sorted order: its quoted name, a colon, its value. */
  memberStart(index: number): number {
    return readUint(this.bytes, this.#directory + index * directoryEntryBytes)
  }

  /** Bytes of the `index`-th field's quoted name. */
  nameLength(index: number): number {
    return readUint(this.bytes, this.#directory + index * directoryEntryBytes + 4)
  }

  /** Bytes of the `index`-th field's value. */
  valueLength(index: number): number {
    return readUint(this.bytes, this.#directory + index * directoryEntryBytes + 8)
  }

  /** The stored fields sorted by name; names are decoded. */
  *fields(): Generator<{ readonly name: string; readonly value: ByteSpan }> {
    for (let i = 0; i < this.fieldCount; i++) {
      const { start, end } = this.nameAt(i)
      const name = JSON.parse(decodeUtf8(this.bytes, start, end)) as string
      yield { name, value: this.valueAt(i) }
    }
  }

  #find(name: Uint8Array): number {
    let low = 0
    let high = this.fieldCount - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const { start, end } = this.nameAt(middle)
      const order = compareBytes(this.bytes, start, end, name, 0, name.length)
      if (order === 0) return middle
      if (order < 0) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}

/** Fills in the header of the row that starts at `start`; its field count stays. */
export function writeRowHeader(bytes: Buffer, start: number, header: RowHeader): void {
  bytes[start] = format
  bytes[start + 1] = header.flags
  bytes[start + 2] = 0
  bytes[start + 3] = 0
  writeDouble(bytes, start + 8, header.createdMs)
  writeRowKeys(bytes, start, header)
}

/** Fills in the keys alone. */
export function writeRowKeys(
  bytes: Buffer,
  start: number,
  { paginationKey, transaction, previous }: Omit<RowHeader, 'flags' | 'createdMs'>,
): void {
  writeRowKey(bytes, start + 16, paginationKey)
  writeRowKey(bytes, start + 24, { transaction, index: 0 })
  writeRowKey(bytes, start + 32, previous ?? noKey)
}

/** What values that are derived from a row's keys are made of. */
export type PrintedKeys = Pick<RowHeader, 'paginationKey' | 'transaction'>

/** A column that `select: *` shows, in the order of its name. */
export interface PrintedColumn {
  readonly name: Uint8Array
  /** `"name":null` */
  readonly absent: Uint8Array
  /** The string that is the value of a derived column. */
  readonly derive?: (row: PrintedKeys, object: ObjectConstants) => string
  /** Whether that is the same for all rows of an object. */
  readonly isOfObject: boolean
  /** Appends the value of a column that is shown in place of the row's own. */
  readonly write?: ShownColumn['write']
}

/** A column that is shown beside a row's own, or in place of the one of its name. */
export interface ShownColumn {
  readonly name: string
  /** Appends the value as JSON. */
  readonly write: (view: RowView, out: ByteWriter) => void
}

/** The columns that rows of an object show besides their other fields, by the object's type. */
export type RowLayout = Readonly<Record<ObjectType, readonly PrintedColumn[]>>

const rowDerivations: Record<string, (row: PrintedKeys) => string> = {
  _pagination_key: (row) => formatPaginationKey(row.paginationKey),
  _xact_id: (row) => formatTransaction(row.transaction),
}

/** What `select: *` shows. */
export const plainLayout = layoutOf(columnsOf)

function columnsOf(type: ObjectType): PrintedColumn[] {
  return recordColumns
    .filter((column) => column.in.includes(type))
    .map(({ name, origin }) => ({
      name: fieldNameBytes(name),
      absent: Buffer.from(`${JSON.stringify(name)}:null`),
      isOfObject: origin === 'object',
      ...(origin === 'row' && { derive: rowDerivations[name]! }),
      ...(origin === 'object' && {
        // Of the columns of a type, no object lacks a value.
        derive: (_: PrintedKeys, object: ObjectConstants) => objectColumnValue(name, object)!,
      }),
    }))
    .sort(byName)
}

/**
 * What `select: *` shows, with `added` columns, and with those of `replaced` that the object's type
 * has.
 */
export function rowLayout(
  added: readonly ShownColumn[],
  replaced: readonly ShownColumn[],
): RowLayout {
  if (added.length === 0 && replaced.length === 0) return plainLayout
  return layoutOf((type) => {
    const columns = new Map(columnsOf(type).map((column) => [String(column.name), column]))
    const show = ({ name, write }: ShownColumn) => {
      const bytes = fieldNameBytes(name)
      columns.set(String(bytes), { name: bytes, absent: bytes, isOfObject: false, write })
    }
    for (const column of replaced) {
      if (columns.has(String(fieldNameBytes(column.name)))) show(column)
    }
    for (const column of added) show(column)
    return [...columns.values()].sort(byName)
  })
}

function layoutOf(columns: (type: ObjectType) => readonly PrintedColumn[]): RowLayout {
  return {
    project_logs: columns('project_logs'),
    experiment: columns('experiment'),
    dataset: columns('dataset'),
    playground_logs: columns('playground_logs'),
    project_prompts: columns('project_prompts'),
    project_views: columns('project_views'),
  }
}

function byName(a: PrintedColumn, b: PrintedColumn): number {
  return compareBytes(a.name, 0, a.name.length, b.name, 0, b.name.length)
}

const comma = 0x2c
const colon = 0x3a
const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Appends the row as `select: *` shows it: every column of the object's type, null where the row
 * has none, and the row's other fields, all sorted by name. Stored text is copied, never parsed.
 */
export function writeRow(
  view: RowView,
  object: ObjectConstants,
  out: ByteWriter,
  layout: RowLayout = plainLayout,
): void {
  const columns = layout[object.type]
  const { bytes, fieldCount } = view
  let column = 0
  let field = 0
  out.byte(openBrace)
  while (column < columns.length || field < fieldCount) {
    if (column + field > 0) out.byte(comma)
    const next = columns[column]
    let order = -1
    if (field < fieldCount) {
      const { start, end } = view.nameAt(field)
      order = next ? compareBytes(next.name, 0, next.name.length, bytes, start, end) : 1
      if (order >= 0) {
        const end = view.valueAt(field).end
        field++
        if (order === 0) column++
        if (order === 0 && next!.write) writeMember(next!, view, out)
        else out.copy(bytes, start, end)
        continue
      }
    }
    column++
    if (next!.write) {
      writeMember(next!, view, out)
    } else if (next!.derive) {
      out.copy(next!.name)
      out.byte(colon)
      out.byte(quote)
      out.text(next!.derive(view, object))
      out.byte(quote)
    } else {
      out.copy(next!.absent)
    }
  }
  out.byte(closeBrace)
}

function writeMember({ name, write }: PrintedColumn, view: RowView, out: ByteWriter): void {
  out.copy(name)
  out.byte(colon)
  write!(view, out)
}
