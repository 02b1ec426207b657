/** Reads the database `rows`, whether a row is stored by itself or in a block. */
import { LRUCache } from 'lru-cache'
import type { RowKey } from '../type/transaction.ts'
import type { BinaryDatabase, ReadTransaction } from './environment.ts'
import { objectOf, readRowKey, rowVersionKey } from './record-key.ts'
import type { RowView } from './row.ts'
import { isBlock, RowBlock } from './row-block.ts'

export interface StoredVersion {
  readonly key: RowKey
  readonly view: RowView
}

/** What a thread keeps of blocks, if not said: a screen of rows from all over a store, and more. */
const defaultCacheBytes = 16 * 2 ** 20

/**
 * The share of it that decompressed pieces have. Blocks are kept as they are stored, with their first piece
 * alone decompressed: four times as many, of which a row costs the decompression of one piece.
 */
const sharePieces = 1 / 4

const lowestKey: RowKey = { transaction: 0, index: 0 }

/** One per thread. What it gives may be used as long as `RecordReader` says. */
export class StoredRows {
  readonly #rows: BinaryDatabase
  readonly #blocks: LRUCache<string, RowBlock>
  readonly #pieces: LRUCache<object, Buffer>
  /** The block that was used last: rows that are asked for together often stand together. */
  #last: { readonly object: number; readonly block: RowBlock } | undefined

  constructor(rows: BinaryDatabase, cacheBytes = defaultCacheBytes) {
    this.#rows = rows
    this.#blocks = new LRUCache({
      maxSize: cacheBytes * (1 - sharePieces),
      sizeCalculation: ({ keptBytes }) => keptBytes,
    })
    this.#pieces = new LRUCache({
      maxSize: cacheBytes * sharePieces,
      sizeCalculation: ({ length }) => Math.max(1, length),
    })
  }

  /** The row version with that key, a tombstone perhaps. */
  rowAt(object: number, version: RowKey, transaction?: ReadTransaction): RowView | undefined {
    const last = this.#last
    if (last?.object === object && last.block.covers(version)) return last.block.find(version)
    const key = this.#keyOfBlock(object, version, transaction)
    return key && this.#blockAt(object, key, version, transaction)?.find(version)
  }

  /** Row versions from `from` on and before `to`, in the order of their keys. */
  *range(
    object: number,
    from: RowKey,
    to: RowKey,
    transaction?: ReadTransaction,
  ): Generator<StoredVersion> {
    const range = this.#rows.getRange({
      start: this.#keyOfBlock(object, from, transaction) ?? rowVersionKey(object, from),
      end: rowVersionKey(object, to),
      ...(transaction && { transaction }),
    })
    for (const { key, value } of range) {
      const block = this.#decode(key, value)
      const end = block.placeOf(to)
      for (let place = block.placeOf(from); place < end; place++) {
        const view = block.rowAt(place)
        if (view) yield { key: block.versionAt(place), view }
      }
    }
  }

  /** All row versions of all objects. */
  *all(): Generator<{ readonly object: number; readonly view: RowView }> {
    for (const { key, value } of this.#rows.getRange()) {
      const block = this.#decode(key, value)
      for (let place = 0; place < block.rowCount; place++) {
        const view = block.rowAt(place)
        if (view) yield { object: objectOf(key), view }
      }
    }
  }

  /** Forgets what was read: a transaction that wrote some of it was given up. */
  forget(): void {
    this.#blocks.clear()
    this.#last = undefined
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

  #blockAt(
    object: number,
    key: Buffer,
    version: RowKey,
    transaction: ReadTransaction | undefined,
  ): RowBlock | undefined {
    let block = this.#blocks.get(nameOf(key))
    // A block that was put together with those after it since then has more rows than the kept one.
    if (!block?.covers(version)) {
      const value = this.#valueAt(key, transaction ? { transaction } : {})
      if (!value) return undefined
      block = this.#decode(key, value)
    }
    if (block.rowCount > 1) this.#last = { object, block }
    return block
  }

  /** Of a block, it is good until the next value is read: a copy costs 15 µs, and it is decoded at once. */
  #valueAt(key: Buffer, options: { readonly transaction?: ReadTransaction }): Buffer | undefined {
    const value = this.#rows.getBinaryFast(key, options)
    // What is too large for the memory that values are put in comes as another kind of array.
    const isWhole = value && (!isBlock(value) || !Buffer.isBuffer(value))
    return isWhole ? this.#rows.get(key, options) : value?.subarray(0, value.length)
  }

  #decode(key: Buffer, value: Buffer): RowBlock {
    if (!isBlock(value)) return new RowBlock(readRowKey(key, 4), value)
    const name = nameOf(key)
    const kept = this.#blocks.get(name)
    if (kept?.isOf(value)) return kept
    const block = new RowBlock(readRowKey(key, 4), value, this.#pieces)
    this.#blocks.set(name, block)
    return block
  }
}

function nameOf(key: Buffer): string {
  return key.toString('latin1')
}
