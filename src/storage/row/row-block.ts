/**
 * Blocks of rows: what the database `rows` holds beside single rows. The key of a block is that of
 * its first row. Integers are big-endian.
 *
 *     value     = row, checksum u32 | block   told apart by the first byte, which stands for the row's format
 *     block     = kind u8, codec u8, row count u16, body length u32,
 *                 transaction u48, exception count u16, exception*, body, checksum u32
 *     exception = row u16, kind u8, 0 u8, pagination key u64, previous version u64
 *     body      = place*, rows              in chunks (`row-block-chunks.ts`); rows: `row-block-body.ts`
 *               | keys                      of rows whose bodies have left: `key-block.ts`
 *     place     = steps u32                 in a block of a request
 *               | version u64, pagination key u64, transaction u48, 0 u16, previous version u64
 *
 * A block of a request is made before the keys of its rows are known. Each row stands so many steps after the one
 * before it in the numbers of the rows (`storage/row/prepared-rows.ts`), is the first version of its record, and has
 * `transaction` as its `_xact_id`, or, where that is 0, that of its version; exceptions name the rows that followed an
 * earlier version, and those that were not written at all. A packed block has rows of any requests, with their keys.
 *
 * The checksum is that of the key and the row, or of the key and all before the chunks themselves, each of which
 * has its own. Older values have none, and other kinds, which three flipped bits do not make of those that have one; bodies
 * of older blocks may be in other codecs, too.
 *
 * Versions of the object between a block's first and last row are in no other value.
 */
import type { ByteWriter } from '../../json/byte-writer.ts'
import { copyWhole } from '../../json/copy-bytes.ts'
import { requireLeft } from '../../json/turn-limit.ts'
import type { RowKey } from '../../type/transaction.ts'
import { readUint, writeUint } from '../big-endian.ts'
import type { CheckedSince } from '../checked-since.ts'
import { checksumBytes, checksumOf, seedOf } from '../checksum.ts'
import { damagedRows, damageError } from '../record-damage.ts'
import { readRowKey, writeRowKey } from '../record-key.ts'
import {
  keysBytes,
  PackedPlaces,
  type Places,
  placesOf,
  RequestPlaces,
  stepBytes,
} from './block-places.ts'
import { encodeKeys, KeyRows } from './key-block.ts'
import { type ObjectConstants, type RowHeader, RowView, writeRow } from './row.ts'
import { type BlockBytes, BlockRows, encodeBody } from './row-block-body.ts'
import {
  BlockChunks,
  type CachedChunks,
  compressChunks,
  decompressWhole,
  directoryEnd,
} from './row-block-chunks.ts'
import {
  exceptionBytes,
  previousOf,
  type RowException,
  readExceptions,
  writeExceptions,
} from './row-exceptions.ts'

/** A block is full when its rows have so many bytes, or are so many. */
export const fullBlockBytes = 128 * 1024
export const fullBlockRows = 1024
/** Of rows of which little but the keys is kept. */
export const fullKeyRows = 4096

const blockHeaderBytes = 16
/** In memory, of where rows begin. */
const bytesPerRow = 16

const kinds = { row: 0x5c, request: 0xa4, packed: 0xf8, keys: 0x6f } as const
const checkedKinds: ReadonlySet<number> = new Set(Object.values(kinds))
const olderKinds = { row: 1, request: 2, packed: 3 } as const
const codecs = { none: 0, whole: 1, chunks: 2 } as const

const noKey: RowKey = { transaction: 0, index: 0 }
const noBytes = new Uint8Array(0)

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

/** The value of a row by itself. */
export function singleRow(key: Buffer, row: Uint8Array): Buffer {
  const value = Buffer.allocUnsafe(row.length + checksumBytes)
  copyWhole(row, value, 0)
  value[0] = kinds.row
  writeChecksum(key, value, row.length)
  return value
}

/** At the end of the value, of its first `length` bytes. */
function writeChecksum(key: Buffer, value: Buffer, length: number): void {
  const checksum = checksumOf(value.subarray(0, length), seedOf(key, 0))
  writeUint(value, value.length - checksumBytes, checksum)
}

function hasChecksum(key: Buffer, value: Buffer, length: number): boolean {
  const checksum = readUint(value, value.length - checksumBytes)
  return checksumOf(value.subarray(0, length), seedOf(key, 0)) === checksum
}

/**
 * The value of a block of prepared rows, the first of which has the block's key.
 *
 * @param transaction what all show as their `_xact_id`; that of their versions when not given
 */
export function requestBlock(
  key: Buffer,
  body: BlockBody,
  transaction: number | undefined,
  exceptions: readonly RowException[],
): Buffer {
  return encodeBlock(key, kinds.request, body, transaction ?? 0, exceptions)
}

/**
 * The value of a block of rows of any requests, by their versions. The first has the block's key. Where bodies have left, keys
 * are what there is to store; whole rows among them are best few and short.
 */
