/** Writes values in the form of ClickHouse's RowBinary: no text is parsed by the server, and none is quoted here. */
import { ByteWriter } from '../json/byte-writer.ts'
import type { RowKey } from '../type/transaction.ts'

/** Types of values in a column of JSON, which come before each value. */
const dynamic = { float64: 0x0e, string: 0x15, bool: 0x2d } as const

const bytesPer64 = 8

/** Texts of so many characters have fewer than 128 bytes. */
const longestNear = 42

export class BinaryRows {
  readonly out: ByteWriter

  constructor(out = new ByteWriter()) {
    this.out = out
  }

  byte(value: number): void {
    this.out.byte(value)
  }

  flag(value: boolean): void {
    this.out.byte(value ? 1 : 0)
  }

  uint32(value: number): void {
    const at = this.#skip(4)
    this.out.bytes.writeUInt32LE(value, at)
  }

  /** Of 48 bits. */
  uint64(value: number): void {
    const at = this.#skip(bytesPer64)
    this.out.bytes.writeUIntLE(value, at, 6)
    this.out.bytes.writeUInt16LE(0, at + 6)
  }

  /** Of 64 bits: transaction × 65536 + index. */
  rowKey({ transaction, index }: RowKey): void {
    const at = this.#skip(bytesPer64)
    this.out.bytes.writeUInt16LE(index, at)
    this.out.bytes.writeUIntLE(transaction, at + 2, 6)
  }

  greatestUint64(): void {
    // Before the memory is named, which may be other memory once it has grown.
    const at = this.#skip(bytesPer64)
    this.out.bytes.fill(0xff, at, at + bytesPer64)
  }

  int64(value: bigint): void {
    const at = this.#skip(bytesPer64)
    this.out.bytes.writeBigInt64LE(value, at)
  }

  /** How many bytes or elements follow. */
  count(value: number): void {
    let left = value
    while (left >= 0x80) {
      this.out.byte((left & 0x7f) | 0x80)
      left = Math.floor(left / 0x80)
    }
    this.out.byte(left)
  }

  text(value: string): void {
    const { out } = this
    if (value.length <= longestNear) {
      // Its length fits one byte, which is known once the text is written.
      const at = out.length
      out.byte(0)
      out.text(value)
      out.bytes[at] = out.length - at - 1
      return
    }
    const length = Buffer.byteLength(value)
    this.count(length)
    this.out.text(value)
  }

  bytes(source: Uint8Array, start: number, end: number): void {
    this.count(end - start)
    this.out.copy(source, start, end)
  }

  dynamicNumber(value: number): void {
    this.out.byte(dynamic.float64)
    const at = this.#skip(bytesPer64)
    this.out.bytes.writeDoubleLE(value, at)
  }

  dynamicBoolean(value: boolean): void {
    this.out.byte(dynamic.bool)
    this.flag(value)
  }

  /** The text follows. */
  dynamicText(): void {
    this.out.byte(dynamic.string)
  }

  append({ out }: BinaryRows): void {
    this.out.copy(out.bytes, 0, out.length)
  }

  clear(): void {
    this.out.truncate(0)
  }

  #skip(count: number): number {
    const at = this.out.length
    this.out.skip(count)
    return at
  }
}
