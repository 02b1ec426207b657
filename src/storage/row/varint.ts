/** Whole numbers in as few bytes as they need: seven bits in each, the lowest first. */
import type { ByteWriter } from '../../json/byte-writer.ts'

export function writeVarint(out: ByteWriter, value: number): void {
  let rest = value
  while (rest > 0x7f) {
    out.byte((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  out.byte(rest)
}

export class VarintReader {
  at: number
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  next(): number {
    let byte = this.#bytes[this.at++]!
    if (byte <= 0x7f) return byte
    let value = 0
    let scale = 1
    while (byte > 0x7f) {
      value += (byte & 0x7f) * scale
      scale *= 0x80
      byte = this.#bytes[this.at++]!
    }
    return value + byte * scale
  }
}
