import { copyOf, copyWhole } from '../json/copy-bytes.ts'

/** Smaller chunks are gathered, as each would take more than its bytes. */
const smallChunkBytes = 16 * 1024

/** What is moved within a turn of the event loop: a millisecond of work. */
const movedBytes = 2 * 2 ** 20

/**
 * The bytes of a body on their way into one array. They are kept in the chunks that they came in until there is a place
 * for all of them, and then moved there, some of them a turn: a hundred megabytes take a tenth of a second.
 */
export class BodyChunks {
  #length = 0
  #chunks: Uint8Array[] = []
  /** The last of the chunks, in which small ones are gathered. */
  #tail: Buffer | undefined
  #tailLength = 0
  #whole: Buffer | undefined
  /** How many chunks were moved to the whole, and their bytes. */
  #moved = { chunks: 0, bytes: 0 }

  /** Of all that has come. */
  get length(): number {
    return this.#length
  }

  get hasPlace(): boolean {
    return this.#whole !== undefined
  }

  /** Copies a chunk, which is only lent. One that is small takes no more than its bytes. */
  add(chunk: Uint8Array): void {
    if (this.#whole) {
      copyWhole(chunk, this.#whole, this.#length)
      this.#length += chunk.length
      this.move()
    } else if (chunk.length >= smallChunkBytes) this.keep(copyOf(chunk))
    else this.#gather(chunk)
  }

  /** Takes a chunk that nobody else writes to. To be called only while there is no place. */
  keep(chunk: Uint8Array): void {
    this.#closeTail()
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** All that has come, where that is one chunk; undefined otherwise. */
  get single(): Uint8Array | undefined {
    if (this.#whole) return undefined
    this.#closeTail()
    return this.#chunks.length === 1 ? this.#chunks[0] : undefined
  }

  /** Gives a place for all that has come and is still to come. What has come has to be moved there. */
  place(whole: Buffer): void {
    this.#closeTail()
    this.#whole = whole
  }

  /** Moves some of what had come before there was a place. False while there is more. */
  move(): boolean {
    const moved = this.#moved
    const enough = moved.bytes + movedBytes
    while (moved.chunks < this.#chunks.length && moved.bytes < enough) {
      const chunk = this.#chunks[moved.chunks]!
      copyWhole(chunk, this.#whole!, moved.bytes)
      // Only the whole is needed from here on.
      this.#chunks[moved.chunks] = nothing
      moved.chunks++
      moved.bytes += chunk.length
    }
    return moved.chunks === this.#chunks.length
  }

  /** To be called once all is moved. */
  get whole(): Uint8Array {
    return this.#whole!.subarray(0, this.#length)
  }

  #gather(chunk: Uint8Array): void {
    if (!this.#tail || this.#tailLength + chunk.length > this.#tail.length) {
      this.#closeTail()
      const size = Math.min(Math.max(this.#length, 1024), 4 * smallChunkBytes)
      this.#tail = Buffer.allocUnsafeSlow(Math.max(size, chunk.length))
    }
    this.#tail.set(chunk, this.#tailLength)
    this.#tailLength += chunk.length
    this.#length += chunk.length
  }

  #closeTail(): void {
    if (this.#tail && this.#tailLength > 0) {
      this.#chunks.push(this.#tail.subarray(0, this.#tailLength))
    }
    this.#tail = undefined
    this.#tailLength = 0
  }
}

const nothing = new Uint8Array(0)
