/**
 * Where short texts of many values are: which granules of which segments hold a text, such as an id, a
 * trace or a user. Zone maps say nothing of texts that look random, and dictionaries that large take
 * milliseconds to search, in every segment.
 *
 *     path hash 8 bytes, bucket u16, segment u32 → entries: u32 little-endian, ascending; CRC-32 of key and
 *                                                  entries, u32; 0, a byte. Older ones end with the entries.
 *     8 zeros, u16 0, segment u32                → path hashes of the segment's columns, end to end
 *
 * A text's hash of 32 bits has its upper 9 in the bucket; an entry is the lower 23, and 8 bits of the
 * granule's number. So a look-up reads one range of keys, a kilobyte per segment that has an index for
 * the path, and is misled to a granule in one of some 30,000 segments. An entry takes 4 bytes for
 * every different text of a granule.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { encodeUtf8 } from '../../json/utf8.ts'
import {
  type ColumnSet,
  granuleRows,
  type TextColumn,
  type Texts,
  type UnnumberedColumn,
} from '../../vector/column.ts'
import { isValid } from '../../vector/read-column.ts'
import { checksumOf, hasChecksum } from '../checksum.ts'
import type { BinaryDatabase } from '../environment.ts'
import type { SegmentMetadata, TextColumnMetadata } from './metadata.ts'
import { lengthOf } from './packed-texts.ts'

const bucketBits = 9
const buckets = 1 << bucketBits
const hashBits = 32 - bucketBits
const granuleBits = 8

/** Smaller segments are scanned as fast, and soon merged. */
const fewestRows = 32_768
const mostRows = granuleRows << granuleBits
/** Of fewer texts, a dictionary is searched as fast. */
const fewestTexts = 4096
/** Longer texts are rarely compared as wholes. Of a column on average, in bytes. */
const longestText = 64

const pathHashBytes = 8
/** Hashes no path. */
const noPath = Buffer.alloc(pathHashBytes)

/** The index of one column: the entries of its buckets. */
export interface ColumnKeys {
  readonly path: readonly string[]
  readonly buckets: readonly Buffer[]
}

/** The indexes of the columns of a segment that are worth one. */
export function makeKeys(
  set: Pick<ColumnSet, 'columns'>,
  { columns, rowCount }: SegmentMetadata,
): ColumnKeys[] {
  const keys: ColumnKeys[] = []
  for (const metadata of columns) {
    if (metadata.type !== 'text' || !isIndexed(metadata, rowCount)) continue
    const { path } = metadata
    const column = set.columns(path)!.text!
    keys.push({ path, buckets: bucketsOf(entriesOf(column, rowCount)) })
  }
  return keys
}

/** Writes the index of a segment, within a transaction. */
export function putKeys(
  database: BinaryDatabase,
  segment: number,
  keys: readonly ColumnKeys[],
): void {
  const hashes: Buffer[] = []
  for (const { path, buckets } of keys) {
    const hash = hashOfPath(path)
    hashes.push(hash)
    for (const [bucket, entries] of buckets.entries()) {
      const key = keyOf(hash, bucket, segment)
      database.putSync(key, withChecksum(key, entries))
    }
  }
  if (hashes.length > 0) database.putSync(listKey(segment), Buffer.concat(hashes))
}

/** Removes the index of a segment, within a transaction. */
export function removeKeys(database: BinaryDatabase, segment: number): void {
  const hashes = database.get(listKey(segment))
  if (!hashes) return
  for (let at = 0; at < hashes.length; at += pathHashBytes) {
    const hash = hashes.subarray(at, at + pathHashBytes)
    for (let bucket = 0; bucket < buckets; bucket++) {
      database.removeSync(keyOf(hash, bucket, segment))
    }
  }
  database.removeSync(listKey(segment))
}

/**
 * Numbers of the granules that may hold one of the texts at the path, ascending, by segment. A segment
 * that is not in it has no index for the path: it may hold them anywhere.
 *
 * @param isDamaged is told of segments of which a part of the index is damaged, which are not in it either
 */
