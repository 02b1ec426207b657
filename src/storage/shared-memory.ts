/**
 * Memory that threads share, used again and again: memory that is new takes a millisecond per megabyte to fill, and
 * what is shared is nothing that V8 counts when it decides when to look for garbage. Gigabytes of it stayed.
 */
export class SharedMemory {
  readonly #mostBytes: number
  readonly #own = new WeakSet<ArrayBufferLike>()
  #free: SharedArrayBuffer[] = []
  #bytes = 0

  /** @param mostBytes all that there is, whether it is in use or not */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** At least so many bytes; undefined when they would be more than half of all, or all is in use. */
  take(needed: number): SharedArrayBuffer | undefined {
    return this.#found(needed) ?? this.#made(needed)
  }

  /** Takes back what `take` gave, which no thread reads any more. Other memory is left alone. */
  giveBack(memory: ArrayBufferLike): void {
    if (memory instanceof SharedArrayBuffer && this.#own.has(memory)) this.#free.push(memory)
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
    if (needed > this.#mostBytes / 2) return undefined
    while (this.#bytes + needed > this.#mostBytes) {
      const dropped = this.#free.shift()
      if (!dropped) return undefined
      this.#bytes -= dropped.byteLength
    }
    this.#bytes += needed
    const memory = new SharedArrayBuffer(needed)
    this.#own.add(memory)
    return memory
  }
}
