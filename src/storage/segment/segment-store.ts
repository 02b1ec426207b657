/**
 * Segments and manifest in the two environments of segments.
 *
 * Each change is one transaction of either. The columns of a segment are written before the rest of it,
 * and removed after it: what has a place in the manifest is always whole, and a segment that is only
 * half there is a leftover.
 */
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { AssayError } from '../../error.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import type { SegmentsEnvironment } from '../environment.ts'
import { type ColumnKeys, findKeys, makeKeys, putKeys, removeKeys } from './key-index.ts'
import { mappedBytes } from './layout.ts'
import {
  decodeManifest,
  emptyManifest,
  encodeManifest,
  type Manifest,
  type ManifestSegment,
} from './manifest.ts'
import {
  type BufferPlace,
  corruptSegment,
  decodeMetadata,
  encodeMetadata,
  isSupersededWhole,
  type SegmentMetadata,
} from './metadata.ts'
import { openSegment } from './reader.ts'
import {
  chunkReader,
  findTextIndexes,
  putTextIndexes,
  removeTextIndexes,
} from './text-index-store.ts'
import type { WrittenTextIndexes } from './text-indexes.ts'
import type { WrittenSegment } from './writer.ts'

/** Metadata that a thread keeps, of the segments that it used last. */
const cachedSegments = 1024

/** Bytes of small segments that a thread keeps, since LMDB copies them whenever they are read. */
const keptSmallBytes = 16 * 2 ** 20

/**
 * Smaller segments are soon merged with others. A search of all fields takes some 4 ms per megabyte of rows
 * where there is no index, as long as in a hundred megabytes where there is one.
 */
const finishedFromRows = 2 ** 12
const finishedFromRowBytes = 2 ** 22

const manifestKey = Buffer.from('manifest')

/** A segment that was written, under the id that it gets. */
export interface NewSegment extends WrittenSegment {
  readonly id: number
}

/**
 * Reads segments; with an environment that is open for writing, also writes them. One per thread.
 *
 * LMDB's read transaction of the thread decides what is seen. It begins with the first read in a turn
 * of the event loop and ends with the turn; who has to see what others have committed meanwhile must
 * call `endReads` itself.
 */
