/** Hashes of texts, 64 bits of each: see `assembly/text.ts`. */
import type { Texts } from '../vector/column.ts'
import {
  beginLoop,
  codes,
  inParts,
  kernels,
  maximumRows,
  roomToStage,
  stageBytes,
  stageStored,
} from './memory.ts'

/** Integers of one hash. */
export const hashIntegers = 2

const [firstFactor, secondFactor] = [0x9e3779b1, 0x85ebca6b]

/** What a loop's offsets and hashes take beside the bytes of the texts. */
const besidesBytes = maximumRows * 16

/** Writes the hashes of texts `first … first + count`, two integers each, which are never 0 both. */
export function hashTexts(texts: Texts, first: number, count: number, out: Int32Array): void {
  inParts(count, (from, to) => hashSome(texts, first + from, to - from, out, from))
}

function hashSome(texts: Texts, first: number, count: number, out: Int32Array, at: number): void {
  const { bytes, offsets } = texts
  const start = offsets[first]!
  const length = offsets[first + count]! - start
  beginLoop()
  if (length + besidesBytes <= roomToStage()) {
    const bytesAt = stageStored(bytes.buffer, bytes.byteOffset + start, length)
    const offsetsAt = stageStored(offsets.buffer, offsets.byteOffset + first * 4, (count + 1) * 4)
    const hashesAt = stageBytes(count * 8)
    kernels.hashTexts(bytesAt - start, offsetsAt, count, hashesAt)
    out.set(
      codes.subarray(hashesAt >> 2, (hashesAt >> 2) + count * hashIntegers),
      at * hashIntegers,
    )
  } else if (count === 1) {
    hashText(texts, first, out, at)
  } else {
    const half = count >> 1
    hashSome(texts, first, half, out, at)
    hashSome(texts, first + half, count - half, out, at + half)
  }
}

/** Writes the hash of one text to the `at`-th place. */
export function hashText({ bytes, offsets }: Texts, text: number, out: Int32Array, at: number) {
  const [start, end] = [offsets[text]!, offsets[text + 1]!]
  let first = end - start
  let second = ~first
  let i = start
  for (; i + 4 <= end; i += 4) {
    const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    first = Math.imul(first ^ word, firstFactor)
    first ^= first >>> 15
    second = Math.imul(second ^ word, secondFactor)
    second = (second << 13) | (second >>> 19)
  }
  for (; i < end; i++) {
    first = Math.imul(first ^ bytes[i]!, firstFactor)
    first ^= first >>> 15
    second = Math.imul(second ^ bytes[i]!, secondFactor)
    second = (second << 13) | (second >>> 19)
  }
  first = Math.imul(first ^ (first >>> 13), secondFactor)
  second = Math.imul(second ^ (second >>> 16), firstFactor)
  second ^= second >>> 15
  out[at * 2] = first
  out[at * 2 + 1] = first === 0 && second === 0 ? 1 : second
}
