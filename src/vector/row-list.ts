/**
 * Ascending rows as few bytes, in a code that follows from how many they are of how many. Of few of many, in Rice's code,
 * which is within some percent of what rows that lie at random need at all; of more, in one that is read several times as
 * fast. Such lists are few: all of an index take a twentieth more.
 *
 *     list   = count varint  [byte length varint, from `longList` rows on]  code, to a whole byte
 *     rice   = per row: as many zeros as the gap's upper bits say, a one, and its lower bits
 *     gaps   = per row: its gap as a byte, behind as many of 255 as it has times that
 *     bitmap = a bit for each of all rows up to the last of the list
 *
 * Bits are taken from the lowest on. Rice's code without lower bits is a bitmap.
 */

/** From so many rows on, a list can be passed over without reading it. */
export const longList = 16

/** Bytes at the end that reading may look at, and that belong to no list. */
export const listMargin = 4

/** In a byte of gaps: so many rows are passed over, and the gap goes on. */
export const longGap = 255

export type ListCode = 'rice' | 'gaps' | 'bitmap'

/** One of so many rows and more, in a list of `longList` rows or more. */
const [gapsFrom, bitmapFrom] = [64, 8]

/** @param isOlder whether the list was written when all were in Rice's code */
export function listCode(count: number, rowCount: number, isOlder: boolean): ListCode {
  if (lowerBits(count, rowCount) === 0) return 'bitmap'
  if (isOlder || count < longList || count * gapsFrom < rowCount) return 'rice'
  return count * bitmapFrom < rowCount ? 'gaps' : 'bitmap'
}

/** How many lower bits of a gap are written as they are in Rice's code. */
export function lowerBits(count: number, rowCount: number): number {
  // Near the least size. The product is exact: there are fewer rows than 2^31.
  let bits = 0
  for (let spread = count * 102; spread <= rowCount * 50; spread *= 2) bits++
  return bits
}

/** Lists end to end, growing at the end. */
export class RowListWriter {
  byteLength = 0
  #bytes = new Uint8Array(1 << 16)

  /** @param rows `from … to` of it are ascending rows below `rowCount` */
  push(rows: Int32Array, from: number, to: number, rowCount: number): void {
    const count = to - from
    this.#varint(count)
    if (count === 0) return
    const code = listCode(count, rowCount, false)
    const bits = code === 'rice' ? lowerBits(count, rowCount) : 0
    if (code === 'gaps') {
      const byteLength = gapsBytes(rows, from, to)
      this.#varint(byteLength)
      this.#reserve(byteLength)
      this.#gaps(rows, from, to)
      return
    }
    // A bit and the lower ones for each row, and zeros for no more than all rows.
    this.#reserve(10 + (count * (1 + bits) + (rowCount >> bits)) / 8)
    if (count >= longList) this.#varint(this.#codeBytes(rows, from, to, bits))
    this.byteLength = this.#code(rows, from, to, bits, this.byteLength)
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.byteLength)
  }

  #gaps(rows: Int32Array, from: number, to: number): void {
    let next = 0
    for (let i = from; i < to; i++) {
      let gap = rows[i]! - next
      next = rows[i]! + 1
      for (; gap >= longGap; gap -= longGap) this.#bytes[this.byteLength++] = longGap
      this.#bytes[this.byteLength++] = gap
    }
  }

  #codeBytes(rows: Int32Array, from: number, to: number, bits: number): number {
    let length = (to - from) * (1 + bits)
    let next = 0
    for (let i = from; i < to; i++) {
      length += (rows[i]! - next) >> bits
      next = rows[i]! + 1
    }
    return (length + 7) >> 3
  }

  #code(rows: Int32Array, from: number, to: number, bits: number, start: number): number {
    const bytes = this.#bytes
    let at = start * 8
    let next = 0
    for (let i = from; i < to; i++) {
      const gap = rows[i]! - next
      next = rows[i]! + 1
      at += gap >> bits
      bytes[at >> 3]! |= 1 << (at & 7)
      at++
      for (let bit = 0; bit < bits; bit++, at++) {
        bytes[at >> 3]! |= ((gap >> bit) & 1) << (at & 7)
      }
    }
    return (at + 7) >> 3
  }

  #varint(value: number): void {
    this.#reserve(5)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.byteLength++] = rest | 0x80
      rest >>>= 7
    }
    this.#bytes[this.byteLength++] = rest
  }

  #reserve(byteLength: number): void {
    const needed = this.byteLength + byteLength
    if (needed <= this.#bytes.length) return
    const bytes = new Uint8Array(Math.max(Math.ceil(needed), this.#bytes.length * 2))
    bytes.set(this.#bytes)
    this.#bytes = bytes
  }
}

function gapsBytes(rows: Int32Array, from: number, to: number): number {
  let length = to - from
  let next = 0
  for (let i = from; i < to; i++) {
    length += Math.floor((rows[i]! - next) / longGap)
    next = rows[i]! + 1
  }
  return length
}