export function findKeys(
  database: BinaryDatabase,
  path: readonly string[],
  texts: readonly string[],
  isDamaged: (segment: number) => void = () => undefined,
): ReadonlyMap<number, ReadonlySet<number>> {
  const found = new Map<number, ReadonlySet<number>>()
  const damaged = new Set<number>()
  const hash = hashOfPath(path)
  for (const text of texts) {
    const bytes = encodeUtf8(text)
    const textHash = hashOfText(bytes, 0, bytes.length)
    const bucket = textHash >>> hashBits
    const checked = checkedOf(database, hash, bucket)
    const range = database.getRange({
      start: keyOf(hash, bucket, 0),
      end: keyOf(hash, bucket + 1, 0),
    })
    for (const { key, value } of range) {
      const segment = key.readUInt32BE(pathHashBytes + 2)
      const entries = entriesIn(key, value, checked.has(segment))
      if (!entries) {
        damaged.add(segment)
        continue
      }
      checked.add(segment)
      const before = found.get(segment) ?? none
      found.set(segment, withGranules(before, entries, entryOf(textHash, 0)))
    }
  }
  for (const segment of damaged) {
    found.delete(segment)
    isDamaged(segment)
  }
  return found
}

/** Whether all of a segment's index is what was written; `read` is told of its bytes. */
export function checkKeys(
  database: BinaryDatabase,
  segment: number,
  read: (byteLength: number) => void = () => undefined,
): boolean {
  const hashes = database.get(listKey(segment))
  if (!hashes) return true
  for (let at = 0; at < hashes.length; at += pathHashBytes) {
    for (let bucket = 0; bucket < buckets; bucket++) {
      const key = keyOf(hashes.subarray(at, at + pathHashBytes), bucket, segment)
      const value = database.get(key)
      if (!value || !entriesIn(key, value)) return false
      read(value.length)
    }
  }
  return true
}

/** A checksum, and a byte that tells by the length that there is one. */
const checksumBytes = 5

function withChecksum(key: Buffer, entries: Buffer): Buffer {
  const value = Buffer.alloc(entries.length + checksumBytes)
  value.set(entries)
  value.writeUInt32LE(checksumOf(entries, crc32(key)), entries.length)
  return value
}

/** Segments whose part of an index a thread has found to be whole: to check those of 178 takes a third of a look-up. */
class CheckedSegments {
  #marks = new Uint8Array(256)

  has(segment: number): boolean {
    return this.#marks[segment] === 1
  }

  add(segment: number): void {
    if (segment >= this.#marks.length) {
      const marks = new Uint8Array(segment * 2)
      marks.set(this.#marks)
      this.#marks = marks
    }
    this.#marks[segment] = 1
  }
}

/** By path's hash and bucket, those that were asked last. */
const checkedOfDatabases = new WeakMap<BinaryDatabase, LRUCache<string, CheckedSegments>>()
const rememberedBuckets = 2048

function checkedOf(database: BinaryDatabase, pathHash: Buffer, bucket: number): CheckedSegments {
  let buckets = checkedOfDatabases.get(database)
  if (!buckets) {
    buckets = new LRUCache({ max: rememberedBuckets })
    checkedOfDatabases.set(database, buckets)
  }
  const name = pathHash.toString('latin1') + bucket
  let checked = buckets.get(name)
  if (!checked) {
    checked = new CheckedSegments()
    buckets.set(name, checked)
  }
  return checked
}

/** The entries of a value; undefined when it is damaged. @param isChecked whether it is known to be whole */
function entriesIn(key: Buffer, value: Buffer, isChecked = false): Buffer | undefined {
  if (value.length % 4 === 0) return value
  const entries = value.subarray(0, -checksumBytes)
  if (isChecked) return entries
  const isWhole = hasChecksum(entries, crc32(key), value.readUInt32LE(entries.length))
  return isWhole ? entries : undefined
}

/** What most segments have of a text. */
const none: ReadonlySet<number> = new Set()

/** The granules, and those that entries have of the text. @param first its entry in granule 0 */
function withGranules(
  granules: ReadonlySet<number>,
  entries: Buffer,
  first: number,
): ReadonlySet<number> {
  let [low, high] = [0, entries.length / 4]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries.readUInt32LE(middle * 4) < first) low = middle + 1
    else high = middle
  }
  let found: Set<number> | undefined
  for (let at = low * 4; at < entries.length; at += 4) {
    const granule = entries.readUInt32LE(at) - first
    if (granule >= 1 << granuleBits) break
    found ??= new Set(granules)
    found.add(granule)
  }
  return found ?? granules
}

