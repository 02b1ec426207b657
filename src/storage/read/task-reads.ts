import { LRUCache } from 'lru-cache'
import { AssayError } from '../../error.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { openSharedColumns, sharedBytes } from '../../vector/shared-columns.ts'
import {
  areGivenUp,
  beginRead,
  givenUpError,
  type ReadTransaction,
  type RecordsEnvironment,
  type SegmentsEnvironment,
} from '../environment.ts'
import type { SegmentMetadata } from '../segment/metadata.ts'
import { SegmentStore } from '../segment/segment-store.ts'
import { RecordReader } from './record-reader.ts'

/** Segments that a thread keeps open, and bytes of those that are not mapped. */
const openedSegments = 1024
const openedBytes = 128 * 2 ** 20

/**
 * Bytes of memtables that a thread keeps open: those of as many rows as may wait for a flush. With more than
 * this, a scan of all would find none open; those that were flushed stay in memory until others take their place.
 */
const openedMemtableBytes = 144 * 2 ** 20

interface OpenedSegment {
  /** Another once it has indexes. */
  readonly metadata: SegmentMetadata
  readonly columns: ColumnSet
  readonly copiedBytes: number
}

/** A read transaction for all look-ups of a turn. */
interface SharedRead {
  readonly seen: number
  readonly transaction: ReadTransaction
}

/** Reads of one thread on behalf of tasks, each of which sees what was committed when it began. */
export class TaskReads {
  readonly records: RecordReader
  /** Is told of segments of which a part of the index of keys is damaged; they are searched without it. */
  onDamagedKeys: ((segment: number) => void) | undefined
  readonly #recordsEnvironment: RecordsEnvironment
  readonly #segments: SegmentStore
  readonly #opened = new Map<number, OpenedSegment>()
  #copiedBytes = 0
  #shared: SharedRead | undefined
  /** Opened again, a memtable costs more than most of its batches. */
  readonly #memtables = new LRUCache<number, ColumnSet>({ maxSize: openedMemtableBytes })

  /** @param rowCacheBytes see `RecordReader` */
  constructor(records: RecordsEnvironment, segments: SegmentsEnvironment, rowCacheBytes?: number) {
    this.records = new RecordReader(records, rowCacheBytes)
    this.#recordsEnvironment = records
    this.#segments = new SegmentStore(segments)
  }

  /**
   * The segment's columns, which the next tasks find open. The map of a mapped segment stays valid
   * without a read transaction: the segment is not deleted while a query has acquired it, and no
   * later segment gets its id.
   */
  openSegment(segment: number): ColumnSet {
    let opened = this.#opened.get(segment)
    // What was used last is the last to go.
    this.#opened.delete(segment)
    const metadata = this.#segments.metadata(segment)
    if (opened?.metadata !== metadata) {
      this.#copiedBytes -= opened?.copiedBytes ?? 0
      const { byteLength } = metadata
      const columns = this.#segments.open(segment)
      const copiedBytes = this.#segments.isCopied(byteLength) ? byteLength : 0
      opened = { metadata, columns, copiedBytes }
      this.#copiedBytes += copiedBytes
    }
    this.#opened.set(segment, opened)
    for (const [oldest, { copiedBytes }] of this.#opened) {
      const isOver = this.#copiedBytes > openedBytes || this.#opened.size > openedSegments
      if (!isOver || oldest === segment) break
      this.#opened.delete(oldest)
      this.#copiedBytes -= copiedBytes
    }
    return opened.columns
  }

  /** The columns of a memtable. No other memtable has its number. */
  openMemtable(memtable: number, memory: SharedArrayBuffer): ColumnSet {
    let columns = this.#memtables.get(memtable)
    if (!columns) {
      columns = openSharedColumns(memory)
      this.#memtables.set(memtable, columns, { size: sharedBytes(memory) })
    }
    return columns
  }

  /**
   * Numbers of the granules that may hold one of the texts, by segment; a segment that is not in it may
   * hold them anywhere.
   */
  findKeys(
    path: readonly string[],
    texts: readonly string[],
  ): ReadonlyMap<number, ReadonlySet<number>> {
    return this.#segments.findKeys(path, texts, this.onDamagedKeys)
  }

  /** Throws STORAGE_CORRUPT when the segment is damaged or not there. */
  segmentMetadata(segment: number): SegmentMetadata {
    return this.#segments.metadata(segment)
  }

  /** Runs `task`, which must not keep anything that it reads, with fresh read transactions. */
  during<Result>(task: (reads: TaskReads) => Result): Result {
    this.#endReads()
    const transaction = beginRead(this.#recordsEnvironment.root)
    try {
      return task(this)
    } catch (thrown) {
      const isOurs = thrown instanceof AssayError
      throw !isOurs && areGivenUp({ segments: this.#segments.environment })
        ? givenUpError(thrown)
        : thrown
    } finally {
      transaction.done()
      this.#endReads()
    }
  }

  /**
   * Runs `task` with the read transaction of the last such call, if that was in this turn of the event loop
   * and had seen as much: of a hundred look-ups each would begin one, for which lmdb sets a timer.
   *
   * @param seen the newest transaction that is known to be committed
   */
  withShared<Result>(
    seen: number,
    task: (records: RecordReader, transaction: ReadTransaction) => Result,
  ): Result {
    const { transaction } = this.#shared?.seen === seen ? this.#shared : this.#share(seen)
    return task(this.records, transaction)
  }

  #share(seen: number): SharedRead {
    this.#endReads()
    const shared = { seen, transaction: beginRead(this.#recordsEnvironment.root) }
    this.#shared = shared
    this.records.hold(shared.transaction)
    setImmediate(() => {
      if (this.#shared === shared) this.#endReads()
    })
    return shared
  }

  #endReads(): void {
    if (this.#shared) {
      this.records.hold(undefined)
      this.#shared.transaction.done()
      this.#shared = undefined
    }
    this.#recordsEnvironment.root.resetReadTxn()
    this.#segments.endReads()
  }
}
