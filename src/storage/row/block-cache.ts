/** Blocks of rows that a thread keeps, and which of them has a version, without asking LMDB. */
import { LRUCache } from 'lru-cache'
import type { RowKey } from '../../type/transaction.ts'
import type { RowBlock } from './row-block.ts'

export interface CachedBlock {
  readonly object: number
  /** Of its value, and the same as a text. */
  readonly key: Buffer
  readonly name: string
  readonly first: RowKey
  readonly block: RowBlock
}

export class BlockCache {
  readonly #blocks: LRUCache<string, CachedBlock>
  /** Those of each object, by their first versions. */
  readonly #inOrder = new Map<number, BlocksInOrder>()

  /** @param bytes what all may take together */
  constructor(bytes: number) {
    this.#blocks = new LRUCache({
      maxSize: bytes,
      sizeCalculation: ({ block }) => block.keptBytes,
      dispose: (kept) => this.#leave(kept),
    })
  }

  /** The block of that name. */
  get(name: string): CachedBlock | undefined {
    return this.#blocks.get(name)
  }

  /** In the place of another with that key. */
  set(kept: CachedBlock): void {
    const { name } = kept
    this.#blocks.set(name, kept)
    // What is larger than all may be is not kept.
    if (this.#blocks.peek(name) === kept) this.#enter(kept)
  }

  delete({ name }: CachedBlock): void {
    this.#blocks.delete(name)
  }

  clear(): void {
    this.#blocks.clear()
  }

  /** The block between whose first and last version that one lies. */
  covering(object: number, version: RowKey): CachedBlock | undefined {
    const kept = this.#inOrder.get(object)?.last(version)
    return kept?.block.covers(version) ? this.get(kept.name) : undefined
  }

  #enter(kept: CachedBlock): void {
    let blocks = this.#inOrder.get(kept.object)
    if (!blocks) {
      blocks = new BlocksInOrder()
      this.#inOrder.set(kept.object, blocks)
    }
    blocks.add(kept)
  }

  #leave(kept: CachedBlock): void {
    const blocks = this.#inOrder.get(kept.object)
    if (blocks?.remove(kept) && blocks.isEmpty) this.#inOrder.delete(kept.object)
  }
}

/** Blocks by their first versions, whose transactions stand together: they are most of what a search reads. */
class BlocksInOrder {
  readonly #transactions: number[] = []
  readonly #blocks: CachedBlock[] = []

  get isEmpty(): boolean {
    return this.#blocks.length === 0
  }

  /** The last of those that do not begin after the version. */
  last(version: RowKey): CachedBlock | undefined {
    return this.#blocks[this.#placeAfter(version) - 1]
  }

  add(kept: CachedBlock): void {
    const place = this.#placeAfter(kept.first)
    this.#transactions.splice(place, 0, kept.first.transaction)
    this.#blocks.splice(place, 0, kept)
  }

  /** False when it is not there. */
  remove(kept: CachedBlock): boolean {
    const place = this.#placeAfter(kept.first) - 1
    if (this.#blocks[place] !== kept) return false
    this.#transactions.splice(place, 1)
    this.#blocks.splice(place, 1)
    return true
  }

  /** How many do not begin after the version. */
  #placeAfter({ transaction, index }: RowKey): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >> 1
      const order =
        this.#transactions[middle]! - transaction || this.#blocks[middle]!.first.index - index
      if (order <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function nameOfBlock(key: Buffer): string {
  return key.toString('latin1')
}
