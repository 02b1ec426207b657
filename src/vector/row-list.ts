/**
 * Ascending rows as few bits: the gaps between them in Rice's code, which is within some percent of
 * what rows that lie at random need at all. The parameter follows from how many rows there are.
 *
 *     list = count varint  [byte length varint, from `longList` rows on]  code, to a whole byte
 *     code = per row: as many zeros as the gap's upper bits say, a one, and its lower bits
 *
 * Bits are taken from the lowest on. Without lower bits, which is so for rows that are more than half
 * of all, the code is a bitmap of them.
 */
import { bitmapOf, type RowBits } from './row-bits.ts'

/** From so many rows on, a list can be passed over without reading it. */
const longList = 16

/** Bytes at the end that reading may look at, and that belong to no list. */
export const listMargin = 4

/** How many lower bits of a gap are written as they are. */
function lowerBits(count: number, rowCount: number): number {
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
    const bits = lowerBits(count, rowCount)
    // A bit and the lower ones for each row, and zeros for no more than all rows.
    this.#reserve(10 + (count * (1 + bits) + (rowCount >> bits)) / 8)
    if (count < longList) {
      this.byteLength = this.#code(rows, from, to, bits, this.byteLength)
      return
    }
    const codeBytes = this.#codeBytes(rows, from, to, bits)
    this.#varint(codeBytes)
    this.byteLength = this.#code(rows, from, to, bits, this.byteLength)
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.byteLength)
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

/** Reads lists one after the other, out of bytes that `listMargin` more follow. */
export class RowListReader {
  readonly #bytes: Uint8Array
  readonly #rowCount: number
  /** Where the next list begins. */
  at: number

  constructor(bytes: Uint8Array, at: number, rowCount: number) {
    this.#bytes = bytes
    this.#rowCount = rowCount
    this.at = at
  }

  /** Leaves a list out. */
  pass(): void {
    this.addTo(undefined)
  }

  /** Adds the rows of the next list to a set, if one is given, and returns how many they are. */
  addTo(rows: RowBits | undefined): number {
    const count = this.#varint()
    if (count === 0) return 0
    const bits = lowerBits(count, this.#rowCount)
    if (count < longList) {
      this.at = this.#code(count, bits, rows)
      return count
    }
    const byteLength = this.#varint()
    if (rows) {
      if (bits === 0) this.#bitmap(byteLength, rows)
      else this.#code(count, bits, rows)
    }
    this.at += byteLength
    return count
  }

  #bitmap(byteLength: number, rows: RowBits): void {
    const bytes = this.#bytes
    const out = bitmapOf(rows)
    for (let i = 0, at = this.at; i < byteLength; i++, at++) out[i]! |= bytes[at]!
  }

  /** Returns where the code ends. */
  #code(count: number, bits: number, rows: RowBits | undefined): number {
    const { buffer, byteOffset, byteLength } = this.#bytes
    const view = new DataView(buffer, byteOffset, byteLength)
    const mask = (1 << bits) - 1
    let at = this.at * 8
    let row = -1
    for (let i = 0; i < count; i++) {
      let upper = 0
      // 25 bits of a window count, wherever in a byte it begins.
      let window = view.getInt32(at >> 3, true) >>> (at & 7)
      while ((window & 0x1ffffff) === 0) {
        upper += 25
        at += 25
        window = view.getInt32(at >> 3, true) >>> (at & 7)
      }
      const zeros = 31 - Math.clz32(window & -window)
      upper += zeros
      at += zeros + 1
      // Most gaps lie in one window.
      const lower =
        zeros + bits < 25 ? window >>> (zeros + 1) : view.getInt32(at >> 3, true) >>> (at & 7)
      row += 1 + ((upper << bits) | (lower & mask))
      at += bits
      if (rows) rows[row >> 5]! |= 1 << (row & 31)
    }
    return (at + 7) >> 3
  }

  #varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.at++]!
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
}
