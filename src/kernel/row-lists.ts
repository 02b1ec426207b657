/** Reads lists of rows. */
import { bitmapOf, type RowBits } from '../vector/row-bits.ts'
import { listCode, longGap, longList, lowerBits } from '../vector/row-list.ts'
import type { RowSetBuilder } from '../vector/row-set.ts'
import { beginLoop, kernels, place, takeOutput } from './memory.ts'

/** Of a longer code, or of a set of more rows, loops have no copy. */
const mostBytes = 2 ** 17

/** Fewer rows take less time than to copy the set there and back. */
const loopedFrom = 256

/** Reads lists one after the other, out of bytes that `listMargin` more follow. */
export class RowListReader {
  readonly #bytes: Uint8Array
  readonly #rowCount: number
  readonly #isOlder: boolean
  /** Where the next list begins. */
  at: number

  /** @param isOlder whether lists were written when all were in Rice's code */
  constructor(bytes: Uint8Array, at: number, rowCount: number, isOlder: boolean) {
    this.#bytes = bytes
    this.#rowCount = rowCount
    this.#isOlder = isOlder
    this.at = at
  }

  /** Leaves a list out. */
  pass(): void {
    this.addTo(undefined)
  }

  /** Adds the rows of the next list to a set, if one is given, and returns how many they are. */
  addTo(set: RowSetBuilder | undefined): number {
    const count = this.#varint()
    if (count === 0) return 0
    if (count < longList) {
      const rows = set && new Int32Array(count)
      this.at = this.#code(count, rows)
      if (rows) set.addList(rows)
      return count
    }
    const byteLength = this.#varint()
    if (set) this.#addLong(count, byteLength, set)
    this.at += byteLength
    return count
  }

  #addLong(count: number, byteLength: number, set: RowSetBuilder): void {
    const code = listCode(count, this.#rowCount, this.#isOlder)
    if (code === 'bitmap') this.#bitmap(byteLength, set)
    else if (code === 'gaps') this.#gaps(byteLength, set.bits)
    else if (isLooped(count, byteLength, this.#rowCount)) {
      this.#longCode(count, byteLength, set.bits)
    } else {
      const rows = new Int32Array(count)
      this.#code(count, rows)
      set.addList(rows)
    }
  }

  #bitmap(byteLength: number, set: RowSetBuilder): void {
    const bytes = this.#bytes.subarray(this.at, this.at + byteLength)
    const isFirst = !set.hasBits
    const out = bitmapOf(set.bits)
    if (isFirst) out.set(bytes)
    else for (let i = 0; i < byteLength; i++) out[i]! |= bytes[i]!
  }

  #gaps(byteLength: number, rows: RowBits): void {
    const bytes = this.#bytes
    let row = 0
    for (let at = this.at; at < this.at + byteLength; at++) {
      const gap = bytes[at]!
      row += gap
      if (gap === longGap) continue
      rows[row >> 5]! |= 1 << (row & 31)
      row++
    }
  }

  #longCode(count: number, byteLength: number, rows: RowBits): void {
    const bits = lowerBits(count, this.#rowCount)
    beginLoop()
    const code = place(this.#bytes.subarray(this.at, this.at + byteLength), byteLength)
    // Of bytes no copy is kept.
    const bitmap = bitmapOf(rows)
    const out = place(bitmap, bitmap.length)
    kernels.addListedRows(code, count, bits, out)
    takeOutput(bitmap, bitmap.length, out)
  }

  /** Reads rows in Rice's code, and returns where it ends. */
  #code(count: number, rows: Int32Array | undefined): number {
    const bits = lowerBits(count, this.#rowCount)
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
      if (rows) rows[i] = row
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

function isLooped(count: number, byteLength: number, rowCount: number): boolean {
  return count >= loopedFrom && byteLength <= mostBytes && rowCount / 8 <= mostBytes
}
