/** Reads lists of rows. */
import { bitmapOf, type RowBits } from '../vector/row-bits.ts'
import { listCode, listMargin, longGap, longList, lowerBits } from '../vector/row-list.ts'
import { beginKernel, kernels, bytes as memory, place, stageBytes, takeOutput } from './arena.ts'
import { addAll } from './bit-rows.ts'
import type { RowSetBuilder } from './row-sets.ts'

/** Of a longer code, or of a set of more rows, kernels have no copy. */
const mostBytes = 2 ** 17

/** Fewer rows take less time than to copy the set there and back. */
const loopedFrom = 256

/** What is read at once, for lengths and short lists. */
const windowBytes = 512

/** Of a list of fewer than `longList` rows with its lengths, and more. */
const shortBytes = 128

/** Where lists are, of which `listMargin` more follow. */
export interface ListBytes {
  readonly byteLength: number
  view(from: number, to: number): Uint8Array
  copy(from: number, to: number, out: Uint8Array): void
}

/** Reads lists one after the other, and of long ones that are left out only how long they are. */
export class RowListReader {
  readonly #source: ListBytes
  readonly #rowCount: number
  readonly #isOlder: boolean
  /** What is being read, and where of the source it begins. */
  #window: Uint8Array = new Uint8Array(0)
  #start = 0
  /** Where the next list begins. */
  at: number

  /** @param isOlder whether lists were written when all were in Rice's code */
  constructor(source: ListBytes, at: number, rowCount: number, isOlder: boolean) {
    this.#source = source
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
    if (this.at + shortBytes > this.#start + this.#window.length) this.#read(windowBytes)
    const count = this.#varint()
    if (count === 0) return 0
    if (count < longList) {
      const rows = set && new Int32Array(count)
      this.at = this.#rice(count, rows)
      if (rows) set.addList(rows)
      return count
    }
    const byteLength = this.#varint()
    if (set) this.#addLong(count, byteLength, set)
    this.at += byteLength
    return count
  }

  /** So many bytes from the next list on, or as many as there are. */
  #read(byteLength: number): void {
    const { at } = this
    this.#window = this.#source.view(at, Math.min(this.#source.byteLength, at + byteLength))
    this.#start = at
  }

  #addLong(count: number, byteLength: number, set: RowSetBuilder): void {
    const code = listCode(count, this.#rowCount, this.#isOlder)
    if (code === 'bitmap') this.#bitmap(byteLength, set)
    else if (isLooped(count, byteLength, this.#rowCount)) {
      const bits = code === 'gaps' ? undefined : lowerBits(count, this.#rowCount)
      this.#apply(count, byteLength, bits, set.bits)
    } else {
      const rows = new Int32Array(count)
      this.#read(byteLength + listMargin)
      if (code === 'gaps') this.#gaps(rows)
      else this.#rice(count, rows)
      set.addList(rows)
    }
  }

  #bitmap(byteLength: number, set: RowSetBuilder): void {
    const from = this.at
    if (!set.hasBits) {
      this.#source.copy(from, from + byteLength, bitmapOf(set.bits))
      return
    }
    const others = new Int32Array(set.bits.length)
    this.#source.copy(from, from + byteLength, bitmapOf(others))
    addAll(set.bits, others)
  }

  /** @param bits lower bits of Rice's code; undefined: gaps are bytes */
  #apply(count: number, byteLength: number, bits: number | undefined, rows: RowBits): void {
    beginKernel()
    const code = stageBytes(byteLength)
    this.#source.copy(this.at, this.at + byteLength, memory.subarray(code, code + byteLength))
    // Of bytes no copy is kept.
    const bitmap = bitmapOf(rows)
    const out = place(bitmap, bitmap.length)
    if (bits === undefined) kernels.addNearRows(code, byteLength, out)
    else kernels.addListedRows(code, count, bits, out)
    takeOutput(bitmap, bitmap.length, out)
  }

  #gaps(rows: Int32Array): void {
    const window = this.#window
    let row = 0
    for (let i = 0, at = this.at - this.#start; i < rows.length; at++) {
      const gap = window[at]!
      row += gap
      if (gap !== longGap) rows[i++] = row++
    }
  }

  /** Reads rows in Rice's code, and returns where it ends. */
  #rice(count: number, rows: Int32Array | undefined): number {
    const bits = lowerBits(count, this.#rowCount)
    const { buffer, byteOffset, byteLength } = this.#window
    const view = new DataView(buffer, byteOffset, byteLength)
    const mask = (1 << bits) - 1
    let at = (this.at - this.#start) * 8
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
    return this.#start + ((at + 7) >> 3)
  }

  #varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#window[this.at++ - this.#start]!
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
}

function isLooped(count: number, byteLength: number, rowCount: number): boolean {
  return count >= loopedFrom && byteLength <= mostBytes && rowCount / 8 <= mostBytes
}
