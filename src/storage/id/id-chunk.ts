/**
 * Parts of runs of ids as they are stored (`id-run.ts`). What most records need of an entry are a hash and
 * one key: their object is that of all around them, and their newest version the first.
 *
 *     wide  = entry*                                  entry = 32 bytes
 *     dense = object u32, (hash 12, pagination key u64)*, later*, later entries u16, 0 u8
 *     later = place u16, version u64                  of an entry whose newest version is not its first
 *
 * All of a dense one are of that object. Its length is odd, that of a wide one is not.
 */
import { copyBytes } from '../../json/copy-bytes.ts'
import { readUint, readUint48 } from '../big-endian.ts'
import { trailerBytes } from '../checksum.ts'

export const entryBytes = 32
export const fullHashBytes = 16
const objectBytes = 4
const rowKeyBytes = 8
const versionAt = fullHashBytes
const paginationKeyAt = fullHashBytes + rowKeyBytes

/** Of a dense entry, its hash without the object. */
const shortHashBytes = fullHashBytes - objectBytes
const denseEntryBytes = shortHashBytes + rowKeyBytes
const laterBytes = 2 + rowKeyBytes
const tailBytes = 3

/** Two pages without what LMDB keeps there: chunks that older versions wrote are no larger. */
export const mostChunkBytes = 8168
/** At most. */
const chunkBytes = mostChunkBytes - trailerBytes
const mostWide = Math.floor(chunkBytes / entryBytes)
/** No chunk has more. */
export const mostEntries = Math.floor((chunkBytes - objectBytes - tailBytes) / denseEntryBytes)
/** Fewer entries of an object stand among those of others. */
const fewestOfObject = 64

/** The chunk of the first of some entries, as wide ones end to end, and how many it has. */
export function packChunk(wide: Buffer): { readonly value: Buffer; readonly entries: number } {
  const count = wide.length / entryBytes
  let ofObject = 1
  const object = wide.readUInt32BE(0)
  while (ofObject < count && wide.readUInt32BE(ofObject * entryBytes) === object) ofObject++
  if (ofObject < Math.min(count, fewestOfObject)) {
    const entries = Math.min(count, mostWide)
    return { value: Buffer.from(wide.subarray(0, entries * entryBytes)), entries }
  }
  return packDense(wide, ofObject)
}

function packDense(
  wide: Buffer,
  count: number,
): { readonly value: Buffer; readonly entries: number } {
  const later: number[] = []
  let byteLength = objectBytes + tailBytes
  let entries = 0
  while (entries < count) {
    const isLater = !isFirstVersion(wide, entries * entryBytes)
    const more = denseEntryBytes + (isLater ? laterBytes : 0)
    if (byteLength + more > chunkBytes) break
    byteLength += more
    if (isLater) later.push(entries)
    entries++
  }
  const value = Buffer.allocUnsafe(byteLength)
  let to = copyBytes(wide, 0, objectBytes, value, 0)
  for (let i = 0; i < entries; i++) {
    const from = i * entryBytes
    to = copyBytes(wide, from + objectBytes, from + fullHashBytes, value, to)
    to = copyBytes(wide, from + paginationKeyAt, from + entryBytes, value, to)
  }
  for (const place of later) {
    const from = place * entryBytes + versionAt
    to = value.writeUInt16BE(place, to)
    to = copyBytes(wide, from, from + rowKeyBytes, value, to)
  }
  value.writeUInt8(0, value.writeUInt16BE(later.length, to))
  return { value, entries }
}

function isFirstVersion(wide: Buffer, at: number): boolean {
  for (let i = 0; i < rowKeyBytes; i++) {
    if (wide[at + versionAt + i] !== wide[at + paginationKeyAt + i]) return false
  }
  return true
}

export function entryCount(chunk: Buffer): number {
  return denseOf(chunk)?.count ?? chunk.length / entryBytes
}

/** The entries of a chunk, as wide ones; the chunk itself if they are. */
export function wideEntries(chunk: Buffer): Buffer {
  const dense = denseOf(chunk)
  if (!dense) return chunk
  const { count, laterCount } = dense
  const wide = Buffer.allocUnsafe(count * entryBytes)
  for (let i = 0, to = 0; i < count; i++) {
    const from = objectBytes + i * denseEntryBytes
    to = copyBytes(chunk, 0, objectBytes, wide, to)
    to = copyBytes(chunk, from, from + denseEntryBytes, wide, to)
    to = copyBytes(chunk, from + shortHashBytes, from + denseEntryBytes, wide, to)
  }
  for (let i = 0; i < laterCount; i++) {
    const at = laterAt(count, i)
    const to = chunk.readUInt16BE(at) * entryBytes + versionAt
    chunk.copy(wide, to, at + 2, at + laterBytes)
  }
  return wide
}

