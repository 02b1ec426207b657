/**
 * Blocks of rows: what the database `rows` holds beside single rows. The key of a block is that of
 * its first row. Integers are big-endian.
 *
 *     value     = row | block                 told apart by the first byte: that of a row is 1
 *     block     = kind u8, codec u8, row count u16, body length u32,
 *                 transaction u48, exception count u16, exception*, body
 *     exception = row u16, kind u8, 0 u8, pagination key u64, previous version u64
 *     body      = place*, rows              in the form of the codec; rows: `row-block-body.ts`
 *                                           0 as it is, 1 LZ4, 2 `row-block-pieces.ts`
 *     place     = steps u32                 in a block of kind 2
 *               | version u64, pagination key u64, transaction u48, 0 u16, previous version u64
 *
 * Kind 2 is made before the keys of its rows are known. Each row stands so many steps after the one
 * before it in the numbers of the rows (`storage/row/prepared-rows.ts`), is the first version of its record,
 * and has `transaction` as its `_xact_id`, or, where that is 0, that of its version; exceptions name the rows that followed an earlier version, and
 * those that were not written at all. Kind 3 has rows of any requests, with their keys.
 *
 * Versions of the object between a block's first and last row are in no other value.
 */
import { AssayError } from '../../error.ts'
import type { ByteWriter } from '../../json/byte-writer.ts'
import { copyWhole } from '../../json/copy-bytes.ts'
import { compareRowKeys, type RowKey, rowKey, rowsPerTransaction } from '../../type/transaction.ts'
import { readUint48 } from '../big-endian.ts'
import { readRowKey, writeRowKey } from '../record-key.ts'
import { type ObjectConstants, type RowHeader, RowView, writeRow } from './row.ts'
import { type BlockBytes, BlockRows, encodeBody } from './row-block-body.ts'
import {
  BlockPieces,
  compressPieces,
  decompressWhole,
  type KeptPieces,
} from './row-block-pieces.ts'

/** A block is full when its rows have so many bytes, or are so many. */
export const fullBlockBytes = 128 * 1024
export const fullBlockRows = 1024

const blockHeaderBytes = 16
const exceptionBytes = 20
const stepBytes = 4
/** In memory, of where rows begin. */
const bytesPerRow = 16
const keysBytes = 32

const singleRow = 1
const kinds = { request: 2, packed: 3 } as const
const codecs = { none: 0, whole: 1, pieces: 2 } as const
const exceptionKinds = { follows: 1, absent: 2 } as const

const noKey: RowKey = { transaction: 0, index: 0 }

/** A row of a request's block that is not the first version of a record. */
export interface RowException {
  /** Its place in the block. */
  readonly row: number
  /** Undefined for a row that was not written. */
  readonly keys:
    | { readonly paginationKey: RowKey; readonly previous: RowKey | undefined }
    | undefined
}

/** Rows of one object, encoded as the body of a block of kind 2. */
export interface BlockBody {
  readonly rowCount: number
  readonly codec: number
  /** When it is not compressed. */
  readonly length: number
  readonly bytes: Uint8Array
}

/** Encodes rows, but not their keys. `numbers` are as `PreparedRows` has them, ascending. */
export function encodeRequestBody(
  numbers: readonly number[],
  rows: readonly Uint8Array[],
): BlockBody {
  const places = Buffer.allocUnsafe(rows.length * stepBytes)
  numbers.forEach((number, i) => {
    places.writeUInt32BE(i === 0 ? 0 : number - numbers[i - 1]!, i * stepBytes)
  })
  return compressBody(places, rows)
}

/**
 * The value of a block of prepared rows, the first of which has the block's key.
 *
 * @param transaction what all show as their `_xact_id`; that of their versions when not given
 */
export function requestBlock(
  body: BlockBody,
  transaction: number | undefined,
  exceptions: readonly RowException[],
): Buffer {
  return encodeBlock(kinds.request, body, transaction ?? 0, exceptions)
}

