/**
 * A small seeded generator of pseudo-random numbers (xoshiro128**), so that generated records are
 * the same on every machine and in every run.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #d: number

  /** Different seeds give unrelated sequences; the state is spread from the seed by splitmix32. */
  constructor(seed: number) {
    let state = seed | 0
    const spread = () => {
      state = (state + 0x9e3779b9) | 0
      let mixed = state ^ (state >>> 16)
      mixed = Math.imul(mixed, 0x21f0aaad)
      mixed ^= mixed >>> 15
      mixed = Math.imul(mixed, 0x735a2d97)
      return mixed ^ (mixed >>> 15)
    }
    this.#a = spread()
    this.#b = spread()
    this.#c = spread()
    this.#d = spread()
  }

  /** An integer from 0 to 2^32 - 1. */
  nextWord(): number {
    const scrambled = Math.imul(this.#b, 5)
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = (this.#d << 11) | (this.#d >>> 21)
    return result
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    return this.nextWord() / 0x100000000
  }

  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True in the given share of calls. */
  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  /** Exponentially distributed around `mean`: waiting times, lengths. */
  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  /** 16 hexadecimal digits. */
  hex16(): string {
    return hexWord(this.nextWord()) + hexWord(this.nextWord())
  }

  /** 32 hexadecimal digits in the form of a random UUID. */
  uuid(): string {
    const a = this.nextWord()
    const b = this.nextWord()
    const c = this.nextWord()
    const version = hexQuads[(b & 0xfff) | 0x4000]
    const variant = hexQuads[((c >>> 16) & 0x3fff) | 0x8000]
    const tail = hexQuads[c & 0xffff]! + hexWord(this.nextWord())
    return `${hexWord(a)}-${hexQuads[b >>> 16]}-${version}-${variant}-${tail}`
  }
}

const hexQuads = Array.from({ length: 0x10000 }, (_, value) => value.toString(16).padStart(4, '0'))

function hexWord(word: number): string {
  return hexQuads[word >>> 16]! + hexQuads[word & 0xffff]!
}
