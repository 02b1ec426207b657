/** A Bloom filter that grows: whether an id may be known, without asking the disk. */
import type { IdHash } from './id-run.ts'

/**
 * Of ids that are not known, one in 2,000 seems to be, for each layer. Such a one is looked for in all runs, of which
 * there are dozens while rows come: with 12 bits it is one in 200, which took a quarter of the writer's time.
 */
const bitsPerId = 20
const firstCapacity = 1 << 17
const blockWords = 16
const bitsPerAdded = 6

interface Layer {
  readonly words: Uint32Array
  readonly blocks: number
  readonly capacity: number
  count: number
}

/**
 * Each layer holds twice as many ids as the one before it, in blocks of 64 bytes, of which an id has
 * one: asking costs a miss of the processor's cache per layer.
 */
export class IdFilter {
  readonly #layers: Layer[] = [layerOf(firstCapacity)]

  add(hash: IdHash): void {
    let layer = this.#layers.at(-1)!
    if (layer.count === layer.capacity) {
      layer = layerOf(layer.capacity * 2)
      this.#layers.push(layer)
    }
    layer.count++
    const first = blockOf(layer, hash)
    let bits = bitsOf(hash)
    for (let i = 0; i < bitsPerAdded; i++) {
      const bit = bits & 511
      layer.words[first + (bit >>> 5)]! |= 1 << (bit & 31)
      bits = Math.floor(bits / 512)
    }
  }

  /** False only of ids that were never added. */
  mayHave(hash: IdHash): boolean {
    const bits = bitsOf(hash)
    for (const layer of this.#layers) if (isSet(layer, blockOf(layer, hash), bits)) return true
    return false
  }
}

function isSet({ words }: Layer, first: number, bits: number): boolean {
  let rest = bits
  for (let i = 0; i < bitsPerAdded; i++) {
    const bit = rest & 511
    if ((words[first + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false
    rest = Math.floor(rest / 512)
  }
  return true
}

function layerOf(capacity: number): Layer {
  const blocks = Math.ceil((capacity * bitsPerId) / (blockWords * 32))
  return { words: new Uint32Array(blocks * blockWords), blocks, capacity, count: 0 }
}

/** Objects share their ids at times, so the block depends on both. */
function blockOf({ blocks }: Layer, hash: IdHash): number {
  const object = word(hash, 0)
  const mixed = (word(hash, 4) ^ Math.imul(object, 0x9e3779b1)) >>> 0
  return Math.floor((mixed / 2 ** 32) * blocks) * blockWords
}

/** 53 bits of the hash. */
function bitsOf(hash: IdHash): number {
  return (word(hash, 8) >>> 0) * 2 ** 21 + ((word(hash, 11) >>> 0) % 2 ** 21)
}

function word(hash: IdHash, at: number): number {
  return (
    (hash.charCodeAt(at) << 24) |
    (hash.charCodeAt(at + 1) << 16) |
    (hash.charCodeAt(at + 2) << 8) |
    hash.charCodeAt(at + 3)
  )
}
