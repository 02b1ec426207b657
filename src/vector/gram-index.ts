/**
 * An index of the parts of texts. Texts are taken in blocks, and of each block the index has a set of
 * numbers: one, by hashing, for every 4 bytes that follow each other in the folded texts. The sets lie
 * number by number: a row of bits for each, with one bit per block. What may hold a text is found by
 * and-ing the rows of its parts; whether it does is for those to say who look at the texts.
 */
import { foldAccents } from '../type/fold-accents.ts'

/** Bytes of a part: as many as fit an integer that a loop can roll along. */
export const gramBytes = 4

/** Parts of a searched text that are looked up at most, spread over it. */
const maximumLookedUp = 48

export interface GramIndex {
  /** Texts of a block: a power of 2, and a multiple of `unitTexts`. */
  readonly blockTexts: number
  readonly textCount: number
  /** How many bits of a hash count. */
  readonly hashBits: number
  /** Of an older version: only what is of ASCII was folded in the same way, and JSON is as it is printed. */
  readonly isOlder: boolean
  /** Whether texts have characters of several code points that others write as one. */
  readonly hasComposed: boolean
  /** Whether any of the texts may have a part; an index that cannot tell says so of all parts. */
  mayHave(gram: number): boolean
  /** The row of bits of a hash: bit `b & 31` of integer `b >> 5` is that of block `b`. */
  row(hash: number): Int32Array
}

/** The finest block. */
export const unitTexts = 32

/** @param gram 4 bytes, the first in the highest place */
export function hashGram(gram: number, hashBits: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> (32 - hashBits)
}

/** The parts of a text, each in the form that is hashed; none for a text of fewer bytes than one. */
export function gramsOf(text: string): Int32Array {
  const bytes = Buffer.from(foldAccents(text))
  const count = Math.max(0, bytes.length - gramBytes + 1)
  const taken = Math.min(count, maximumLookedUp)
  // With the last one in any case.
  const stride = taken > 1 ? (count - 1) / (taken - 1) : 0
  return Int32Array.from({ length: taken }, (_, i) => bytes.readInt32BE(Math.floor(i * stride)))
}

/** The numbers of the blocks whose texts may have all of the grams, ascending; undefined: none. */
export function blocksWithGrams(index: GramIndex, grams: Int32Array): number[] | undefined {
  const { blockTexts, textCount, hashBits } = index
  if (!grams.every((gram) => index.mayHave(gram))) return undefined
  const blocks = Math.ceil(textCount / blockTexts)
  const found = new Int32Array((blocks + 31) >> 5).fill(-1)
  for (const gram of grams) {
    const row = index.row(hashGram(gram, hashBits))
    let any = 0
    for (let i = 0; i < found.length; i++) {
      found[i]! &= row[i]!
      any |= found[i]!
    }
    if (any === 0) return undefined
  }
  const numbers: number[] = []
  for (let i = 0; i < found.length; i++) {
    for (let bits = found[i]!; bits !== 0; bits &= bits - 1) {
      const block = i * 32 + 31 - Math.clz32(bits & -bits)
      if (block < blocks) numbers.push(block)
    }
  }
  return numbers
}
