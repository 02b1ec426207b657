/**
 * Hashes for choosing rows at random, but the same ones each time. They are no defence against an
 * adversary.
 */
import { parsePaginationKey } from './transaction.ts'

/**
 * A number from 0 to below 1 that depends on all of a text and the seed, evenly distributed. A
 * pagination key is hashed by its numbers, so that `rowFraction` gives the same without the text.
 */
export function textFraction(text: string, seed: number): number {
  const key = parsePaginationKey(text)
  if (key) return rowFraction(key.transaction, key.index, seed)
  let low = lowSeed ^ seed
  let high = highSeed ^ seed
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    low = mix(low, unit)
    high = mix(high, unit ^ 0xa5a5)
  }
  return fraction(low, high, text.length)
}

/** The same for the pagination key of a row's numbers. */
export function rowFraction(transaction: number, index: number, seed: number): number {
  const upper = Math.floor(transaction / 2 ** 32)
  let low = mix(mix(lowSeed ^ seed, transaction | 0), upper)
  let high = mix(mix(highSeed ^ seed, transaction | 0), upper)
  low = mix(low, index)
  high = mix(high, index)
  return fraction(low, high, 20)
}

const lowSeed = 0x2f0b4a27
const highSeed = 0x6d1c93b5

/** One step of MurmurHash3 (32 bits). */
function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51)
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  const h = hash ^ k
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

/** 53 bits of the two halves, after MurmurHash3's last step on each. */
function fraction(low: number, high: number, length: number): number {
  return ((finish(high ^ length) >>> 6) * 2 ** 27 + (finish(low ^ length) >>> 5)) / 2 ** 53
}

function finish(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