export class SegmentStore {
  /** For maintenance, which looks at its files. */
  readonly environment: SegmentsEnvironment
  #last = emptyManifest
  readonly #metadata = new Map<number, SegmentMetadata>()
  #mapsValues = true
  readonly #small = new LRUCache<number, Uint8Array>({
    maxSize: keptSmallBytes,
    sizeCalculation: (bytes) => bytes.length,
  })

  constructor(environment: SegmentsEnvironment) {
    this.environment = environment
  }

  /**
   * The manifest that was committed last. Where it is damaged, the one that was read before; if none was, the empty
   * one, as all that it named can be made again.
   */
  manifest(): Manifest {
    this.endReads()
    const bytes = this.environment.manifest.get(manifestKey)
    const entry = bytes && decodeManifest(bytes)
    // One thread alone writes manifests, and each reads them before it needs them: what it knows is right.
    if (entry === undefined) return this.#last
    const segments: ManifestSegment[] = []
    const unreadable: number[] = []
    for (const id of entry.segments) {
      try {
        segments.push({ id, metadata: this.metadata(id) })
      } catch (thrown) {
        if (!isDamage(thrown)) throw thrown
        unreadable.push(id)
      }
    }
    this.#last = { ...entry, segments, ...(unreadable.length > 0 && { unreadable }) }
    return this.#last
  }

  /** Writes the manifest again, which was damaged after it was read. */
  mendManifest(): void {
    const last = this.manifest()
    if (this.isManifestDamaged() && last !== emptyManifest) this.commit(last, last, undefined)
  }

  /** Whether there is a manifest that is damaged. */
  isManifestDamaged(): boolean {
    this.endReads()
    const bytes = this.environment.manifest.get(manifestKey)
    return bytes !== undefined && decodeManifest(bytes) === undefined
  }

  /** Throws STORAGE_CORRUPT when the segment is not there or damaged. */
  metadata(id: number): SegmentMetadata {
    let metadata = this.#metadata.get(id)
    if (metadata === undefined) {
      const bytes = this.environment.metadata.get(segmentKey(id))
      if (bytes === undefined) throw corruptSegment(id, 'it is not there')
      metadata = decodeMetadata(bytes, id)
    }
    if (!metadata.textIndexes && isWorthFinishing(metadata)) {
      const textIndexes = findTextIndexes(this.environment.textIndexes, id)
      if (textIndexes) metadata = { ...metadata, textIndexes }
    }
    // The entry that was used last is the last to go.
    this.#metadata.delete(id)
    this.#metadata.set(id, metadata)
    if (this.#metadata.size > cachedSegments) {
      this.#metadata.delete(this.#metadata.keys().next().value!)
    }
    return metadata
  }

  /** Whether an opened segment of such a length takes memory of its own: as far as is known, if none was opened yet. */
  isCopied(byteLength: number): boolean {
    return byteLength <= mappedBytes || !this.#mapsValues
  }

  /**
   * Opens a segment in place: its columns may be read until the thread's read transaction ends.
   * Throws STORAGE_CORRUPT when it is not there or has not the size that it was written with.
   */
  open(id: number): ColumnTable {
    const metadata = this.metadata(id)
    const { textIndexes } = metadata
    const readIndex = textIndexes && chunkReader(this.environment.textIndexes, id, textIndexes)
    const kept = this.#small.get(id)
    if (kept) return openSegment(kept, metadata, id, readIndex)
    // Unlike `get`, this does not copy a value that LMDB has mapped.
    const bytes: (Buffer & { readonly isGlobal?: boolean }) | undefined =
      this.environment.columns.getBinaryFast(segmentKey(id))
    if (bytes === undefined) throw corruptSegment(id, 'it is not there')
    if (!bytes.isGlobal) return openSegment(bytes, metadata, id, readIndex)
    // A small value lies in a buffer that the next read overwrites. So does a large one, where the binding maps none.
    if (bytes.length > mappedBytes) this.#mapsValues = false
    const copy = copyOf(bytes)
    this.#small.set(id, copy)
    return openSegment(copy, metadata, id, readIndex)
  }

  /**
   * See `key-index.ts`.
   *
   * @param isDamaged told of segments of which a part of the index is damaged
   */
  findKeys(
    path: readonly string[],
    texts: readonly string[],
    isDamaged?: (segment: number) => void,
  ): ReadonlyMap<number, ReadonlySet<number>> {
    return findKeys(this.environment.keys, path, texts, isDamaged)
  }

  /** Makes a segment's index of keys again. */
  writeKeys(id: number): void {
    const keys = makeKeys(this.open(id), this.metadata(id))
    this.environment.root.transactionSync(() => {
      removeKeys(this.environment.keys, id)
      putKeys(this.environment.keys, id, keys)
    })
  }

  /** The metadata as it is stored now, and that of the indexes beside the segment. Throws STORAGE_CORRUPT. */
  storedMetadata(id: number): SegmentMetadata {
    const bytes = this.environment.metadata.get(segmentKey(id))
    if (bytes === undefined) throw corruptSegment(id, 'it is not there')
    const metadata = decodeMetadata(bytes, id)
    const textIndexes = findTextIndexes(this.environment.textIndexes, id)
    return textIndexes ? { ...metadata, textIndexes } : metadata
  }

  /** Throws STORAGE_CORRUPT unless a buffer of the segment is as it was written, whether or not it was checked before. */
  verifyBuffer(
    id: number,
    { byteLength }: Pick<SegmentMetadata, 'byteLength'>,
    [offset, length, checksum]: BufferPlace,
  ): void {
    const bytes = this.environment.columns.getBinaryFast(segmentKey(id))
    if (bytes === undefined) throw corruptSegment(id, 'it is not there')
    if (bytes.length !== byteLength || offset + length > byteLength) {
      throw corruptSegment(id, `it has ${bytes.length} bytes instead of ${byteLength}`)
    }
    if (length > 0 && crc32(bytes.subarray(offset, offset + length)) !== checksum) {
      throw corruptSegment(id, `its buffer at byte ${offset} was damaged`)
    }
  }

  /** Ends the thread's read transaction: the next read sees what was committed since. */
  endReads(): void {
    this.environment.root.resetReadTxn()
    this.environment.columnsRoot.resetReadTxn()
  }

  /** Ids of all segments that are stored, whether or not a manifest names them. */
  storedIds(): number[] {
    this.endReads()
    return Array.from(this.environment.columns.getKeys(), (key) => key.readUInt32BE())
  }

  /** Writes a segment that no manifest names yet. */
  write(segment: NewSegment): void {
    this.#putColumns(segment)
    const keys = keysOf(segment)
    this.environment.root.transactionSync(() => this.#putRest(segment, keys))
  }

  /**
   * Makes the manifest that follows `current` the one that counts, together with one more segment of
   * it that is not written yet.
   */
  commit(
    current: Manifest,
    change: Pick<Manifest, 'flushedThrough' | 'nextSegment' | 'segments' | 'unreadable'>,
    last: NewSegment | undefined,
  ): Manifest {
    const manifest: Manifest = {
      ...(current.unreadable && { unreadable: current.unreadable }),
      ...change,
      generation: current.generation + 1,
    }
    if (last) this.#putColumns(last)
    const keys = last && keysOf(last)
    this.environment.root.transactionSync(() => {
      if (last && keys) this.#putRest(last, keys)
      this.environment.manifest.putSync(manifestKey, encodeManifest(manifest))
    })
    this.#last = manifest
    return manifest
  }

  /** Stores the indexes of a segment's texts beside it; whoever asks for it next finds them. */
  writeTextIndexes(id: number, indexes: WrittenTextIndexes): void {
    this.environment.root.transactionSync(() => {
      putTextIndexes(this.environment.textIndexes, id, indexes)
    })
    this.endReads()
  }

  /** Deletes segments, which no manifest in use may name. */
  remove(ids: readonly number[]): void {
    this.environment.root.transactionSync(() => {
      for (const id of ids) {
        this.environment.metadata.removeSync(segmentKey(id))
        removeKeys(this.environment.keys, id)
        removeTextIndexes(this.environment.textIndexes, id)
        this.#metadata.delete(id)
        this.#small.delete(id)
      }
    })
    this.environment.columnsRoot.transactionSync(() => {
      for (const id of ids) this.environment.columns.removeSync(segmentKey(id))
    })
  }

  #putColumns({ id, bytes }: NewSegment): void {
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.environment.columnsRoot.transactionSync(() => {
      this.environment.columns.putSync(segmentKey(id), value)
    })
  }

  #putRest({ id, metadata }: NewSegment, keys: readonly ColumnKeys[]): void {
    this.environment.metadata.putSync(segmentKey(id), encodeMetadata(metadata))
    putKeys(this.environment.keys, id, keys)
  }
}

/** Whether texts of the segment's rows are to have indexes beside it. */
export function isWorthFinishing(metadata: SegmentMetadata): boolean {
  const { rowCount, rowBytes, isFinished } = metadata
  if (isFinished || isSupersededWhole(metadata)) return false
  return rowCount >= finishedFromRows || rowBytes >= finishedFromRowBytes
}

/** Outside of the transaction, which others wait for. */
function keysOf({ id, bytes, metadata }: NewSegment): ColumnKeys[] {
  return makeKeys(openSegment(bytes, metadata, id), metadata)
}

/** The manifest's entry of a segment. */
export function manifestSegment({ id, metadata }: NewSegment): ManifestSegment {
  return { id, metadata }
}

/** An error that says which segment is damaged. */
export type SegmentDamage = AssayError & { readonly damagedSegment: number }

/** Whether it says that a segment is damaged. */
export function isDamage(thrown: unknown): thrown is SegmentDamage {
  return thrown instanceof AssayError && thrown.damagedSegment !== undefined
}

function segmentKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(id)
  return key
}

function copyOf(bytes: Buffer): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, 0, bytes.length)
}