export function packedBlock(
  key: Buffer,
  versions: readonly RowKey[],
  rows: readonly Uint8Array[],
): Buffer {
  if (rows.some((bytes) => new RowView(bytes).isEvicted)) {
    const keys = encodeKeys(versions, rows)
    return encodeBlock(key, kinds.keys, bodyOfChunks(rows.length, keys, noBytes, []), 0, [])
  }
  const places = Buffer.allocUnsafe(rows.length * keysBytes)
  versions.forEach((version, i) => {
    const at = i * keysBytes
    const { paginationKey, transaction, previous } = new RowView(rows[i]!)
    writeRowKey(places, at, version)
    writeRowKey(places, at + 8, paginationKey)
    writeRowKey(places, at + 16, { transaction, index: 0 })
    writeRowKey(places, at + 24, previous ?? noKey)
  })
  return encodeBlock(key, kinds.packed, compressBody(places, rows), 0, [])
}

function compressBody(places: Buffer, rows: readonly Uint8Array[]): BlockBody {
  const { head, members, ends } = encodeBody(rows)
  return bodyOfChunks(rows.length, Buffer.concat([places, head]), members, ends)
}

function bodyOfChunks(
  rowCount: number,
  first: Buffer,
  members: Uint8Array,
  ends: ArrayLike<number>,
): BlockBody {
  const length = first.length + members.length
  return { rowCount, codec: codecs.chunks, length, bytes: compressChunks(first, members, ends) }
}

function encodeBlock(
  key: Buffer,
  kind: number,
  body: BlockBody,
  transaction: number,
  exceptions: readonly RowException[],
): Buffer {
  const start = blockHeaderBytes + exceptions.length * exceptionBytes
  const value = Buffer.allocUnsafe(start + body.bytes.length + checksumBytes)
  value[0] = kind
  value[1] = body.codec
  value.writeUInt16BE(body.rowCount, 2)
  value.writeUInt32BE(body.length, 4)
  writeRowKey(value, 8, { transaction, index: exceptions.length })
  writeExceptions(exceptions, value, blockHeaderBytes)
  copyWhole(body.bytes, value, start)
  writeChecksum(key, value, headEnd(value, start)!)
  return value
}

export function isBlock(value: Buffer): boolean {
  return value[0] !== kinds.row && value[0] !== olderKinds.row
}

/** Whether a value has a checksum; older ones have none. */
export function isChecked(value: Buffer): boolean {
  const kind = value[0]
  return kind !== undefined && checkedKinds.has(kind)
}

/** Whether a value has what is kept of rows whose bodies have left: older values of such rows are packed. */
export function hasKeysAlone(value: Buffer): boolean {
  return value[0] === kinds.keys
}

/** Where the chunks of a checked block begin, whose body begins at `start`; undefined when there are none. */
function headEnd(value: Buffer, start: number): number | undefined {
  const end = value.length - checksumBytes
  const length = start < end ? directoryEnd(value.subarray(start, end)) : undefined
  return length && start + length
}

/** A decoded value of the database `rows`: one row or a block of them. */
export class RowBlock {
  readonly rowCount: number
  /** When it is not compressed. */
  readonly byteLength: number
  /** What is in memory as long as the block is, apart from its chunks. */
  readonly keptBytes: number
  readonly #head: BlockHead
  /** Where in the value the body begins. */
  readonly #bodyStart: number
  readonly #places: Places
  readonly #rows: BlockRows | KeyRows | undefined
  /** The row, if it is by itself. */
  readonly #single: RowView | undefined
  /** Undefined of a row that was not written. */
  readonly #keysAt: (row: number) => RowKeys | undefined
  /** Unless chunks are kept elsewhere. */
  readonly #value: Buffer | undefined
  /** The place that was asked for last: what is told of if it cannot be read. */
  #asked: number | undefined

