/** What has been read of a stream of bytes and is not done with yet, as one piece. */
export class ByteWindow {
  readonly #chunks: AsyncIterator<Uint8Array>
  #memory = new Uint8Array(0)
  #start = 0
  #end = 0
  #isAtEnd = false

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Valid until `more` is called. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(this.#start, this.#end)
  }

  /** Whether nothing follows `bytes`. */
  get isAtEnd(): boolean {
    return this.#isAtEnd
  }

  /** Forgets the first so many bytes. */
  drop(count: number): void {
    this.#start += count
  }

  /**
   * Reads on: at least as much again as there is, so that who looks at all of it after each reading looks at
   * each byte a few times only. False when there is nothing more.
   */
  async more(): Promise<boolean> {
    const before = this.#end - this.#start
    const wanted = Math.max(2 * before, 1)
    while (!this.#isAtEnd && this.#end - this.#start < wanted) {
      const { done, value } = await this.#chunks.next()
      if (done) this.#isAtEnd = true
      else this.#append(value)
    }
    return this.#end - this.#start > before
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  #append(chunk: Uint8Array): void {
    const length = this.#end - this.#start
    if (this.#end + chunk.length > this.#memory.length) {
      const isRoomy = length + chunk.length <= this.#memory.length / 2
      const memory = isRoomy ? this.#memory : new Uint8Array(2 * (length + chunk.length))
      if (isRoomy) memory.copyWithin(0, this.#start, this.#end)
      else memory.set(this.bytes)
      this.#memory = memory
      this.#start = 0
      this.#end = length
    }
    this.#memory.set(chunk, this.#end)
    this.#end += chunk.length
  }
}
