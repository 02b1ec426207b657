/**
 * Runs of ids: what is known of most records, by hashes of their ids, in order. Like all big-endian.
 *
 *     key   = run u32, hash 16                   of the first entry
 *     value = entry*                             perhaps in fewer bytes (`id-chunk.ts`)
 *     entry = hash 16, version u64, pagination key u64
 *     hash  = object u32, the first 95 bits of the SHA-256 of the id's text, is deleted u1
 *
 * An id that has no text in a key (`storage/record-key.ts`) is hashed as what stands for it there. So
 * many bits of a strong hash are taken for the id itself: no one can find two ids that share them.
 */
import { hash } from 'node:crypto'
import { copyBytes } from '../../json/copy-bytes.ts'
import { type CurrentVersion, readRowKey, recordIdKey, writeRowKey } from '../record-key.ts'
import {
  entryBytes,
  findEntry,
  fullHashBytes,
  type HashNumbers,
  mostEntries,
  packChunk,
  wideEntries,
} from './id-chunk.ts'

/** A hash as a string of bytes, whose last bit is 0. Strings order as their bytes. */
export type IdHash = string

/** Of an id alone, without its object. */
export const idHashBytes = 12

/** In UTF-8 no longer than what a key takes. */
const plainIdLength = 85

export interface IdEntry extends CurrentVersion {
  readonly hash: IdHash
}

/** The hash of an id, without its object. */
export function hashId(id: string): IdHash {
  return isPlain(id) ? hashOf(id) : hashIdKey(recordIdKey(0, id))
}

/** A short text is in its key as it is. */
function isPlain(id: string): boolean {
  return id.length <= plainIdLength && !/\p{Surrogate}/u.test(id)
}

/** As `hashId`, of the id in a key that `recordIdKey` made. */
export function hashIdKey(key: Buffer): IdHash {
  return hashOf(key.subarray(4))
}

/** Writes what `hashId` gives to `target`. */
export function writeIdHash(id: string, target: Buffer, at: number): void {
  target.write(isPlain(id) ? hash('sha256', id, 'binary') : hashId(id), at, idHashBytes, 'latin1')
  target[at + idHashBytes - 1]! &= 0xfe
}

function hashOf(text: string | Buffer): IdHash {
  const digest = hash('sha256', text, 'binary')
  const last = digest.charCodeAt(idHashBytes - 1) & 0xfe
  return digest.slice(0, idHashBytes - 1) + String.fromCharCode(last)
}

export function fullHash(object: number, idHash: IdHash): IdHash {
  return (
    String.fromCharCode(
      object >>> 24,
      (object >>> 16) & 0xff,
      (object >>> 8) & 0xff,
      object & 0xff,
    ) + idHash
  )
}

const written = Buffer.alloc(fullHashBytes)

/** The same of the id in place `row` of those that `writeIdHash` has written: one string is made of all bytes at once. */
export function fullHashIn(object: number, hashes: Uint8Array, row: number): IdHash {
  written.writeUInt32BE(object)
  const first = row * idHashBytes
  for (let i = 0; i < idHashBytes; i++) written[4 + i] = hashes[first + i]!
  return written.toString('latin1')
}

export function objectOfHash(hash: IdHash): number {
  return numberIn(hash, 0, 4)
}

export function hashNumbers(hash: IdHash): HashNumbers {
  return { object: objectOfHash(hash), high: numberIn(hash, 4, 10), low: numberIn(hash, 10, 16) }
}

/** Of the characters of a hash, each of which is a byte. */
function numberIn(hash: IdHash, start: number, end: number): number {
  let number = 0
  for (let i = start; i < end; i++) number = number * 0x100 + hash.charCodeAt(i)
  return number
}

/** The key of the part of a run that begins with `first`. */
export function chunkKey(run: number, first: IdHash): Buffer {
  const key = Buffer.allocUnsafe(4 + first.length)
  key.writeUInt32BE(run, 0)
  key.write(first, 4, 'latin1')
  return key
}

export function runOf(key: Buffer): number {
  return key.readUInt32BE(0)
}

/** The bounds of the keys of a run, or of those up to `last`. */
export function runRange(run: number, last = run): { start: Buffer; end: Buffer } {
  return { start: chunkKey(run, ''), end: chunkKey(last, '\xff'.repeat(fullHashBytes + 1)) }
}

/** A part of a run as it is stored. */
export interface RunChunk {
  readonly key: Buffer
  readonly value: Buffer
  readonly entries: number
}

/** Entries in the order of their hashes, as a run. */
export function* encodeRun(run: number, entries: Iterable<IdEntry>): Generator<RunChunk> {
  const written = new WideEntries(run)
  for (const { hash: text, version, paginationKey, isDeleted } of entries) {
    if (written.isFull) yield written.takeChunk()
    const { bytes } = written
    const at = written.add()
    bytes.write(text, at, 'latin1')
    if (isDeleted) bytes[at + fullHashBytes - 1]! |= 1
    writeRowKey(bytes, at + fullHashBytes, version)
    writeRowKey(bytes, at + fullHashBytes + 8, paginationKey)
  }
  while (!written.isEmpty) yield written.takeChunk()
}

/** Entries that are in no chunk yet, as wide ones. */
class WideEntries {
  readonly bytes = Buffer.allocUnsafe(mostEntries * entryBytes)
  readonly #run: number
  #length = 0

