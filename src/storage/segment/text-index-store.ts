/** The database `text_indexes`: indexes of texts that were made after their segments. */
import type { BinaryDatabase } from '../environment.ts'
import { chunkBytes, type ReadChunk } from './chunked-bytes.ts'
import {
  corruptSegment,
  decodeTextIndexMetadata,
  encodeTextIndexMetadata,
  type TextIndexMetadata,
} from './metadata.ts'
import type { WrittenTextIndexes } from './text-indexes.ts'

/** Writes the indexes of a segment, within a transaction. */
export function putTextIndexes(
  database: BinaryDatabase,
  segment: number,
  { bytes, metadata }: WrittenTextIndexes,
): void {
  for (let chunk = 0; chunk * chunkBytes < bytes.length; chunk++) {
    const part = bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes)
    const value = Buffer.from(part.buffer, part.byteOffset, part.length)
    database.putSync(chunkKey(segment, chunk), value)
  }
  database.putSync(segmentKey(segment), encodeTextIndexMetadata(metadata))
}

/** Undefined when the segment has none yet. */
export function findTextIndexes(
  database: BinaryDatabase,
  segment: number,
): TextIndexMetadata | undefined {
  const bytes = database.get(segmentKey(segment))
  return bytes && decodeTextIndexMetadata(bytes, segment)
}

/** What it gives is good until the next value is read. Throws STORAGE_CORRUPT if it is not there. */
export function chunkReader(
  database: BinaryDatabase,
  segment: number,
  { byteLength }: TextIndexMetadata,
): ReadChunk {
  return (chunk) => {
    const expected = Math.min(chunkBytes, byteLength - chunk * chunkBytes)
    const value = database.getBinaryFast(chunkKey(segment, chunk))
    if (value?.length !== expected)
      throw corruptSegment(segment, 'a part of its indexes is missing')
    return value.subarray(0, expected)
  }
}

/** Removes the indexes of a segment, within a transaction. */
export function removeTextIndexes(database: BinaryDatabase, segment: number): void {
  const end = segmentKey(segment + 1)
  for (const key of [...database.getKeys({ start: segmentKey(segment), end })]) {
    database.removeSync(key)
  }
}

function segmentKey(segment: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(segment)
  return key
}

function chunkKey(segment: number, chunk: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUInt32BE(segment)
  key.writeUInt32BE(chunk, 4)
  return key
}