  /**
   * Throws STORAGE_CORRUPT if the value is neither a row nor a block, or is damaged.
   *
   * @param since when values have checksums
   * @param chunks keeps what is decompressed when a row is asked for. The value of a block is not kept
   *   then: who asks for a row gives it again. If not given, all is kept.
   */
  constructor(
    key: Buffer,
    value: Buffer,
    since: Pick<CheckedSince, 'transaction'> | undefined,
    chunks?: CachedChunks,
  ) {
    const first = readRowKey(key, 4)
    const corrupt = () => {
      const asked = this.#asked === undefined ? undefined : [this.versionAt(this.#asked)]
      return damageError(damagedRows(key, asked))
    }
    const checked = isChecked(value)
    if (!checked && since && first.transaction > since.transaction) throw corrupt()
    if (value.length < blockHeaderBytes) throw corrupt()
    this.#head = headOf(value)
    const kind = value[0]
    if (!isBlock(value)) {
      const length = checked ? value.length - checksumBytes : value.length
      requireLeft(length)
      if (checked && !hasChecksum(key, value, length)) {
        this.#places = placesOf(first)
        this.#asked = 0
        throw corrupt()
      }
      this.rowCount = 1
      this.byteLength = length
      this.keptBytes = length
      this.#bodyStart = 0
      this.#places = placesOf(first)
      this.#single = new RowView(value.subarray(0, length))
      this.#keysAt = () => undefined
      return
    }
    const isRequest = kind === kinds.request || kind === olderKinds.request
    if (!isRequest && !checked && kind !== olderKinds.packed) throw corrupt()
    const rowCount = value.readUInt16BE(2)
    const { transaction, index: exceptionCount } = readRowKey(value, 8)
    this.#bodyStart = blockHeaderBytes + exceptionCount * exceptionBytes
    if (checked) {
      const end = headEnd(value, this.#bodyStart)
      if (end === undefined || !hasChecksum(key, value, end)) throw corrupt()
    }
    this.#value = chunks ? undefined : value
    const stored = value.subarray(this.#bodyStart, value.length - (checked ? checksumBytes : 0))
    const body = bodyOf(value, stored, checked, chunks ?? new Map<object, Buffer>(), corrupt)
    const { first: head } = body
    this.rowCount = rowCount
    this.byteLength = value.readUInt32BE(4)
    this.keptBytes = body.keptBytes + rowCount * bytesPerRow
    if (kind === kinds.keys) {
      const rows = new KeyRows(head, rowCount)
      this.keptBytes = rows.keptBytes
      this.#places = new PackedPlaces(rows.places)
      this.#rows = rows
      this.#keysAt = (row) => readKeys(rows.places, row * keysBytes + 8)
    } else if (!isRequest) {
      const rows = new BlockRows(body, rowCount * keysBytes, rowCount)
      this.#places = new PackedPlaces(head)
      this.#rows = rows
      this.#keysAt = (row) => readKeys(head, row * keysBytes + 8)
    } else {
      const rows = new BlockRows(body, rowCount * stepBytes, rowCount)
      const places = new RequestPlaces(first, head, rowCount)
      const exceptions =
        exceptionCount > 0 ? readExceptions(value, blockHeaderBytes, exceptionCount) : undefined
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
    const { low, high, end } = headOf(value)
    return this.#head.low === low && this.#head.high === high && this.#head.end === end
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

  /**
   * The row at a place; undefined when it was not written. As for the value, see `find`.
   *
   * @param memory see `BlockRows`
   */
  rowAt(place: number, value = this.#value, memory?: Buffer): RowView | undefined {
    if (!this.#rows) return this.#single
    const keys = this.#keysAt(place)
    this.#asked = place
    return keys && this.#rows.rowAt(place, keys, value?.subarray(this.#bodyStart), memory)
  }

  /** Whether the row at a place has lost its body. */
  isEvicted(place: number): boolean {
    return this.#rows ? this.#rows.isEvicted(place) : this.#single!.isEvicted
  }

  /** Whether there is a row at a place. */
  isWritten(place: number): boolean {
    return this.#rows === undefined || this.#keysAt(place) !== undefined
  }

  /** Versions of the rows that cannot be read. The value must be kept. */
  damagedVersions(): RowKey[] {
    const damaged: RowKey[] = []
    for (let place = 0; place < this.rowCount; place++) {
      try {
        this.rowAt(place)
      } catch {
        damaged.push(this.versionAt(place))
      }
    }
    return damaged
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
    this.#asked = place
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

/**
 * What tells a block from one that takes its place: rows are added to it, or leave for good. Both together may leave it as
 * many rows of the same length, which its last bytes tell apart: the checksum of its keys and of the checksums of its chunks.
 */
interface BlockHead {
  readonly low: number
  readonly high: number
  readonly end: number
}

function headOf(value: Buffer): BlockHead {
  return {
    low: value.readUInt32BE(0),
    high: value.readUInt32BE(4),
    end: value.readUInt32BE(value.length - checksumBytes),
  }
}

/** The value is not used any more after that: what is read later was copied. */
function bodyOf(
  value: Buffer,
  stored: Buffer,
  hasChecksums: boolean,
  chunks: CachedChunks,
  corrupt: () => Error,
): BlockBytes {
  const plainLength = value.readUInt32BE(4)
  if (value[1] === codecs.chunks) {
    return new BlockChunks(stored, { plainLength, hasChecksums }, chunks, corrupt)
  }
  requireLeft(plainLength)
  let body: Buffer
  try {
    body = value[1] === codecs.none ? Buffer.from(stored) : decompressWhole(stored)
  } catch {
    throw corrupt()
  }
  if (body.length !== plainLength) throw corrupt()
  const whole = { bytes: body, start: 0 }
  return {
    first: body,
    hasKinds: false,
    keptBytes: body.length,
    isAtHand: () => true,
    chunkOf: () => whole,
  }
}

function readKeys(bytes: Buffer, at: number): RowKeys {
  return {
    paginationKey: readRowKey(bytes, at),
    transaction: bytes.readUIntBE(at + 8, 6),
    previous: previousOf(readRowKey(bytes, at + 16)),
  }
}
