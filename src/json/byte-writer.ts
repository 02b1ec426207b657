/**
 * A growing byte buffer. What was written is read as a view, so nothing is copied when it is taken
 * whole. Its memory is never pooled: it may be transferred to another thread.
 */
export class ByteWriter {
  #bytes: Buffer
  #length = 0

  constructor(capacity = 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
  }

  get length(): number {
    return this.#length
  }

  /** Makes room for `extra` bytes, so that they can be written without growing again. */
  reserve(extra: number): void {
    const needed = this.#length + extra
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.ceil(this.#bytes.length * 1.5)))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.reserve(1)
    this.#bytes[this.#length++] = value
  }

  copy(source: Uint8Array, start = 0, end = source.length): void {
    const count = end - start
    if (this.#length + count > this.#bytes.length) this.reserve(count)
    if (count < 24) {
      // A short loop beats the cost of making a view (tens of nanoseconds).
      const target = this.#bytes
      for (let i = start, at = this.#length; i < end; i++, at++) target[at] = source[i]!
    } else {
      this.#bytes.set(source.subarray(start, end), this.#length)
    }
    this.#length += count
  }

  /** Appends the UTF-8 form of `text`. */
  text(text: string): void {
    this.reserve(text.length * 3)
    this.#length += this.#bytes.write(text, this.#length, 'utf8')
  }

  /** Leaves `count` bytes for the caller to fill in through `view`. */
  skip(count: number): void {
    this.reserve(count)
    this.#length += count
  }

  /** Drops what was written after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length
  }

  /** What was written, without copying. Writing more may leave the view behind. */
  view(start = 0, end = this.#length): Buffer {
    return this.#bytes.subarray(start, end)
  }
}
