/** Bodies that are smaller go together, and are copied. */
const fewestBytes = 128 * 1024

/** Behind a body there is so many times its length for what threads make of it: rows take 1.6 times as much. */
const roomPerByte = 2
const step = 2 ** 20

/** All that there is, whether it is in use or not. */
const mostBytes = 64 * 2 ** 20

/**
 * Memory of large bodies of rows that threads share, so that neither a body nor its rows are copied from thread to
 * thread. It is used again and again, as memory that is new takes a millisecond per megabyte to fill, and what is
 * shared is nothing that V8 counts when it decides when to look for garbage: hundreds of megabytes stayed.
 */
export class BodyMemory {
  #free: SharedArrayBuffer[] = []
  #bytes = 0

  /** So many bytes, whose buffer goes on behind them; undefined where other memory serves as well. */
  take(bytes: number): Buffer | undefined {
    if (bytes < fewestBytes) return undefined
    const needed = Math.ceil((bytes * (1 + roomPerByte)) / step) * step
    const memory = this.#found(needed) ?? this.#made(needed)
    return memory && Buffer.from(memory, 0, bytes)
  }

  /** Takes back what `take` gave, which nobody reads any more. */
  giveBack({ buffer }: Buffer): void {
    if (buffer instanceof SharedArrayBuffer) this.#free.push(buffer)
  }

  /** The smallest that is large enough, and not by far too large. */
  #found(needed: number): SharedArrayBuffer | undefined {
    let found: SharedArrayBuffer | undefined
    for (const memory of this.#free) {
      const { byteLength } = memory
      if (byteLength < needed || byteLength > needed * 4) continue
      if (!found || byteLength < found.byteLength) found = memory
    }
    if (found) this.#free = this.#free.filter((memory) => memory !== found)
    return found
  }

  /** In place of what does not serve now, if there would be too much. */
  #made(needed: number): SharedArrayBuffer | undefined {
    if (needed > mostBytes / 2) return undefined
    while (this.#bytes + needed > mostBytes) {
      const dropped = this.#free.shift()
      if (!dropped) return undefined
      this.#bytes -= dropped.byteLength
    }
    this.#bytes += needed
    return new SharedArrayBuffer(needed)
  }
}
