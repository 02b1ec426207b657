/**
 * Bytes that are stored in chunks and read by the chunk when they are first needed: LMDB copies what
 * is smaller than a large segment, and a search reads a few pages of an index.
 */
import { LRUCache } from 'lru-cache'

/** A chunk and the head of LMDB's page fill 16 pages. */
export const chunkBytes = 16 * 4096 - 16

export type ReadChunk = (chunk: number) => Uint8Array

export class ChunkedBytes {
  /** Zeros where nothing was loaded; the system gives memory only to what is written. */
  readonly bytes: Uint8Array
  /** Of chunks that were loaded, and of what whoever reads them keeps besides. */
  heldBytes = 0
  readonly #isLoaded: Uint8Array
  readonly #read: ReadChunk

  constructor(byteLength: number, read: ReadChunk) {
    this.bytes = new Uint8Array(byteLength)
    this.#isLoaded = new Uint8Array(Math.ceil(byteLength / chunkBytes))
    this.#read = read
  }

  /** Makes the bytes `from … to` be there. */
  load(from: number, to: number): void {
    for (let chunk = Math.floor(from / chunkBytes); chunk * chunkBytes < to; chunk++) {
      if (this.#isLoaded[chunk] === 1) continue
      const bytes = this.#read(chunk)
      this.bytes.set(bytes, chunk * chunkBytes)
      this.#isLoaded[chunk] = 1
      this.heldBytes += bytes.length
    }
  }
}

/** Bytes of indexes that a thread keeps. */
const keptBytes = 2 ** 26
const keptIndexes = 1024

/** The values that were used last, by an object that each is of. */
export class KeptBytes<Value extends { readonly chunked: ChunkedBytes }> {
  readonly #kept = new LRUCache<object, Value>({
    max: keptIndexes,
    maxSize: keptBytes,
    sizeCalculation: ({ chunked }) => chunked.heldBytes + 1,
  })

  get(of: object): Value | undefined {
    return this.#kept.get(of)
  }

  /** To be called whenever it holds more, too. */
  set(of: object, value: Value): void {
    this.#kept.set(of, value)
  }
}
