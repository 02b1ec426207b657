/** Spans that are told apart by hashes, within their trace. */
import { newTable } from '../../kernel/arena.ts'

/** A set of spans of traces, which takes a few of other spans for its own. */
export class TraceSpans {
  /** Of each span, three bits of one word. */
  readonly #words: Int32Array
  readonly #mask: number

  /** @param most spans that are added */
  constructor(most: number) {
    const wordCount = 2 ** Math.ceil(Math.log2(Math.max(2, most / 2)))
    this.#words = newTable(wordCount, 0)
    this.#mask = wordCount - 1
  }

  add(group: number, first: number, second: number): void {
    this.#words[(first ^ Math.imul(group, groupFactor)) & this.#mask]! |= bitsOf(second)
  }

  mayHold(group: number, first: number, second: number): boolean {
    const bits = bitsOf(second)
    return (this.#words[(first ^ Math.imul(group, groupFactor)) & this.#mask]! & bits) === bits
  }
}

const groupFactor = 0x9e3779b1

function bitsOf(hash: number): number {
  return (1 << hash) | (1 << (hash >>> 5)) | (1 << (hash >>> 10))
}

/** Numbers the spans of one trace by their hashes, and then those of the next. */
export class SpanNumbers {
  /** By slot: a hash, and one more than its number. */
  #slots = new Int32Array(3 * 64)
  #mask = 63
  #count = 0

  /** Forgets all, and makes room for so many spans. */
  begin(most: number): void {
    const slotCount = 2 ** Math.ceil(Math.log2(2 * most + 2))
    if (3 * slotCount > this.#slots.length) this.#slots = new Int32Array(3 * slotCount)
    else this.#slots.fill(0, 0, 3 * slotCount)
    this.#mask = slotCount - 1
    this.#count = 0
  }

  add(first: number, second: number): void {
    const at = this.#slotOf(first, second)
    if (this.#slots[at + 2] !== 0) return
    this.#slots[at] = first
    this.#slots[at + 1] = second
    this.#slots[at + 2] = ++this.#count
  }

  /** -1 where it was not added. */
  of(first: number, second: number): number {
    if (first === 0 && second === 0) return -1
    return this.#slots[this.#slotOf(first, second) + 2]! - 1
  }

  #slotOf(first: number, second: number): number {
    const slots = this.#slots
    for (let slot = first & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = 3 * slot
      if (slots[at + 2] === 0 || (slots[at] === first && slots[at + 1] === second)) return at
    }
  }
}
