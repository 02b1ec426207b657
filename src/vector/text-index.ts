/** Distinct texts, told apart by their bytes without decoding them. */
import { copyBytes, copyWhole } from '../json/copy-bytes.ts'
import type { Texts } from './column.ts'

/** Texts up to this long are compared faster by a loop than natively. */
const shortTextBytes = 64

/** Where growing arrays lie: in a thread's own memory, or in memory that all threads may read. */
export type Memory = 'own' | 'shared'

/** Bytes, and slots, that are moved to larger memory between two calls of who may put an end to that. */
const [movedBytes, movedSlots] = [8 * 2 ** 20, 1 << 16]

/** Texts end to end, growing at the end. */
export class GrowingTexts {
  count = 0
  byteLength = 0
  bytes: Buffer
  offsets: Int32Array
  readonly #memory: Memory
  readonly #check: () => void

  private constructor(offsets: Int32Array, memory: Memory, bytes: Buffer, check: () => void) {
    this.#memory = memory
    this.#check = check
    this.bytes = bytes
    this.offsets = offsets
  }

  /** @param check is called now and then while memory grows; what it throws leaves the texts as they were */
  static of(expectedCount: number, memory: Memory = 'own', check = () => {}): GrowingTexts {
    const offsets = allocateNumbers(expectedCount + 1, memory)
    return new GrowingTexts(offsets, memory, allocateBytes(1024, memory), check)
  }

  /** Of a thread, begun in memory that is there. */
  static within(bytes: Buffer, offsets: Int32Array, check: () => void): GrowingTexts {
    return new GrowingTexts(offsets, 'own', bytes, check)
  }

  /** Goes on after the first `count` texts of `shared`, in the same memory while that has room. */
  static after(shared: Texts, count: number, check = () => {}): GrowingTexts {
    const texts = new GrowingTexts(shared.offsets, 'shared', shared.bytes, check)
    texts.count = count
    texts.byteLength = shared.offsets[count]!
    return texts
  }

  push(source: Buffer, start: number, end: number): void {
    const length = end - start
    const from = this.byteLength
    if (from + length > this.bytes.length) this.#grow(from + length)
    this.byteLength = copyBytes(source, start, end, this.bytes, from)
    this.pushEmpty()
  }

  pushEmpty(): void {
    this.#makeOffsets(this.count + 1)
    this.offsets[++this.count] = this.byteLength
  }

  #makeOffsets(count: number): void {
    if (count < this.offsets.length) return
    const offsets = allocateNumbers(Math.max(count + 1, this.offsets.length * 2), this.#memory)
    offsets.set(this.offsets)
    this.offsets = offsets
  }

  /** Adds the texts `from … to` of others, their bytes at once. */
  pushRun({ bytes, offsets }: Texts, from: number, to: number): void {
    const start = offsets[from]!
    const length = offsets[to]! - start
    if (this.byteLength + length > this.bytes.length) this.#grow(this.byteLength + length)
    copyWhole(bytes.subarray(start, start + length), this.bytes, this.byteLength)
    this.#makeOffsets(this.count + to - from)
    const moved = this.byteLength - start
    for (let i = from; i < to; i++) this.offsets[++this.count] = offsets[i + 1]! + moved
    this.byteLength += length
  }

  finish(): Texts {
    return {
      bytes: this.bytes.subarray(0, this.byteLength),
      offsets: this.offsets.subarray(0, this.count + 1),
    }
  }

  #grow(needed: number): void {
    const bytes = allocateBytes(Math.max(needed, this.bytes.length * 2), this.#memory)
    for (let from = 0; from < this.byteLength; from += movedBytes) {
      this.#check()
      this.bytes.copy(bytes, from, from, Math.min(this.byteLength, from + movedBytes))
    }
    this.bytes = bytes
  }
}

function allocateBytes(length: number, memory: Memory): Buffer {
  return memory === 'own'
    ? Buffer.allocUnsafeSlow(length)
    : Buffer.from(new SharedArrayBuffer(length))
}

function allocateNumbers(length: number, memory: Memory): Int32Array {
  return memory === 'own'
    ? new Int32Array(length)
    : new Int32Array(new SharedArrayBuffer(length * 4))
}

/**
 * Slots of a `TextIndex`, an even number that is a power of 2: the hash and the code of each text,
 * side by side so that a look-up misses the cache once; code -1: free.
 */
export type TextSlots = Int32Array

/** Numbers distinct texts: open addressing over hashes of their bytes. */
export class TextIndex {
  #slots: TextSlots
  readonly #memory: Memory
  readonly #check: () => void

  /**
   * @param slots of an index over the same texts, to go on with; or free ones
   * @param check is called now and then while slots are moved; what it throws leaves them as they were
   */
  constructor(memory: Memory = 'own', slots?: TextSlots, check = () => {}) {
    this.#memory = memory
    this.#check = check
    this.#slots = slots ?? allocateNumbers(128, memory).fill(-1)
  }

  get slots(): TextSlots {
    return this.#slots
  }

