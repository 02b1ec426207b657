/**
 * Keys of the records environment: fixed widths, big-endian, so that they order as their parts do.
 * A row key is a u64: its transaction in 48 bits, its index in 16.
 *
 * LMDB bounds a key's length, but ids and field names have none. A long one, or one that UTF-8
 * cannot hold (half of a surrogate pair), stands in its key as the byte 0xff, which no UTF-8 text
 * begins with, and the SHA-256 of its UTF-16 form.
 */
import { createHash } from 'node:crypto'
import type { RowKey } from '../type/transaction.ts'
import { readUint48, writeUint48 } from './big-endian.ts'

const longestTextBytes = 256

export function rowVersionKey(object: number, key: RowKey): Buffer {
  const bytes = Buffer.allocUnsafe(12)
  bytes.writeUInt32BE(object, 0)
  writeRowKey(bytes, 4, key)
  return bytes
}

/** In `progress`: the last transaction that superseded a version of the object. */
export function lastSupersessionKey(object: number): Buffer {
  return Buffer.from(`superseded ${object}`)
}

export function supersessionKey(object: number, paginationKey: RowKey, version: RowKey): Buffer {
  const bytes = Buffer.allocUnsafe(20)
  bytes.writeUInt32BE(object, 0)
  writeRowKey(bytes, 4, paginationKey)
  writeRowKey(bytes, 12, version)
  return bytes
}

export function transactionKey(transaction: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUIntBE(transaction, 2, 6)
  return bytes
}

export function transactionOf(bytes: Buffer): number {
  return bytes.readUIntBE(2, 6)
}

export function recordIdKey(object: number, id: string): Buffer {
  return textKey(object, id)
}

/** `path` is a path as `pathKey` writes it. */
export function fieldPathKey(object: number, path: string): Buffer {
  return textKey(object, path)
}

/** The object in any key that begins with one. */
export function objectOf(bytes: Buffer): number {
  return bytes.readUInt32BE(0)
}

/** What `ids` knows of an id: version key, pagination key, and 1 if it is deleted. */
export interface CurrentVersion {
  readonly version: RowKey
  readonly paginationKey: RowKey
  readonly isDeleted: boolean
}

export function encodeCurrentVersion(current: CurrentVersion): Buffer {
  const bytes = Buffer.allocUnsafe(17)
  writeRowKey(bytes, 0, current.version)
  writeRowKey(bytes, 8, current.paginationKey)
  bytes[16] = current.isDeleted ? 1 : 0
  return bytes
}

export function decodeCurrentVersion(bytes: Buffer): CurrentVersion {
  return {
    version: readRowKey(bytes, 0),
    paginationKey: readRowKey(bytes, 8),
    isDeleted: bytes[16] === 1,
  }
}

/** The bounds of all keys of an object. */
export function objectRange(object: number): { start: Buffer; end: Buffer } {
  const start = Buffer.allocUnsafe(4)
  start.writeUInt32BE(object)
  const end = Buffer.allocUnsafe(4)
  end.writeUInt32BE(object + 1)
  return { start, end }
}

export function writeRowKey(bytes: Buffer, at: number, key: RowKey): void {
  writeUint48(bytes, at, key.transaction)
  bytes[at + 6] = key.index >>> 8
  bytes[at + 7] = key.index
}

export function readRowKey(bytes: Uint8Array, at: number): RowKey {
  return { transaction: readUint48(bytes, at), index: (bytes[at + 6]! << 8) | bytes[at + 7]! }
}

function textKey(object: number, text: string): Buffer {
  if (text.length <= longestTextBytes && !/\p{Surrogate}/u.test(text)) {
    const length = Buffer.byteLength(text)
    if (length <= longestTextBytes) {
      const bytes = Buffer.allocUnsafe(4 + length)
      bytes.writeUInt32BE(object, 0)
      bytes.write(text, 4, 'utf8')
      return bytes
    }
  }
  const bytes = Buffer.allocUnsafe(37)
  bytes.writeUInt32BE(object, 0)
  bytes[4] = 0xff
  createHash('sha256').update(Buffer.from(text, 'utf16le')).digest().copy(bytes, 5)
  return bytes
}
