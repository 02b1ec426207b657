import { forgetCopy, newCodes, newTable } from '../../kernel/arena.ts'
import { combineCodes, mapCodes } from '../../kernel/gather.ts'
import { sequence } from '../../kernel/sequence.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { pickedCodes } from './gather-vector.ts'
import { grown } from './grown.ts'

/** Pairs of codes up to this product are looked up in an array, more in a hash table. */
const maximumDensePairs = 1 << 20

/** Numbers distinct pairs of codes in the order in which they are first seen. */
export class CompositeKeys {
  #count = 0
  /** By code; not written while all pairs have the first code 0, and a pair's code is its second. */
  #firsts = new Int32Array(64)
  #seconds = new Int32Array(64)
  #isPlain = true
  #stride = 64
  /** Codes by `first * stride + second`; undefined once that would be too large. */
  #dense: Int32Array | undefined = newTable(64 * 64, -1)
  /** Codes by the hash of their pair, -1 being free; used when `#dense` is not. */
  #slots = new Int32Array(0)

  get count(): number {
    return this.#count
  }

  get heldBytes(): number {
    return 8 * this.#count + 4 * (this.#dense?.length ?? this.#slots.length)
  }

  /** First codes, by the code of their pair. */
  get firsts(): Int32Array {
    return this.firstsOf(undefined)
  }

  /** Second codes, by the code of their pair. */
  get seconds(): Int32Array {
    return this.secondsOf(undefined) ?? sequence(0, this.#count)
  }

  /** First codes of these pairs; undefined: of all. */
  firstsOf(pairs: Int32Array | undefined): Int32Array {
    if (this.#isPlain) return new Int32Array(pairs ? pairs.length : this.#count)
    return pairs ? pickedCodes(this.#firsts, pairs) : this.#firsts.subarray(0, this.#count)
  }

  /** Second codes of these pairs; undefined: of all, and as what is given: a pair's is its own code. */
  secondsOf(pairs: Int32Array | undefined): Int32Array | undefined {
    if (this.#isPlain) return pairs
    return pairs ? pickedCodes(this.#seconds, pairs) : this.#seconds.subarray(0, this.#count)
  }

  /** While all first codes are 0, the code of a pair is its second: there are so many seconds. */
  takeSeconds(count: number): void {
    this.#count = count
  }

  /**
   * `firsts[i] = code of the pair (firsts[i], seconds[i])`
   *
   * @param firstCount all first codes, of this call and of those before, are below this
   * @param secondCount so many second codes were given so far
   */
  combine(
    firsts: Int32Array,
    firstCount: number,
    seconds: Int32Array,
    secondCount: number,
    count: number,
  ): void {
    if (this.#isPlain) {
      if (firstCount <= 1) {
        this.takeSeconds(secondCount)
        firsts.set(seconds.subarray(0, count))
        forgetCopy(firsts)
        return
      }
      this.#leavePlain()
    }
    this.#reserve(firstCount, secondCount)
    if (this.#dense) this.#combineDense(this.#dense, firsts, seconds, count)
    else {
      for (let i = 0; i < count; i++) {
        checkAtTimes()
        firsts[i] = this.#hashedCode(firsts[i]!, seconds[i]!)
      }
    }
    forgetCopy(firsts)
  }

  #combineDense(dense: Int32Array, firsts: Int32Array, seconds: Int32Array, count: number): void {
    const stride = this.#stride
    const slots = newCodes(count)
    combineCodes({ codes: firsts, base: 0 }, stride, { codes: seconds, base: 0 }, count, slots)
    if (mapCodes(dense, slots, count, firsts) >= 0) return
    for (let i = 0; i < count; i++) {
      if (firsts[i]! >= 0) continue
      const slot = slots[i]!
      if (dense[slot]! < 0) dense[slot] = this.#add(Math.floor(slot / stride), slot % stride)
      firsts[i] = dense[slot]!
    }
  }

  #leavePlain(): void {
    this.#isPlain = false
    const count = this.#count
    this.#firsts = new Int32Array(Math.max(64, count))
    this.#seconds = sequence(0, Math.max(64, count))
    this.#reserve(1, count)
    if (this.#dense) for (let code = 0; code < count; code++) this.#dense[code] = code
  }

  #add(first: number, second: number): number {
    const code = this.#count++
    this.#firsts = grown(this.#firsts, this.#count, 0)
    this.#seconds = grown(this.#seconds, this.#count, 0)
    this.#firsts[code] = first
    this.#seconds[code] = second
    return code
  }

  #hashedCode(first: number, second: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = hashPair(first, second) & mask
    for (;;) {
      const code = slots[slot]!
      if (code < 0) break
      if (this.#firsts[code] === first && this.#seconds[code] === second) return code
      slot = (slot + 1) & mask
    }
    const code = this.#add(first, second)
    slots[slot] = code
    if (this.#count * 2 > slots.length) this.#rehash(slots.length * 2)
    return code
  }

  #rehash(length: number): void {
    const slots = new Int32Array(length).fill(-1)
    for (let code = 0; code < this.#count; code++) {
      checkAtTimes()
      let slot = hashPair(this.#firsts[code]!, this.#seconds[code]!) & (length - 1)
      while (slots[slot]! >= 0) slot = (slot + 1) & (length - 1)
      slots[slot] = code
    }
    this.#slots = slots
  }

  #reserve(rows: number, columns: number): void {
    if (!this.#dense) return
    if (columns <= this.#stride && rows * this.#stride <= this.#dense.length) return
    const stride = Math.max(this.#stride, 2 ** Math.ceil(Math.log2(columns)))
    const size = 2 ** Math.ceil(Math.log2(rows)) * stride
    if (size > maximumDensePairs) {
      this.#dense = undefined
      this.#rehash(2 ** Math.ceil(Math.log2(Math.max(1024, this.#count * 4))))
      return
    }
    this.#stride = stride
    this.#dense = newTable(Math.max(size, this.#dense.length), -1)
    for (let code = 0; code < this.#count; code++) {
      this.#dense[this.#firsts[code]! * stride + this.#seconds[code]!] = code
    }
  }
}

function hashPair(first: number, second: number): number {
  const hash = Math.imul(first ^ Math.imul(second, 0x9e3779b1), 0x85ebca6b)
  return hash ^ (hash >>> 15)
}
