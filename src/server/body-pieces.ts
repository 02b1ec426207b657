import { copyWhole } from '../json/copy-bytes.ts'

/** Smaller chunks are gathered, as each would take more than its bytes. */
const smallChunkBytes = 16 * 1024

/** What is moved within a turn of the event loop: a millisecond of work. */
const movedBytes = 2 * 2 ** 20

/**
 * The bytes of a body on their way into one piece. They are kept in the pieces that they came in until there is a place
 * for all of them, and then moved there, some of them a turn: a hundred megabytes take a tenth of a second.
 */
export class BodyPieces {
  #length = 0
  #pieces: Uint8Array[] = []
  /** The end of the pieces, where small chunks are gathered. */
  #tail: Buffer | undefined
  #tailLength = 0
  #whole: Buffer | undefined
  /** How many pieces were moved to the whole, and their bytes. */
  #moved = { pieces: 0, bytes: 0 }

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
    } else if (chunk.length >= smallChunkBytes) this.keep(chunk.slice())
    else this.#gather(chunk)
  }

  /** Takes a chunk that nobody else writes to. To be called only while there is no place. */
  keep(chunk: Uint8Array): void {
    this.#closeTail()
    this.#pieces.push(chunk)
    this.#length += chunk.length
  }

  /** All that has come, where it is one piece already; undefined otherwise. */
  get single(): Uint8Array | undefined {
    if (this.#whole) return undefined
    this.#closeTail()
    return this.#pieces.length === 1 ? this.#pieces[0] : undefined
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
    while (moved.pieces < this.#pieces.length && moved.bytes < enough) {
      const piece = this.#pieces[moved.pieces]!
      copyWhole(piece, this.#whole!, moved.bytes)
      // Only the whole is needed from here on.
      this.#pieces[moved.pieces] = nothing
      moved.pieces++
      moved.bytes += piece.length
    }
    return moved.pieces === this.#pieces.length
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
      this.#pieces.push(this.#tail.subarray(0, this.#tailLength))
    }
    this.#tail = undefined
    this.#tailLength = 0
  }
}

const nothing = new Uint8Array(0)
