/** Reads the database `rows`, whether a row is stored by itself or in a block. */
import { LRUCache } from 'lru-cache'
import type { ByteWriter } from '../../json/byte-writer.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { BinaryDatabase, ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { objectOf, readRowKey, rowVersionKey } from '../record-key.ts'
import { BlockCache, type CachedBlock, nameOfBlock } from './block-cache.ts'
import { EvictedVersions, evictedError, evictedVersion } from './evicted-row.ts'
import type { LentRows } from './lent-rows.ts'
import type { ObjectConstants, RowView } from './row.ts'
import { isBlock, type PrintedRow, RowBlock, singleRow } from './row-block.ts'

export interface StoredVersion {
  readonly key: RowKey
  readonly view: RowView
}

/** What a thread keeps, if not said: a screen of rows from all over a store, and more. */
export const defaultCacheBytes = 16 * 2 ** 20

/**
 * The share of it that decompressed chunks have. Of blocks only the first chunk is kept, which tells where all
 * rows are, and is what the other chunks are decompressed with: a row costs the decompression of one chunk.
 */
const shareChunks = 1 / 4

interface FoundRow {
  readonly block: RowBlock
  readonly place: number
  /** Of the block; undefined where the row needs none. */
  readonly value: Buffer | undefined
}

const lowestKey: RowKey = { transaction: 0, index: 0 }

/** Versions whose bodies are asked of a cluster together. */
const evictedAtOnce = 1000

/** One per thread. What it gives may be used as long as `RecordReader` says. */
export class StoredRows {
  readonly #rows: BinaryDatabase
  readonly #since: RecordsEnvironment['checkedSince']
  readonly #blocks: BlockCache
  readonly #chunks: LRUCache<object, Buffer>
  #lent: LentRows | undefined
  /** The block that was used last: rows that are asked for together often stand together. */
  #last: CachedBlock | undefined