  /** Makes room for so many texts, so that slots are not moved again and again. */
  reserve(count: number): void {
    let { length } = this.#slots
    while (count * 4 > length) length *= 2
    if (length > this.#slots.length) this.#rehash(length)
  }

  /** The code of the text, which is added to `texts` when it is new. */
  codeOf(texts: GrowingTexts, source: Buffer, start: number, end: number): number {
    const hash = hashBytes(source, start, end)
    const slots = this.#slots
    const mask = slots.length - 2
    let slot = (hash << 1) & mask
    for (;;) {
      const code = slots[slot + 1]!
      if (code === -1) break
      // Beyond them are texts of someone who has failed while adding them.
      const isThere = slots[slot] === hash && code < texts.count
      if (isThere && equalsText(texts, code, source, start, end)) return code
      slot = (slot + 2) & mask
    }
    const code = texts.count
    texts.push(source, start, end)
    // The code last: other threads may look into shared slots, and take it for a sign of the rest.
    slots[slot] = hash
    slots[slot + 1] = code
    if (texts.count * 4 > slots.length) this.#rehash(slots.length * 2)
    return code
  }

  /**
   * Writes the codes of the texts `from … to` to `out`, from `at` on. New ones are added, those that follow
   * each other at once.
   */
  codesOf(
    texts: GrowingTexts,
    source: Texts,
    from: number,
    to: number,
    out: Int32Array,
    at: number,
  ): void {
    const { bytes, offsets } = source
    this.reserve(texts.count + to - from)
    const slots = this.#slots
    const mask = slots.length - 2
    // Texts `added … i` are new, and not among the texts yet.
    let added = from
    for (let i = from; i < to; i++) {
      const [start, end] = [offsets[i]!, offsets[i + 1]!]
      const hash = hashBytes(bytes, start, end)
      let found = -1
      let slot = (hash << 1) & mask
      for (;;) {
        const code = slots[slot + 1]!
        if (code === -1) break
        if (slots[slot] === hash && code < texts.count + i - added) {
          if (code >= texts.count) {
            texts.pushRun(source, added, i)
            added = i
          }
          if (equalsText(texts, code, bytes, start, end)) {
            found = code
            break
          }
        }
        slot = (slot + 2) & mask
      }
      if (found >= 0) {
        if (added < i) texts.pushRun(source, added, i)
        added = i + 1
      } else {
        found = texts.count + i - added
        slots[slot] = hash
        slots[slot + 1] = found
      }
      out[at + i - from] = found
    }
    if (added < to) texts.pushRun(source, added, to)
  }

  #rehash(length: number): void {
    const old = this.#slots
    const slots = allocateNumbers(length, this.#memory).fill(-1)
    moveSlots(old, slots, this.#check)
    this.#slots = slots
  }
}

/** Puts all that is in slots into larger ones, which are free. */
export function moveSlots(from: TextSlots, to: TextSlots, check = () => {}): void {
  const mask = to.length - 2
  for (let i = 0; i < from.length; i += 2) {
    if (i % movedSlots === 0) check()
    if (from[i + 1] === -1) continue
    let slot = (from[i]! << 1) & mask
    while (to[slot + 1] !== -1) slot = (slot + 2) & mask
    to[slot] = from[i]!
    to[slot + 1] = from[i + 1]!
  }
}

/**
 * The code of the text in the index that the slots are of, or -1 when it is not there.
 *
 * @param count texts from this one on are not looked at: they are still being added
 */
export function findText(
  slots: TextSlots,
  texts: Texts,
  source: Buffer,
  start: number,
  end: number,
  count = texts.offsets.length - 1,
): number {
  const hash = hashBytes(source, start, end)
  const mask = slots.length - 2
  for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
    const code = slots[slot + 1]!
    if (code === -1) return -1
    if (slots[slot] === hash && code < count && equalsText(texts, code, source, start, end)) {
      return code
    }
  }
}

/** Of a long text, 64 bytes at its ends and 64 spread over it: alike texts are rare, and compared. */
function hashBytes(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  let hash = length
  if (length <= 128) {
    // Four bytes at a time: each product waits for the one before it.
    let i = start
    for (; i + 4 <= end; i += 4) {
      const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
      hash = Math.imul(hash ^ word, 0x9e3779b1)
      hash ^= hash >>> 15
    }
    for (; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  } else {
    const stride = length >> 6
    for (let i = 0; i < 32; i++) {
      hash = Math.imul(hash ^ bytes[start + i]!, 0x01000193)
      hash = Math.imul(hash ^ bytes[end - 1 - i]!, 0x01000193)
    }
    for (let i = 0; i < 64; i++) {
      hash = Math.imul(hash ^ bytes[start + i * stride]!, 0x01000193)
    }
  }
  return hash ^ (hash >>> 15)
}

function equalsText(
  texts: Texts,
  code: number,
  source: Buffer,
  start: number,
  end: number,
): boolean {
  const from = texts.offsets[code]!
  const length = end - start
  if (texts.offsets[code + 1]! - from !== length) return false
  const bytes = texts.bytes
  if (length > shortTextBytes) {
    return bytes.compare(source, start, end, from, from + length) === 0
  }
  for (let i = 0; i < length; i++) {
    if (bytes[from + i] !== source[start + i]) return false
  }
  return true
}
