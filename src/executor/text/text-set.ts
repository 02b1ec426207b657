/** Which texts are among many: their bytes rule out nearly all others, so that hardly any is decoded in vain. */
import { decodeUtf8, encodeUtf8 } from '../../json/utf8.ts'
import type { ValueSet } from '../../type/value-set.ts'
import type { Texts } from '../../vector/column.ts'
import { checkAtTimes } from '../thread/cancelled.ts'

/** A bit for a text, of so many, by its length and some of its bytes. */
const marks = 2 ** 16

export class TextSet {
  readonly #set: ValueSet
  readonly #marked = new Uint8Array(marks)

  /** @param set whose items are asked for texts alone */
  constructor(set: ValueSet) {
    this.#set = set
    for (const text of set.texts) {
      const bytes = encodeUtf8(text)
      this.#marked[markOf(bytes, 0, bytes.length)] = 1
    }
  }

  /** Writes 1 for each of `count` texts from `first` on that is an item, otherwise `absent`. */
  search({ bytes, offsets }: Texts, first: number, count: number, absent: number, out: Uint8Array) {
    for (let i = 0; i < count; i++) {
      checkAtTimes()
      const [start, end] = [offsets[first + i]!, offsets[first + i + 1]!]
      const mayBe = this.#marked[markOf(bytes, start, end)] === 1
      out[i] = mayBe && this.#set.hasText(decodeUtf8(bytes, start, end)) ? 1 : absent
    }
  }
}

/** Bytes at both ends and between: names and ids differ in some of them. */
const sampledBytes = 12

function markOf(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  let hash = length
  if (length <= 2 * sampledBytes) {
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  } else {
    for (let i = 0; i < sampledBytes; i++) {
      hash = Math.imul(hash ^ bytes[start + i]!, 0x01000193)
      hash = Math.imul(hash ^ bytes[end - 1 - i]!, 0x01000193)
    }
  }
  return (hash ^ (hash >>> 16)) & (marks - 1)
}
