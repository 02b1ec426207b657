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
import { copyBytes } from '../json/copy-bytes.ts'

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

/** Two pages without what LMDB keeps there, at most. */
const chunkBytes = 8168
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

/** Where an entry has what, in bytes of its chunk. */
export interface FoundEntry {
  /** The last byte of its hash, whose last bit says whether the record is deleted. */
  readonly hashEnd: number
  readonly version: number
  readonly paginationKey: number
}

/** @param wanted its hash, whose last bit is 0 */
export function findEntry(chunk: Buffer, wanted: string): FoundEntry | undefined {
  const dense = denseOf(chunk)
  if (!dense) {
    const place = placeOf(chunk, 0, entryBytes, chunk.length / entryBytes, wanted, 0)
    if (place < 0) return undefined
    const at = place * entryBytes
    return {
      hashEnd: at + fullHashBytes - 1,
      version: at + versionAt,
      paginationKey: at + paginationKeyAt,
    }
  }
  for (let i = 0; i < objectBytes; i++) if (chunk[i] !== wanted.charCodeAt(i)) return undefined
  const { count, laterCount } = dense
  const place = placeOf(chunk, objectBytes, denseEntryBytes, count, wanted, objectBytes)
  if (place < 0) return undefined
  const paginationKey = objectBytes + place * denseEntryBytes + shortHashBytes
  return {
    hashEnd: paginationKey - 1,
    version: versionOf(chunk, count, laterCount, place) ?? paginationKey,
    paginationKey,
  }
}

/** Where the version of an entry is, if it is a later one. */
function versionOf(
  chunk: Buffer,
  count: number,
  laterCount: number,
  place: number,
): number | undefined {
  for (let i = 0; i < laterCount; i++) {
    const at = laterAt(count, i)
    if (chunk.readUInt16BE(at) === place) return at + 2
  }
  return undefined
}

/**
 * The place among `count` hashes, the first at `first` and each `stride` bytes after the one before, or -1.
 *
 * @param skipped characters of `wanted` that the hashes lack
 */
function placeOf(
  chunk: Buffer,
  first: number,
  stride: number,
  count: number,
  wanted: string,
  skipped: number,
): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compareHash(chunk, first + middle * stride, wanted, skipped)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}

/** Hashes mostly differ in their first bytes, so that no call of native code pays. */
function compareHash(chunk: Buffer, at: number, wanted: string, skipped: number): number {
  const last = fullHashBytes - 1
  for (let i = skipped; i < last; i++) {
    const difference = chunk[at + i - skipped]! - wanted.charCodeAt(i)
    if (difference !== 0) return difference
  }
  return (chunk[at + last - skipped]! & 0xfe) - wanted.charCodeAt(last)
}

function laterAt(count: number, i: number): number {
  return objectBytes + count * denseEntryBytes + i * laterBytes
}

/** Undefined of a wide chunk. */
function denseOf(
  chunk: Buffer,
): { readonly count: number; readonly laterCount: number } | undefined {
  const { length } = chunk
  if (length % 2 === 0) return undefined
  const laterCount = chunk.readUInt16BE(length - tailBytes)
  const bytes = length - objectBytes - tailBytes - laterCount * laterBytes
  return { count: bytes / denseEntryBytes, laterCount }
}