  constructor(run: number) {
    this.#run = run
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  get isFull(): boolean {
    return this.#length === this.bytes.length
  }

  /** Where the next entry is to be written. */
  add(): number {
    const at = this.#length
    this.#length += entryBytes
    return at
  }

  /** Takes the last one back. */
  drop(): void {
    this.#length -= entryBytes
  }

  /** The first of them, which are as many as fit. */
  takeChunk(): RunChunk {
    const { value, entries } = packChunk(this.bytes.subarray(0, this.#length))
    const key = chunkKey(this.#run, hashAt(this.bytes, 0))
    this.bytes.copyWithin(0, entries * entryBytes, this.#length)
    this.#length -= entries * entryBytes
    return { key, value, entries }
  }
}

/** What a chunk knows of versions up to the transaction, as parts of the same run. */
export function* chunksUpTo(
  { key, value }: Pick<RunChunk, 'key' | 'value'>,
  through: number,
): Generator<RunChunk> {
  const wide = wideEntries(value)
  const written = new WideEntries(runOf(key))
  for (let at = 0; at < wide.length; at += entryBytes) {
    if (readRowKey(wide, at + fullHashBytes).transaction > through) continue
    copyBytes(wide, at, at + entryBytes, written.bytes, written.add())
  }
  while (!written.isEmpty) yield written.takeChunk()
}

/** The hashes of a chunk's entries. */
export function* hashesOf(value: Buffer): Generator<IdHash> {
  const wide = wideEntries(value)
  for (let at = 0; at < wide.length; at += entryBytes) yield hashAt(wide, at)
}

/** What a chunk knows of an id; it has `length` bytes from `start` on. */
export function findInChunk(
  bytes: Uint8Array,
  start: number,
  length: number,
  wanted: HashNumbers,
): CurrentVersion | undefined {
  const found = findEntry(bytes, start, length, wanted)
  return (
    found && {
      version: readRowKey(bytes, found.version),
      paginationKey: readRowKey(bytes, found.paginationKey),
      isDeleted: (bytes[found.hashEnd]! & 1) === 1,
    }
  )
}

/**
 * One run out of several, each given by the values of its chunks. Of an id the newest version stays.
 *
 * @param isGone whether the newest version of an id is to be left out, too
 */
export function* mergeChunks(
  run: number,
  runs: readonly Iterable<Buffer>[],
  isGone?: (entry: IdEntry) => boolean,
): Generator<RunChunk> {
  const written = new WideEntries(run)
  const { bytes } = written
  let last = -1
  const dropIfGone = () => {
    if (last >= 0 && isGone?.(entryIn(bytes, last))) written.drop()
  }
  const cursors = runs.map((values) => new RunCursor(values)).filter((cursor) => cursor.next())
  while (cursors.length > 0) {
    let first = cursors[0]!
    for (let i = 1; i < cursors.length; i++) {
      if (cursors[i]!.isBefore(first)) first = cursors[i]!
    }
    if (last >= 0 && first.isSameId(bytes, last)) {
      if (first.isNewer(bytes, last)) first.copyTo(bytes, last)
    } else {
      dropIfGone()
      if (written.isFull) yield written.takeChunk()
      last = written.add()
      first.copyTo(bytes, last)
    }
    if (!first.next()) cursors.splice(cursors.indexOf(first), 1)
  }
  dropIfGone()
  while (!written.isEmpty) yield written.takeChunk()
}

/** Goes over the entries of a run. */
class RunCursor {
  readonly #values: Iterator<Buffer>
  #value: Buffer = Buffer.alloc(0)
  #at = 0
  /** Of the entry's hash, the object and the next six bytes. */
  #object = 0
  #high = 0

  constructor(values: Iterable<Buffer>) {
    this.#values = values[Symbol.iterator]()
  }

  /** Moves to the next entry; false when there is none. */
  next(): boolean {
    this.#at += entryBytes
    if (this.#at >= this.#value.length) {
      const { value, done } = this.#values.next()
      if (done) return false
      this.#value = wideEntries(value)
      this.#at = 0
    }
    this.#object = this.#value.readUInt32BE(this.#at)
    this.#high = this.#value.readUIntBE(this.#at + 4, 6)
    return true
  }

  isBefore(other: RunCursor): boolean {
    if (this.#object !== other.#object) return this.#object < other.#object
    if (this.#high !== other.#high) return this.#high < other.#high
    return this.#compareHash(other.#value, other.#at) < 0
  }

  /** Whether the entry at `at` of `bytes` is about the same id. */
  isSameId(bytes: Buffer, at: number): boolean {
    return this.#high === bytes.readUIntBE(at + 4, 6) && this.#compareHash(bytes, at) === 0
  }

  isNewer(bytes: Buffer, at: number): boolean {
    const start = this.#at + fullHashBytes
    const other = at + fullHashBytes
    return bytes.compare(this.#value, start, start + 8, other, other + 8) < 0
  }

  copyTo(bytes: Buffer, at: number): void {
    copyBytes(this.#value, this.#at, this.#at + entryBytes, bytes, at)
  }

  #compareHash(bytes: Buffer, at: number): number {
    const end = fullHashBytes - 1
    const order = this.#value.compare(bytes, at, at + end, this.#at, this.#at + end)
    return order || (this.#value[this.#at + end]! & 0xfe) - (bytes[at + end]! & 0xfe)
  }
}

/** Of a wide chunk. */
function entryIn(bytes: Buffer, at: number): IdEntry {
  return {
    hash: hashAt(bytes, at),
    version: readRowKey(bytes, at + fullHashBytes),
    paginationKey: readRowKey(bytes, at + fullHashBytes + 8),
    isDeleted: (bytes[at + fullHashBytes - 1]! & 1) === 1,
  }
}

function hashAt(value: Buffer, at: number): IdHash {
  const end = at + fullHashBytes
  const text = value.toString('latin1', at, end)
  const isDeleted = (value[end - 1]! & 1) === 1
  return isDeleted ? text.slice(0, -1) + String.fromCharCode(value[end - 1]! & 0xfe) : text
}
