/** Reads all bytes of segments and of what belongs to them, and tells what is damaged. */
import { checksumOf } from '../checksum.ts'
import { chunkBytes } from './chunked-bytes.ts'
import { checkKeys } from './key-index.ts'
import { namedBy } from './manifest.ts'
import { type BufferPlace, corruptSegment, type SegmentMetadata } from './metadata.ts'
import { isDamage, type SegmentStore } from './segment-store.ts'
import { chunkReader } from './text-index-store.ts'

export interface SegmentFault {
  /** Undefined: the manifest itself. */
  readonly segment: number | undefined
  readonly kind: 'manifest' | 'segment' | 'key index'
  /** What is damaged, as a sentence. */
  readonly what: string
}

/**
 * Each step reads a buffer, or some of an index; whoever goes on with it decides how fast. The segments are those of the
 * manifest when it begins; what was replaced meanwhile is passed over.
 *
 * @param onFault told of the first fault of each segment, and of each index of keys
 */
export function* verifySegments(
  store: SegmentStore,
  onFault: (fault: SegmentFault) => void,
): Generator<{ readonly bytes: number }> {
  if (store.isManifestDamaged()) {
    const what = 'the list of segments does not match its checksum'
    onFault({ segment: undefined, kind: 'manifest', what })
  }
  let bytes = 0
  for (const id of namedBy(store.manifest())) {
    try {
      for (const read of verifySegment(store, id)) {
        bytes += read
        yield { bytes }
        store.endReads()
      }
      if (checkKeys(store.environment.keys, id)) continue
      onFault({
        segment: id,
        kind: 'key index',
        what: `the index of ids of segment ${id} is damaged`,
      })
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown
      if (!namedBy(store.manifest()).includes(id)) continue
      onFault({ segment: id, kind: 'segment', what: thrown.message })
    }
  }
}

/** Gives how many bytes each step has read. Throws STORAGE_CORRUPT. */
function* verifySegment(store: SegmentStore, id: number): Generator<number> {
  const { textIndexes, ...metadata } = store.storedMetadata(id)
  for (const place of placesIn(metadata)) {
    store.verifyBuffer(id, metadata, place)
    yield place[1]
  }
  if (!textIndexes) return
  const read = chunkReader(store.environment.textIndexes, id, textIndexes)
  for (const place of placesIn(textIndexes)) {
    const [offset, byteLength, checksum] = place
    let found = 0
    for (let at = offset; at < offset + byteLength; ) {
      const chunk = Math.floor(at / chunkBytes)
      const from = at - chunk * chunkBytes
      const to = Math.min(chunkBytes, offset + byteLength - chunk * chunkBytes)
      found = checksumOf(read(chunk).subarray(from, to), found)
      at = chunk * chunkBytes + to
    }
    if (found !== checksum) throw corruptSegment(id, `its index at byte ${offset} was damaged`)
    yield byteLength
  }
}

/** What metadata calls the places of buffers. */
const placeNames: ReadonlySet<string> = new Set([
  ...['values', 'validity', 'offsets', 'bytes', 'ends', 'directory', 'blocks', 'codes', 'place'],
])

function* placesIn(metadata: object, areAll = false): Generator<BufferPlace> {
  for (const [name, value] of Object.entries(metadata) as [string, unknown][]) {
    if (typeof value !== 'object' || value === null) continue
    if (areAll || placeNames.has(name)) yield value as BufferPlace
    else yield* placesIn(value, name === ('keys' satisfies keyof SegmentMetadata))
  }
}
