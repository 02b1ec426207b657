/** Rows of bits, in words of 32: which numbers each group has. */

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

/** How many bits are set. */
export function countBits(bits: Int32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i]!
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    word = (word + (word >>> 4)) & 0x0f0f0f0f
    count += Math.imul(word, 0x01010101) >>> 24
  }
  return count
}
