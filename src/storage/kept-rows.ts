/**
 * Rows that were looked up by their ids lately, as they are now. Whoever asks for a record mostly asks
 * for it again, and a row takes a hundredth of the memory of the block that it is read from.
 */
import { LRUCache } from 'lru-cache'

/** What a row takes besides its bytes, by estimate. */
const entryBytes = 512

/** Of longer ones few would be kept. */
const longestRow = 64 * 1024

/** With less than this nothing is kept. */
const leastBytes = 2 ** 20

export class KeptRows {
  readonly #rows: LRUCache<string, Buffer> | undefined

  /** @param bytes what all rows may take together */
  constructor(bytes: number) {
    if (bytes < leastBytes) return
    this.#rows = new LRUCache({
      maxSize: bytes,
      sizeCalculation: ({ length }) => length + entryBytes,
    })
  }

  /** The bytes of the row; they are never written over. */
  get(object: number, id: string): Buffer | undefined {
    return this.#rows?.get(keyOf(object, id))
  }

  /** Keeps a copy. */
  set(object: number, id: string, row: Uint8Array): void {
    if (!this.#rows || row.length > longestRow) return
    // Not of the pool that short buffers share, which one row would keep in memory.
    const copy = Buffer.allocUnsafeSlow(row.length)
    copy.set(row)
    this.#rows.set(keyOf(object, id), copy)
  }

  /** Forgets a row that was written anew. */
  forget(object: number, id: string): void {
    this.#rows?.delete(keyOf(object, id))
  }
}

function keyOf(object: number, id: string): string {
  return `${object}/${id}`
}