  /** @param cacheBytes what is kept of blocks */
  constructor(
    { rows, checkedSince }: Pick<RecordsEnvironment, 'rows' | 'checkedSince'>,
    cacheBytes = defaultCacheBytes,
  ) {
    this.#rows = rows
    this.#since = checkedSince
    this.#blocks = new BlockCache(cacheBytes * (1 - shareChunks))
    this.#chunks = new LRUCache({
      maxSize: cacheBytes * shareChunks,
      sizeCalculation: ({ length }) => Math.max(1, length),
    })
  }

  /** Rows whose bodies are not in the database are found among these from now on. */
  lend(rows: LentRows | undefined): void {
    this.#lent = rows
  }

  /** The row version with that key, a tombstone perhaps. Throws what `evictedError` makes where its body is not here. */
  rowAt(object: number, version: RowKey, transaction?: ReadTransaction): RowView | undefined {
    const view = this.keptRowAt(object, version, transaction)
    if (view?.isEvicted) throw evictedError([evictedVersion(object, version, view)])
    return view
  }

  /** The same, with what is kept of it where its body is not here. */
  keptRowAt(object: number, version: RowKey, transaction?: ReadTransaction): RowView | undefined {
    const found = this.#find(object, version, transaction)
    return found?.block.rowAt(found.place, found.value)
  }

  /** Whether there is a row version with that key, without a look at the row. */
  has(object: number, version: RowKey, transaction?: ReadTransaction): boolean {
    return this.#find(object, version, transaction) !== undefined
  }

  /**
   * Appends the row version with that key as `select: *` shows it. Undefined when there is none or it is a
   * tombstone. Throws as `rowAt` does.
   *
   * @param keeps whether rows beside it are likely to be printed as well: what is decompressed is kept then
   */
  print(
    object: ObjectConstants & { readonly number: number },
    version: RowKey,
    out: ByteWriter,
    keeps: boolean,
    transaction?: ReadTransaction,
  ): PrintedRow | undefined {
    const found = this.#find(object.number, version, transaction)
    if (found?.block.isEvicted(found.place)) {
      const view = found.block.rowAt(found.place, found.value)!
      throw evictedError([evictedVersion(object.number, version, view)])
    }
    return found?.block.printAt(found.place, object, out, keeps, found.value)
  }

  /**
   * Row versions from `from` on and before `to`, in the order of their keys. Throws as `rowAt` does, of many at once.
   *
   * @param memory where each may be put: it is gone then with the next
   */
  *range(
    object: number,
    from: RowKey,
    to: RowKey,
    transaction?: ReadTransaction,
    memory?: Buffer,
  ): Generator<StoredVersion> {
    const evicted = new EvictedVersions()
    for (const { key, view } of this.keptRange(object, from, to, transaction, memory)) {
      const whole = view.isEvicted ? this.#lent?.find(object, key) : view
      if (!whole) evicted.add(evictedVersion(object, key, view))
      else if (evicted.count === 0) yield { key, view: whole }
      if (evicted.count === evictedAtOnce) break
    }
    evicted.throwIfAny()
  }

  /** The same, with what is kept of those whose bodies are not here. */
  *keptRange(
    object: number,
    from: RowKey,
    to: RowKey,
    transaction?: ReadTransaction,
    memory?: Buffer,
  ): Generator<StoredVersion> {
    const range = this.#rows.getRange({
      start: this.#keyOfBlock(object, from, transaction) ?? rowVersionKey(object, from),
      end: rowVersionKey(object, to),
      ...(transaction && { transaction }),
    })
    for (const { key, value } of range) {
      const { block } = this.#decode(key, value)
      const end = block.placeOf(to)
      for (let place = block.placeOf(from); place < end; place++) {
        const view = block.rowAt(place, value, memory)
        if (view) yield { key: block.versionAt(place), view }
      }
    }
  }

  /** All row versions of all objects. */
  *all(): Generator<{ readonly object: number; readonly view: RowView }> {
    for (const { key, value } of this.#rows.getRange()) {
      const { object, block } = this.#decode(key, value)
      for (let place = 0; place < block.rowCount; place++) {
        const view = block.rowAt(place, value)
        if (view) yield { object, view }
      }
    }
  }

  /** Forgets what was read: a transaction that wrote some of it was given up. */
  forget(): void {
    this.#blocks.clear()
    this.#last = undefined
  }

  #find(
    object: number,
    version: RowKey,
    transaction: ReadTransaction | undefined,
  ): FoundRow | undefined {
    const lent = this.#lent?.find(object, version)
    if (lent) {
      const key = rowVersionKey(object, version)
      const value = singleRow(key, lent.bytes)
      return { block: new RowBlock(key, value, this.#since), place: 0, value }
    }
    const last = this.#last
    const isLast = last?.object === object && last.block.covers(version)
    const kept = isLast ? last : this.#blocks.covering(object, version)
    if (!kept) {
      const key = this.#keyOfBlock(object, version, transaction)
      const value = key && this.#valueAt(key, transaction)
      return value && this.#foundIn(this.#decode(key!, value), version, value)
    }
    const place = kept.block.placeWith(version)
    if (place === undefined) return undefined
    const { block } = kept
    this.#last = kept
    if (block.isAtHand(place)) return { block, place, value: undefined }
    const value = this.#lentValueAt(kept.key, transaction)
    if (value && block.isOf(value)) return { block, place, value }
    // It was put together with others.
    this.#blocks.delete(kept)
    this.#last = undefined
    return this.#find(object, version, transaction)
  }

  #foundIn(kept: CachedBlock, version: RowKey, value: Buffer): FoundRow | undefined {
    const { block } = kept
    if (block.rowCount > 1) this.#last = kept
    const place = block.placeWith(version)
    return place === undefined ? undefined : { block, place, value }
  }

  /** The key of the value that has `version`, if any has. */
  #keyOfBlock(
    object: number,
    version: RowKey,
    transaction: ReadTransaction | undefined,
  ): Buffer | undefined {
    const keys = this.#rows.getKeys({
      start: rowVersionKey(object, version),
      end: rowVersionKey(object, lowestKey),
      reverse: true,
      limit: 1,
      ...(transaction && { transaction }),
    })
    for (const key of keys) return key
    return undefined
  }

  /** Of a block, it is good until the next value is read: a copy costs 15 µs, and few of its bytes are used. */
  #valueAt(key: Buffer, transaction: ReadTransaction | undefined): Buffer | undefined {
    const value = this.#lentValueAt(key, transaction)
    return value && isBlock(value) ? value.subarray(0, value.length) : value
  }

  /** As `#valueAt`; of a block, the memory behind it may be longer than its `length` says. */
  #lentValueAt(key: Buffer, transaction: ReadTransaction | undefined): Buffer | undefined {
    const options = transaction ? { transaction } : undefined
    const value = this.#rows.getBinaryFast(key, options)
    // What is too large for the memory that values are put in comes as another kind of array.
    const isWhole = value && (!isBlock(value) || !Buffer.isBuffer(value))
    return isWhole ? this.#rows.get(key, options) : value
  }

  #decode(key: Buffer, value: Buffer): CachedBlock {
    const [object, first] = [objectOf(key), readRowKey(key, 4)]
    const since = this.#since
    if (!isBlock(value)) {
      return { object, key, name: '', first, block: new RowBlock(key, value, since) }
    }
    const name = nameOfBlock(key)
    const known = this.#blocks.get(name)
    if (known?.block.isOf(value)) return known
    const kept = { object, key, name, first, block: new RowBlock(key, value, since, this.#chunks) }
    this.#blocks.set(kept)
    return kept
  }
}
