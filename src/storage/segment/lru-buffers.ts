/** Keeps the buffers that were used last, up to a number of bytes. */
export class LruBuffers {
  readonly #maximumBytes: number
  /** In the order of their last use. */
  readonly #buffers = new Map<number, Buffer>()
  #byteLength = 0

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes
  }

  get(key: number): Buffer | undefined {
    const found = this.#buffers.get(key)
    if (found === undefined) return undefined
    this.#buffers.delete(key)
    this.#buffers.set(key, found)
    return found
  }

  /** `key` must be new. What takes more than all bytes is not kept. */
  set(key: number, buffer: Buffer): void {
    if (buffer.length > this.#maximumBytes) return
    this.#buffers.set(key, buffer)
    this.#byteLength += buffer.length
    for (const [oldest, { length }] of this.#buffers) {
      if (this.#byteLength <= this.#maximumBytes) return
      this.#buffers.delete(oldest)
      this.#byteLength -= length
    }
  }
}
