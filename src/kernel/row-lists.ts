/** Reads lists of rows. */
import { bitmapOf, type RowBits } from '../vector/row-bits.ts'
import { longList, lowerBits } from '../vector/row-list.ts'
import { beginLoop, kernels, place, takeOutput } from './memory.ts'

/** Of a longer code, or of a set of more rows, loops have no copy. */
const mostBytes = 2 ** 17

/** Fewer rows take less time than to copy the set there and back. */
const loopedFrom = 256

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
      else if (isLooped(count, byteLength, rows)) this.#longCode(count, bits, byteLength, rows)
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

  #longCode(count: number, bits: number, byteLength: number, rows: RowBits): void {
    beginLoop()
    const code = place(this.#bytes.subarray(this.at, this.at + byteLength), byteLength)
    // Of bytes no copy is kept.
    const bitmap = bitmapOf(rows)
    const out = place(bitmap, bitmap.length)
    kernels.addListedRows(code, count, bits, out)
    takeOutput(bitmap, bitmap.length, out)
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

function isLooped(count: number, byteLength: number, rows: RowBits): boolean {
  return count >= loopedFrom && byteLength <= mostBytes && rows.byteLength <= mostBytes
}