/** What hashes are ordered by, as numbers; the last bit is 0. */
export interface HashNumbers {
  readonly object: number
  /** Of what follows the object, the first half and the second: as many bits as a number holds. */
  readonly high: number
  readonly low: number
}

const halfBytes = shortHashBytes / 2

/** Where an entry has what. */
export interface FoundEntry {
  /** The last byte of its hash, whose last bit says whether the record is deleted. */
  readonly hashEnd: number
  readonly version: number
  readonly paginationKey: number
}

/** Of a chunk that has `length` bytes from `start` on. */
export function findEntry(
  bytes: Uint8Array,
  start: number,
  length: number,
  wanted: HashNumbers,
): FoundEntry | undefined {
  if (length % 2 === 0) {
    const place = placeOf(bytes, start, entryBytes, length / entryBytes, wanted, true)
    if (place < 0) return undefined
    const at = start + place * entryBytes
    const hashEnd = at + fullHashBytes - 1
    return { hashEnd, version: at + versionAt, paginationKey: at + paginationKeyAt }
  }
  if (readUint(bytes, start) !== wanted.object) return undefined
  const laterCount = laterCountOf(bytes, start + length)
  const count = denseCount(length, laterCount)
  const entries = start + objectBytes
  const place = placeOf(bytes, entries, denseEntryBytes, count, wanted, false)
  if (place < 0) return undefined
  const paginationKey = entries + place * denseEntryBytes + shortHashBytes
  const laters = start + laterAt(count, 0)
  const version = versionOf(bytes, laters, laterCount, place) ?? paginationKey
  return { hashEnd: paginationKey - 1, version, paginationKey }
}

/**
 * The place among `count` entries, the first at `start` and each `stride` bytes after the one before, or -1.
 *
 * @param hasObjects whether each entry begins with its object; otherwise all are of that of `wanted`
 */
function placeOf(
  bytes: Uint8Array,
  start: number,
  stride: number,
  count: number,
  { object, high, low }: HashNumbers,
  hasObjects: boolean,
): number {
  const hashAt = hasObjects ? objectBytes : 0
  let first = 0
  let end = count
  while (first < end) {
    const middle = (first + end) >> 1
    const at = start + middle * stride
    const byObject = hasObjects ? readUint(bytes, at) - object : 0
    const order = byObject || compareHash(bytes, at + hashAt, high, low)
    if (order === 0) return middle
    if (order < 0) first = middle + 1
    else end = middle
  }
  return -1
}

/** Where the version of an entry is, if it is a later one. */
function versionOf(
  bytes: Uint8Array,
  laters: number,
  laterCount: number,
  place: number,
): number | undefined {
  for (let i = 0; i < laterCount; i++) {
    const at = laters + i * laterBytes
    if (((bytes[at]! << 8) | bytes[at + 1]!) === place) return at + 2
  }
  return undefined
}

/** Hashes mostly differ in their first halves. */
function compareHash(bytes: Uint8Array, at: number, high: number, low: number): number {
  const order = readUint48(bytes, at) - high
  if (order !== 0) return order
  return readUint48(bytes, at + halfBytes) - (bytes[at + shortHashBytes - 1]! & 1) - low
}

function laterAt(count: number, i: number): number {
  return objectBytes + count * denseEntryBytes + i * laterBytes
}

function laterCountOf(bytes: Uint8Array, end: number): number {
  return (bytes[end - tailBytes]! << 8) | bytes[end - tailBytes + 1]!
}

function denseCount(length: number, laterCount: number): number {
  return (length - objectBytes - tailBytes - laterCount * laterBytes) / denseEntryBytes
}

/** Undefined of a wide chunk. */
function denseOf(
  chunk: Buffer,
): { readonly count: number; readonly laterCount: number } | undefined {
  const { length } = chunk
  if (length % 2 === 0) return undefined
  const laterCount = laterCountOf(chunk, length)
  return { count: denseCount(length, laterCount), laterCount }
}