/** The value of a block of rows of any requests, by their versions. */
export function packedBlock(versions: readonly RowKey[], rows: readonly Uint8Array[]): Buffer {
  const places = Buffer.allocUnsafe(rows.length * keysBytes)
  versions.forEach((version, i) => {
    const at = i * keysBytes
    const { paginationKey, transaction, previous } = new RowView(rows[i]!)
    writeRowKey(places, at, version)
    writeRowKey(places, at + 8, paginationKey)
    writeRowKey(places, at + 16, { transaction, index: 0 })
    writeRowKey(places, at + 24, previous ?? noKey)
  })
  return encodeBlock(kinds.packed, compressBody(places, rows), 0, [])
}

function compressBody(places: Buffer, rows: readonly Uint8Array[]): BlockBody {
  const { head, members, ends } = encodeBody(rows)
  const first = Buffer.concat([places, head])
  const length = first.length + members.length
  const bytes = compressPieces(first, members, ends)
  return { rowCount: rows.length, codec: codecs.pieces, length, bytes }
}

function encodeBlock(
  kind: number,
  body: BlockBody,
  transaction: number,
  exceptions: readonly RowException[],
): Buffer {
  const start = blockHeaderBytes + exceptions.length * exceptionBytes
  const value = Buffer.allocUnsafe(start + body.bytes.length)
  value[0] = kind
  value[1] = body.codec
  value.writeUInt16BE(body.rowCount, 2)
  value.writeUInt32BE(body.length, 4)
  writeRowKey(value, 8, { transaction, index: exceptions.length })
  exceptions.forEach(({ row, keys }, i) => {
    const at = blockHeaderBytes + i * exceptionBytes
    value.writeUInt16BE(row, at)
    value.writeUInt16BE((keys ? exceptionKinds.follows : exceptionKinds.absent) << 8, at + 2)
    writeRowKey(value, at + 4, keys?.paginationKey ?? noKey)
    writeRowKey(value, at + 12, keys?.previous ?? noKey)
  })
  copyWhole(body.bytes, value, start)
  return value
}

export function isBlock(value: Buffer): boolean {
  return value[0] !== singleRow
}

/** A decoded value of the database `rows`: one row or a block of them. */
export class RowBlock {
  readonly rowCount: number
  /** When it is not compressed. */
  readonly byteLength: number
  /** What is in memory as long as the block is, apart from its pieces. */
  readonly keptBytes: number
  readonly #head: BlockHead
  /** Where in the value the body begins. */
  readonly #bodyStart: number
  readonly #places: Places
  readonly #rows: BlockRows | undefined
  /** The row, if it is by itself. */
  readonly #single: RowView | undefined
  /** Undefined of a row that was not written. */
  readonly #keysAt: (row: number) => RowKeys | undefined
  /** Unless pieces are kept elsewhere. */
  readonly #value: Buffer | undefined

