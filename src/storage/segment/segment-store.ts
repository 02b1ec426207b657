/**
 * Segments and manifest in the two environments of segments.
 *
 * Each change is one transaction of either. The columns of a segment are written before the rest of it,
 * and removed after it: what has a place in the manifest is always whole, and a segment that is only
 * half there is a leftover.
 */
import { LRUCache } from 'lru-cache'
import type { ColumnTable } from '../../vector/column-table.ts'
import type { SegmentsEnvironment } from '../environment.ts'
import { type ColumnKeys, findKeys, makeKeys, putKeys, removeKeys } from './key-index.ts'
import {
  decodeManifest,
  emptyManifest,
  encodeManifest,
  type Manifest,
  type ManifestSegment,
} from './manifest.ts'
import {
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
  readonly #metadata = new Map<number, SegmentMetadata>()
  readonly #small = new LRUCache<number, Uint8Array>({
    maxSize: keptSmallBytes,
    sizeCalculation: (bytes) => bytes.length,
  })

  constructor(environment: SegmentsEnvironment) {
    this.environment = environment
  }

  /** The manifest that was committed last. */
  manifest(): Manifest {
    this.endReads()
    const bytes = this.environment.manifest.get(manifestKey)
    if (bytes === undefined) return emptyManifest
    const { segments, ...rest } = decodeManifest(bytes)
    return { ...rest, segments: segments.map((id) => ({ id, metadata: this.metadata(id) })) }
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
    // A small value lies in a buffer that the next read overwrites.
    const copy = copyOf(bytes)
    this.#small.set(id, copy)
    return openSegment(copy, metadata, id, readIndex)
  }

  /** See `key-index.ts`. */
  findKeys(
    path: readonly string[],
    texts: readonly string[],
  ): ReadonlyMap<number, ReadonlySet<number>> {
    return findKeys(this.environment.keys, path, texts)
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
    change: Pick<Manifest, 'flushedThrough' | 'nextSegment' | 'segments'>,
    last: NewSegment | undefined,
  ): Manifest {
    const manifest: Manifest = { ...change, generation: current.generation + 1 }
    if (last) this.#putColumns(last)
    const keys = last && keysOf(last)
    this.environment.root.transactionSync(() => {
      if (last && keys) this.#putRest(last, keys)
      this.environment.manifest.putSync(manifestKey, encodeManifest(manifest))
    })
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

function segmentKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(id)
  return key
}

function copyOf(bytes: Buffer): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, 0, bytes.length)
}
