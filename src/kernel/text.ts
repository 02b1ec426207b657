/** Compares UTF-8 texts that lie end to end, and searches in their bytes. */
import type { Texts } from '../vector/column.ts'
import { beginKernel, kernels, place } from './arena.ts'

/** `out[i] = 1` where text `first + i` is exactly `needle`, else 0. */
export function textEquals(
  { bytes, offsets }: Texts,
  first: number,
  count: number,
  needle: Uint8Array,
  out: Uint8Array,
): void {
  const length = needle.length
  for (let i = 0; i < count; i++) {
    const start = offsets[first + i]!
    if (offsets[first + i + 1]! - start !== length) {
      out[i] = 0
      continue
    }
    let at = 0
    while (at < length && bytes[start + at] === needle[at]) at++
    out[i] = at === length ? 1 : 0
  }
}

/** Longer needles are not searched. */
export const maximumNeedleBytes = 256

/** Bytes that are copied to where kernels work, and searched there. */
const windowBytes = 2 ** 18

/** Bytes of English text and of JSON, the most frequent first; all others are rarer. */
const frequentBytes = Buffer.from('" etaoinsrhldcumfpgwybvk.,TAISExj')

/** A search for bytes, in which ASCII letters may stand for both cases. */
export class ByteSearch {
  readonly needle: Uint8Array
  readonly #folds: Uint8Array
  readonly #first: number
  readonly #second: number

  /** @param needle from 1 to `maximumNeedleBytes` bytes, in lower case when case does not count */
  constructor(needle: Uint8Array, caseInsensitive: boolean) {
    this.needle = needle
    this.#folds = needle.map((byte) => (caseInsensitive && byte >= 0x61 && byte <= 0x7a ? 0x20 : 0))
    const places = Array.from(needle, (byte, at) => ({ at, rank: frequentBytes.indexOf(byte) }))
    // Of equally rare ones the last, since names often begin alike.
    const [first, second] = places.sort((a, b) => rarity(b.rank) - rarity(a.rank) || b.at - a.at)
    this.#first = first!.at
    this.#second = (second ?? first)!.at
  }

  /** Gives the next place from a place on, or -1. Ends with the next kernel, or search, of the thread. */
  in(region: Uint8Array): (from: number) => number {
    const { needle } = this
    const { length } = needle
    let [start, end] = [0, 0]
    let [haystackAt, needleAt, foldsAt] = [0, 0, 0]
    const copy = (from: number): void => {
      start = from
      end = Math.min(region.length, from + windowBytes)
      beginKernel()
      haystackAt = place(region.subarray(start, end), end - start)
      needleAt = place(needle, length)
      foldsAt = place(this.#folds, length)
    }
    return (from) => {
      let next = from
      while (next + length <= region.length) {
        if (next < start || next + length > end) copy(next)
        const hit = kernels.findBytes(
          haystackAt,
          next - start,
          end - start,
          needleAt,
          foldsAt,
          length,
          this.#first,
          this.#second,
        )
        if (hit >= 0) return start + hit
        if (end === region.length) return -1
        next = end - length + 1
      }
      return -1
    }
  }
}

function rarity(rank: number): number {
  return rank < 0 ? frequentBytes.length : rank
}
