/** Blocks of rows that a thread keeps, and which of them has a version, without asking LMDB. */
import { LRUCache } from 'lru-cache'
import { compareRowKeys, type RowKey } from '../type/transaction.ts'
import type { RowBlock } from './row-block.ts'

export interface KeptBlock {
  readonly object: number
  /** Of its value. */
  readonly key: Buffer
  readonly first: RowKey
  readonly block: RowBlock
}

export class KeptBlocks {
  readonly #blocks: LRUCache<string, KeptBlock>
  /** Those of each object, by their first versions. */
  readonly #inOrder = new Map<number, KeptBlock[]>()

  /** @param bytes what all may take together */
  constructor(bytes: number) {
    this.#blocks = new LRUCache({
      maxSize: bytes,
      sizeCalculation: ({ block }) => block.keptBytes,
      dispose: (kept) => this.#leave(kept),
    })
  }

  /** The block that has that key. */
  get(key: Buffer): KeptBlock | undefined {
    return this.#blocks.get(nameOf(key))
  }

  /** In the place of another with that key. */
  set(kept: KeptBlock): void {
    const name = nameOf(kept.key)
    this.#blocks.set(name, kept)
    // What is larger than all may be is not kept.
    if (this.#blocks.peek(name) === kept) this.#enter(kept)
  }

  delete({ key }: KeptBlock): void {
    this.#blocks.delete(nameOf(key))
  }

  clear(): void {
    this.#blocks.clear()
  }

  /** The block between whose first and last version that one lies. */
  covering(object: number, version: RowKey): KeptBlock | undefined {
    const blocks = this.#inOrder.get(object)
    const kept = blocks?.[placeAfter(blocks, version) - 1]
    return kept?.block.covers(version) ? this.get(kept.key) : undefined
  }

  #enter(kept: KeptBlock): void {
    let blocks = this.#inOrder.get(kept.object)
    if (!blocks) {
      blocks = []
      this.#inOrder.set(kept.object, blocks)
    }
    blocks.splice(placeAfter(blocks, kept.first), 0, kept)
  }

  #leave(kept: KeptBlock): void {
    const blocks = this.#inOrder.get(kept.object)
    const place = blocks ? placeAfter(blocks, kept.first) - 1 : -1
    if (blocks?.[place] !== kept) return
    blocks.splice(place, 1)
    if (blocks.length === 0) this.#inOrder.delete(kept.object)
  }
}

/** How many blocks do not begin after the version. */
function placeAfter(blocks: readonly KeptBlock[], version: RowKey): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareRowKeys(blocks[middle]!.first, version) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function nameOf(key: Buffer): string {
  return key.toString('latin1')
}