/** By metadata alone: columns of long texts need not be opened. */
function isIndexed(column: TextColumnMetadata, rowCount: number): boolean {
  if (rowCount < fewestRows || rowCount > mostRows) return false
  // By then they are long.
  if (column.encoding === 'compressed') return false
  const isDictionary = column.encoding === 'dictionary'
  const texts = isDictionary ? column.distinctCount : rowCount - column.nullCount
  if (texts < fewestTexts) return false
  if (column.encoding === 'packed') return lengthOf(column) <= longestText
  return column.bytes[1] <= texts * longestText
}

/** Hashes of texts with the granules that hold them, one after the other. */
interface Entries {
  readonly hashes: Int32Array
  readonly granules: Uint8Array
  readonly count: number
}

function entriesOf(column: TextColumn, rowCount: number): Entries {
  const hashes = new Int32Array(rowCount)
  const granules = new Uint8Array(rowCount)
  let count = 0
  if (column.encoding !== 'dictionary') {
    let row = 0
    for (const { bytes, offsets } of rowTexts(column)) {
      for (let i = 1; i < offsets.length; i++, row++) {
        if (!isValid(column.validity, row)) continue
        hashes[count] = hashOfText(bytes, offsets[i - 1]!, offsets[i]!)
        granules[count++] = row / granuleRows
      }
    }
    return { hashes, granules, count }
  }
  const { bytes, offsets } = column.dictionary
  const codes = column.codes.between(0, rowCount)
  const lastGranules = new Int32Array(offsets.length - 1).fill(-1)
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row]!
    const granule = Math.floor(row / granuleRows)
    if (code < 0 || lastGranules[code] === granule) continue
    lastGranules[code] = granule
    hashes[count] = hashOfText(bytes, offsets[code]!, offsets[code + 1]!)
    granules[count++] = granule
  }
  return { hashes, granules, count }
}

function rowTexts(column: UnnumberedColumn): Iterable<Texts> {
  return column.encoding === 'plain' ? [column.texts] : column.texts.parts()
}

/** The entries of each bucket, as bytes. */
function bucketsOf({ hashes, granules, count }: Entries): Buffer[] {
  const ends = new Int32Array(buckets)
  for (let i = 0; i < count; i++) ends[hashes[i]! >>> hashBits]!++
  for (let bucket = 1; bucket < buckets; bucket++) ends[bucket]! += ends[bucket - 1]!
  const places = Int32Array.from(ends, (_, bucket) => (bucket === 0 ? 0 : ends[bucket - 1]!))
  const entries = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    entries[places[hashes[i]! >>> hashBits]!++] = entryOf(hashes[i]!, granules[i]!)
  }
  return Array.from(ends, (end, bucket) => {
    const from = bucket === 0 ? 0 : ends[bucket - 1]!
    return withoutRepetition(entries.subarray(from, end).sort())
  })
}

function withoutRepetition(sorted: Uint32Array): Buffer {
  const bytes = Buffer.allocUnsafe(sorted.length * 4)
  let length = 0
  for (let i = 0; i < sorted.length; i++) {
    if (i > 0 && sorted[i] === sorted[i - 1]) continue
    length = bytes.writeUInt32LE(sorted[i]!, length)
  }
  return bytes.subarray(0, length)
}

function entryOf(hash: number, granule: number): number {
  return ((hash & ((1 << hashBits) - 1)) << granuleBits) | granule
}

/** FNV-1a, and the last step of MurmurHash3 so that all bits depend on all bytes. */
function hashOfText(bytes: Uint8Array, from: number, to: number): number {
  let h = 0x811c9dc5
  for (let at = from; at < to; at++) h = Math.imul(h ^ bytes[at]!, 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** Of paths that are looked up again and again: to hash one is a twentieth of a look-up by trace. */
const pathHashes = new LRUCache<string, Buffer>({ max: 1000 })

function hashOfPath(path: readonly string[]): Buffer {
  const text = JSON.stringify(path)
  let hash = pathHashes.get(text)
  if (!hash) {
    hash = createHash('sha1').update(text).digest().subarray(0, pathHashBytes)
    pathHashes.set(text, hash)
  }
  return hash
}

function keyOf(pathHash: Uint8Array, bucket: number, segment: number): Buffer {
  const key = Buffer.allocUnsafe(pathHashBytes + 6)
  key.set(pathHash)
  key.writeUInt16BE(bucket, pathHashBytes)
  key.writeUInt32BE(segment, pathHashBytes + 2)
  return key
}

function listKey(segment: number): Buffer {
  return keyOf(noPath, 0, segment)
}
