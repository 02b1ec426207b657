/** Rows of JSON as bytes, one after another, each ended by a line break. */

export class RowBuffer {
  #bytes = Buffer.allocUnsafe(4 << 20)
  #length = 0

  /** What was added since the last `clear`; valid until then. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  clear(): void {
    this.#length = 0
  }

  text(text: string): void {
    this.#reserve(text.length * 3)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** Bytes `from` to `to` of some other buffer: words are too short for a call of `copy` to pay. */
  copy(source: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from)
    const bytes = this.#bytes
    let at = this.#length
    for (let i = from; i < to; i++) bytes[at++] = source[i]!
    this.#length = at
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe((this.#length + more) * 2)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
