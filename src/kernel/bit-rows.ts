/** Rows of bits, in words of 32: which numbers each group has, and sets of rows. */
import { bitmapOf, type RowBits } from '../vector/row-bits.ts'
import { beginKernel, kernels, place, stagedBytes, takeOutput } from './arena.ts'

/** The numbers of rows: codes, or what a map has for them; a code of -1 is none. */
export interface RowNumbers {
  readonly codes: Int32Array
  readonly map: Int32Array | undefined
  readonly selection: Int32Array | undefined
  /** How many rows there are when all are selected. */
  readonly count: number
}

/** Sets the bit of each selected row's number in the words of its group: one for all, or one each. */
export function addBits(
  bits: Int32Array,
  wordsPerGroup: number,
  groups: Int32Array | number,
  { codes, map, selection, count }: RowNumbers,
): void {
  const selected = selection ? selection.length : count
  const all = typeof groups === 'number' ? groups * wordsPerGroup : 0
  for (let j = 0; j < selected; j++) {
    const code = codes[selection ? selection[j]! : j]!
    if (code < 0) continue
    const number = map ? map[code]! : code
    const at = typeof groups === 'number' ? all : groups[j]! * wordsPerGroup
    bits[at + (number >> 5)]! |= 1 << (number & 31)
  }
}

/** Fewer words take less time than to copy them to where the kernel finds them, and more have no room there. */
const [loopedFrom, loopedTo] = [128, stagedBytes / 4]

/** How many bits are set. */
export function countBits(bits: Int32Array): number {
  let count = 0
  for (let from = 0; from < bits.length; from += loopedTo) {
    const part = bits.length <= loopedTo ? bits : bits.subarray(from, from + loopedTo)
    if (part.length >= loopedFrom) {
      beginKernel()
      // Of bytes no copy is kept, as these may change.
      const bytes = bitmapOf(part)
      count += kernels.countBits(place(bytes, bytes.length), part.length)
    } else for (let i = 0; i < part.length; i++) count += bitsOf(part[i]!)
  }
  return count
}

/** Adds the rows of another set. */
export function addAll(rows: RowBits, others: RowBits): void {
  if (isLooped(rows)) combine(rows, others, kernels.keepEither)
  else for (let i = 0; i < rows.length; i++) rows[i]! |= others[i]!
}

/** Keeps those that are in another set, too. */
export function keepOnly(rows: RowBits, others: RowBits): void {
  if (isLooped(rows)) combine(rows, others, kernels.keepBoth)
  else for (let i = 0; i < rows.length; i++) rows[i]! &= others[i]!
}

/** Two sets have room among what a kernel is given. */
function isLooped({ length }: RowBits): boolean {
  return length >= loopedFrom && length <= loopedTo / 4
}

function combine(
  rows: RowBits,
  others: RowBits,
  kernel: (left: number, right: number, byteLength: number) => void,
): void {
  beginKernel()
  // Of bytes no copy is kept, as these may change.
  const [left, right] = [bitmapOf(rows), bitmapOf(others)]
  const at = place(left, left.length)
  kernel(at, place(right, right.length), left.length)
  takeOutput(left, left.length, at)
}

/** How many of the rows `from … to` are in a set. */
export function countRows(rows: RowBits, from: number, to: number): number {
  if (from >= to) return 0
  const [first, last] = [from >> 5, (to - 1) >> 5]
  const ofFirst = -1 << (from & 31)
  const ofLast = -1 >>> (31 - ((to - 1) & 31))
  if (first === last) return bitsOf(rows[first]! & ofFirst & ofLast)
  const ofEnds = bitsOf(rows[first]! & ofFirst) + bitsOf(rows[last]! & ofLast)
  return last - first < 2 ? ofEnds : ofEnds + countBits(rows.subarray(first + 1, last))
}

function bitsOf(bits: number): number {
  let word = bits - ((bits >>> 1) & 0x55555555)
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
  word = (word + (word >>> 4)) & 0x0f0f0f0f
  return Math.imul(word, 0x01010101) >>> 24
}
