/** Loops over texts that lie end to end: see `assembly/texts.ts`. */
import { copyBytes } from '../json/copy-bytes.ts'
import type { Texts } from '../vector/column.ts'
import {
  beginKernel,
  codes,
  inChunks,
  isOfKernels,
  kernels,
  maximumRows,
  newCodes,
  newText,
  place,
  roomToStage,
  stageBytes,
  stageStored,
  whole,
} from './arena.ts'

/** Integers of one hash. */
export const hashIntegers = 2

const [firstFactor, secondFactor] = [0x9e3779b1, 0x85ebca6b]

/** What a kernel's other arrays take beside the bytes of the texts. */
const besidesBytes = maximumRows * 20

/**
 * Writes the hashes of texts `first … first + count`, two integers each, which are both 0 where a text is not valid,
 * and never else.
 *
 * @param valid one byte per text from `first` on, 0 where it is not valid; undefined: all are
 */
export function hashTexts(
  texts: Texts,
  first: number,
  count: number,
  valid: Uint8Array | undefined,
  out: Int32Array,
): void {
  inChunks(count, (from, to) => {
    const ofPart = valid && (from === 0 && to === count ? valid : valid.subarray(from, to))
    hashSome(texts, first + from, to - from, ofPart, out, from)
  })
}

function hashSome(
  texts: Texts,
  first: number,
  count: number,
  valid: Uint8Array | undefined,
  out: Int32Array,
  at: number,
): void {
  const { offsets } = texts
  const length = offsets[first + count]! - offsets[first]!
  beginKernel()
  if (length + besidesBytes <= roomToStage()) {
    const { base, offsetsAt } = placeTexts(texts, first, count)
    const isNear = isOfKernels(out)
    const hashesAt = isNear ? out.byteOffset + at * 8 : stageBytes(count * 8)
    kernels.hashTexts(base, offsetsAt, valid ? place(valid, count) : 0, count, hashesAt)
    if (isNear) return
    out.set(
      codes.subarray(hashesAt >> 2, (hashesAt >> 2) + count * hashIntegers),
      at * hashIntegers,
    )
  } else if (count === 1) {
    if (valid && valid[0] === 0) out.fill(0, at * hashIntegers, (at + 1) * hashIntegers)
    else hashText(texts, first, out, at)
  } else {
    const half = count >> 1
    hashSome(texts, first, half, valid?.subarray(0, half), out, at)
    hashSome(texts, first + half, count - half, valid?.subarray(half), out, at + half)
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

/**
 * Copies the texts of these rows, counted from text `first`, ascending, end to end to `out`, which has room for them;
 * text `i` of them then ends at `ends[i]`.
 */
export function pickTexts(
  texts: Texts,
  first: number,
  rows: Int32Array,
  out: Buffer,
  ends: Int32Array,
): void {
  const { bytes, offsets } = texts
  const count = (rows.at(-1) ?? -1) + 1
  const length = offsets[first + count]! - offsets[first]!
  beginKernel()
  const isNear = isOfKernels(out) && isOfKernels(ends) && count <= maximumRows
  if (isNear && length + besidesBytes <= roomToStage()) {
    const { base, offsetsAt } = placeTexts(texts, first, count)
    const rowsAt = place(rows, rows.length)
    kernels.pickTexts(base, offsetsAt, rowsAt, rows.length, out.byteOffset, ends.byteOffset)
    return
  }
  let at = 0
  for (let i = 0; i < rows.length; i++) {
    const text = first + rows[i]!
    at = copyBytes(bytes, offsets[text]!, offsets[text + 1]!, out, at)
    ends[i] = at
  }
}

/**
 * The texts in the JSON lists from the one at `first` on, one for each of `valid`, empty where that is 0; undefined
 * unless each list is one text without escapes. They are good until the batch ends.
 */
export function singleTexts(texts: Texts, first: number, valid: Uint8Array): Texts | undefined {
  const { offsets } = texts
  const count = valid.length
  const found = newText(offsets[first + count]! - offsets[first]!)
  const foundOffsets = newCodes(count + 1)
  foundOffsets[0] = 0
  for (let from = 0; from < count; from += listsAtOnce) {
    const to = Math.min(count, from + listsAtOnce)
    if (!copySome(texts, first, valid, { from, to }, found, foundOffsets)) return undefined
  }
  return { bytes: found, offsets: foundOffsets }
}

/** Of parents of spans, so many fit into a kernel's own memory. */
const listsAtOnce = maximumRows / 2

function copySome(
  texts: Texts,
  first: number,
  valid: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  found: Buffer,
  foundOffsets: Int32Array,
): boolean {
  const { offsets } = texts
  const length = offsets[first + to]! - offsets[first + from]!
  beginKernel()
  // Twice, as what is found may lie elsewhere.
  if (2 * length + besidesBytes > roomToStage()) {
    return copySingleTexts(texts, first, valid, { from, to }, found, foundOffsets)
  }
  const start = foundOffsets[from]!
  const { base, offsetsAt } = placeTexts(texts, first + from, to - from)
  const validAt = place(valid.subarray(from, to), to - from)
  const [foundAt, endsAt] = [stageBytes(length), stageBytes((to - from) * 4)]
  const end = kernels.singleTexts(base, offsetsAt, validAt, to - from, foundAt, endsAt)
  if (end < 0) return false
  whole.copy(found, start, foundAt, foundAt + end)
  const ends = codes.subarray(endsAt >> 2, (endsAt >> 2) + to - from)
  for (let i = 0; i < ends.length; i++) foundOffsets[from + i + 1] = start + ends[i]!
  return true
}

/** What stands around the text of a list. */
const [head, tail] = [2, 2]
const [quote, backslash, opening, closing] = [0x22, 0x5c, 0x5b, 0x5d]

function copySingleTexts(
  { bytes, offsets }: Texts,
  first: number,
  valid: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  found: Buffer,
  foundOffsets: Int32Array,
): boolean {
  let at = foundOffsets[from]!
  for (let i = from; i < to; i++) {
    if (valid[i] !== 0) {
      const [start, end] = [offsets[first + i]!, offsets[first + i + 1]!]
      if (!isSingleText(bytes, start, end)) return false
      for (let each = start + head; each < end - tail; each++) found[at++] = bytes[each]!
    }
    foundOffsets[i + 1] = at
  }
  return true
}

function isSingleText(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < head + tail) return false
  if (bytes[start] !== opening || bytes[start + 1] !== quote) return false
  if (bytes[end - 1] !== closing || bytes[end - 2] !== quote) return false
  for (let i = start + head; i < end - tail; i++) {
    if (bytes[i] === quote || bytes[i] === backslash) return false
  }
  return true
}

/** Where a kernel finds the bytes, counted from 0 as offsets are, and the offsets of texts `first … first + count`. */
function placeTexts({ bytes, offsets }: Texts, first: number, count: number) {
  const [start, end] = [offsets[first]!, offsets[first + count]!]
  const bytesAt = stageStored(bytes.buffer, bytes.byteOffset + start, end - start)
  const offsetsFrom = offsets.byteOffset + first * 4
  const offsetsAt = stageStored(offsets.buffer, offsetsFrom, (count + 1) * 4)
  return { base: bytesAt - start, offsetsAt }
}