  /**
   * Throws STORAGE_CORRUPT if the value is neither a row nor a block.
   *
   * @param pieces keeps what is decompressed when a row is asked for. The value of a block is not kept
   *   then: who asks for a row gives it again. If not given, all is kept.
   */
  constructor(first: RowKey, value: Buffer, pieces?: KeptPieces) {
    this.#head = headOf(value)
    const kind = value[0]
    if (kind === singleRow) {
      this.rowCount = 1
      this.byteLength = value.length
      this.keptBytes = value.length
      this.#bodyStart = 0
      this.#places = {
        versionAt: () => first,
        compareAt: (_, version) => compareRowKeys(first, version),
      }
      this.#single = new RowView(value)
      this.#keysAt = () => undefined
      return
    }
    if (kind !== kinds.request && kind !== kinds.packed) throw corruptBlock()
    const rowCount = value.readUInt16BE(2)
    const { transaction, index: exceptionCount } = readRowKey(value, 8)
    this.#bodyStart = blockHeaderBytes + exceptionCount * exceptionBytes
    this.#value = pieces ? undefined : value
    const body = bodyOf(value, this.#bodyStart, pieces ?? new Map<object, Buffer>())
    const { first: head } = body
    this.rowCount = rowCount
    this.byteLength = value.readUInt32BE(4)
    this.keptBytes = body.keptBytes + rowCount * bytesPerRow
    if (kind === kinds.packed) {
      const rows = new BlockRows(body, rowCount * keysBytes, rowCount)
      this.#places = new PackedPlaces(head)
      this.#rows = rows
      this.#keysAt = (row) => readKeys(head, row * keysBytes + 8)
    } else {
      const rows = new BlockRows(body, rowCount * stepBytes, rowCount)
      const places = new RequestPlaces(first, head, rowCount)
      const exceptions = exceptionCount > 0 ? readExceptions(value, exceptionCount) : undefined
      this.#places = places
      this.#rows = rows
      this.#keysAt = (row) => {
        const version = places.versionAt(row)
        const isNew = { paginationKey: version, previous: undefined }
        const keys = exceptions?.has(row) ? exceptions.get(row) : isNew
        if (!keys) return undefined
        const { paginationKey, previous } = keys
        const shown = transaction === 0 ? version.transaction : transaction
        return { paginationKey, transaction: shown, previous }
      }
    }
  }

  /** Versions are in ascending order. Some of a request's block may not have been written. */
  versionAt(place: number): RowKey {
    return this.#places.versionAt(place)
  }

  /** Whether it was decoded from `value`, which has the same key. */
  isOf(value: Buffer): boolean {
    const { low, high } = headOf(value)
    return this.#head.low === low && this.#head.high === high
  }

  /** Whether `version` lies between the first and the last: if so, no other value can have it. */
  covers(version: RowKey): boolean {
    const places = this.#places
    return places.compareAt(0, version) <= 0 && places.compareAt(this.rowCount - 1, version) >= 0
  }

  /**
   * The row of that version; undefined when there is none.
   *
   * @param value of the block; needed where it is not kept, unless the row is at hand
   */
  find(version: RowKey, value?: Buffer): RowView | undefined {
    const place = this.placeWith(version)
    return place === undefined ? undefined : this.rowAt(place, value)
  }

  /** Whether `rowAt` and `printAt` need no value. */
  isAtHand(place: number): boolean {
    return this.#rows?.isAtHand(place) !== false
  }

  /** The place of that version; undefined when no row has it. */
  placeWith(version: RowKey): number | undefined {
    const place = this.placeOf(version)
    return place < this.rowCount && this.#places.compareAt(place, version) === 0 ? place : undefined
  }

  /** The place of the first version that is not before `version`. */
  placeOf(version: RowKey): number {
    let low = 0
    let high = this.rowCount
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#places.compareAt(middle, version) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The row at a place; undefined when it was not written. As for the value, see `find`. */
  rowAt(place: number, value = this.#value): RowView | undefined {
    if (!this.#rows) return this.#single
    const keys = this.#keysAt(place)
    return keys && this.#rows.rowAt(place, keys, value?.subarray(this.#bodyStart))
  }

  /**
   * Appends the row at a place as `writeRow` does. Undefined, and nothing is appended, when it was not written or
   * is a tombstone. As for the value, see `find`.
   *
   * @param keeps see `BlockRows`
   */
  printAt(
    place: number,
    object: ObjectConstants,
    out: ByteWriter,
    keeps: boolean,
    value = this.#value,
  ): PrintedRow | undefined {
    const single = this.#single
    if (single?.isTombstone) return undefined
    if (single) {
      writeRow(single, object, out)
      return { paginationKey: single.paginationKey, byteLength: single.bytes.length }
    }
    const keys = this.#keysAt(place)
    if (!keys) return undefined
    const stored = value?.subarray(this.#bodyStart)
    const byteLength = this.#rows!.printAt(place, keys, object, out, stored, keeps)
    return byteLength === undefined ? undefined : { paginationKey: keys.paginationKey, byteLength }
  }
}

type RowKeys = Omit<RowHeader, 'flags' | 'createdMs'>

/** What there is to say of a row that was printed. */
export interface PrintedRow {
  readonly paginationKey: RowKey
  /** As it is stored by itself. */
  readonly byteLength: number
}

interface Places {
  versionAt(place: number): RowKey
  /** As `compareRowKeys` of the version there and another, without a key that is made for it. */
  compareAt(place: number, version: RowKey): number
}

/** The versions of any rows, as they stand in the head of a block. */
class PackedPlaces implements Places {
  readonly #head: Buffer

  constructor(head: Buffer) {
    this.#head = head
  }

  versionAt(place: number): RowKey {
    return readRowKey(this.#head, place * keysBytes)
  }

  compareAt(place: number, { transaction, index }: RowKey): number {
    const head = this.#head
    const at = place * keysBytes
    return readUint48(head, at) - transaction || ((head[at + 6]! << 8) | head[at + 7]!) - index
  }
}

/** The versions of a request's rows, by the steps between their numbers. */
class RequestPlaces implements Places {
  readonly #first: RowKey
  readonly #numbers: Float64Array

  constructor(first: RowKey, body: Buffer, rowCount: number) {
    this.#first = first
    this.#numbers = new Float64Array(rowCount)
    let number = first.index
    for (let i = 0; i < rowCount; i++) {
      number += body.readUInt32BE(i * stepBytes)
      this.#numbers[i] = number
    }
  }

  versionAt(place: number): RowKey {
    return rowKey(this.#first.transaction, this.#numbers[place]!)
  }

  compareAt(place: number, { transaction, index }: RowKey): number {
    // Of transactions far apart the product is rounded, but has the right sign.
    const counters = this.#first.transaction - transaction
    return counters * rowsPerTransaction + (this.#numbers[place]! - index)
  }
}

/** What tells a block from the one that takes its place when blocks are merged. */
interface BlockHead {
  readonly low: number
  readonly high: number
}

function headOf(value: Buffer): BlockHead {
  if (value.length < blockHeaderBytes) throw corruptBlock()
  return { low: value.readUInt32BE(0), high: value.readUInt32BE(4) }
}

/** The value is not used any more after that: what is read later was copied. */
function bodyOf(value: Buffer, start: number, pieces: KeptPieces): BlockBytes {
  const bytes = value.subarray(start)
  const length = value.readUInt32BE(4)
  if (value[1] === codecs.pieces) {
    return new BlockPieces(bytes, length, pieces, corruptBlock)
  }
  let body: Buffer
  try {
    body = value[1] === codecs.none ? Buffer.from(bytes) : decompressWhole(bytes)
  } catch {
    throw corruptBlock()
  }
  if (body.length !== length) throw corruptBlock()
  const whole = { bytes: body, start: 0 }
  return {
    first: body,
    hasKinds: false,
    keptBytes: body.length,
    isAtHand: () => true,
    pieceOf: () => whole,
  }
}

/** By place. Those of rows that were not written have no keys. */
function readExceptions(value: Buffer, count: number): Map<number, RowException['keys']> {
  const exceptions = new Map<number, RowException['keys']>()
  for (let i = 0; i < count; i++) {
    const at = blockHeaderBytes + i * exceptionBytes
    const isAbsent = value[at + 2] === exceptionKinds.absent
    const keys = {
      paginationKey: readRowKey(value, at + 4),
      previous: previousOf(readRowKey(value, at + 12)),
    }
    exceptions.set(value.readUInt16BE(at), isAbsent ? undefined : keys)
  }
  return exceptions
}

function readKeys(bytes: Buffer, at: number): RowKeys {
  return {
    paginationKey: readRowKey(bytes, at),
    transaction: bytes.readUIntBE(at + 8, 6),
    previous: previousOf(readRowKey(bytes, at + 16)),
  }
}

function previousOf(key: RowKey): RowKey | undefined {
  return key.transaction === 0 ? undefined : key
}

function corruptBlock(): AssayError {
  return new AssayError('STORAGE_CORRUPT', 'a block of rows is damaged', {
    hint: 'restore the data directory from a copy',
  })
}
