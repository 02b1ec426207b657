/**
 * Bytes that are stored in chunks: LMDB copies what is smaller than a large segment, and a search reads a few
 * pages of an index. They are fetched page by page, checked, and kept as pages of their own. An array of all of
 * them, of which most is never written, takes memory for all of it once the allocator gives out what was used
 * before; and of a chunk a search mostly needs one page.
 */
import { LRUCache } from 'lru-cache'
import { type CheckedBytes, checkedPageBytes, checkPage, pageCount } from './checked-pages.ts'

/** A chunk and the head of LMDB's page fill 16 pages. */
export const chunkBytes = 16 * 4096 - 16

/** What it gives is good until the next one is read. */
export type ReadChunk = (chunk: number) => Uint8Array

/** Longer stretches are given without being kept by the page: who asks for them again keeps them. */
const mostKeptPages = 16

/** What a page takes besides its bytes. */
const pageOverhead = 256

/** What `withChecksums` made, from a place in chunked bytes on. */
export class FetchedBytes implements CheckedBytes {
  readonly byteLength: number
  readonly #offset: number
  readonly #read: ReadChunk
  readonly #keeps: (byteLength: number) => void
  readonly #corrupt: () => Error
  readonly #pages: (Uint8Array | undefined)[] = []
  #checksums: Int32Array | undefined

  /**
   * @param byteLength without checksums
   * @param keeps is told of bytes that stay in memory
   * @param corrupt makes the error that is thrown when a page was damaged
   */
  constructor(
    place: { readonly offset: number; readonly byteLength: number },
    read: ReadChunk,
    keeps: (byteLength: number) => void,
    corrupt: () => Error,
  ) {
    this.byteLength = place.byteLength
    this.#offset = place.offset
    this.#read = read
    this.#keeps = keeps
    this.#corrupt = corrupt
  }

  view(from: number, to: number): Uint8Array {
    if (to <= from) return none
    const first = Math.floor(from / checkedPageBytes)
    const last = Math.floor((to - 1) / checkedPageBytes)
    const start = first * checkedPageBytes
    if (first === last) return this.#page(first).subarray(from - start, to - start)
    if (last - first >= mostKeptPages) return this.whole(from, to)
    const bytes = new Uint8Array(to - from)
    this.copy(from, to, bytes)
    return bytes
  }

  copy(from: number, to: number, out: Uint8Array): void {
    if (to <= from) return
    const first = Math.floor(from / checkedPageBytes)
    const last = Math.floor((to - 1) / checkedPageBytes)
    this.#keep(first, last)
    for (let page = first; page <= last; page++) {
      const at = page * checkedPageBytes
      const part = this.#page(page).subarray(Math.max(0, from - at), to - at)
      out.set(part, Math.max(0, at - from))
    }
  }

  /** Page by page, each would have LMDB copy its chunk. */
  whole(from: number, to: number): Uint8Array {
    if (to <= from) return none
    const first = Math.floor(from / checkedPageBytes)
    const last = Math.floor((to - 1) / checkedPageBytes)
    const start = first * checkedPageBytes
    return this.#fetch(first, last).subarray(from - start, to - start)
  }

  #page(page: number): Uint8Array {
    if (!this.#pages[page]) this.#keep(page, page)
    return this.#pages[page]!
  }

  /** Fetches those of the pages that are not kept; what lies together at once, as each would have LMDB copy its chunk. */
  #keep(first: number, last: number): void {
    const pages = this.#pages
    for (let from = first; from <= last; from++) {
      if (pages[from]) continue
      let to = from
      while (to < last && !pages[to + 1]) to++
      const bytes = this.#fetch(from, to)
      for (let page = from; page <= to; page++) {
        const at = (page - from) * checkedPageBytes
        pages[page] = bytes.subarray(at, at + checkedPageBytes)
      }
      this.#keeps(bytes.length + pageOverhead * (to - from + 1))
      from = to
    }
  }

  /** Whole pages, checked. */
  #fetch(first: number, last: number): Uint8Array {
    const from = first * checkedPageBytes
    const bytes = this.#copy(from, Math.min(this.byteLength, (last + 1) * checkedPageBytes))
    const checksums = this.#allChecksums()
    for (let page = first; page <= last; page++) {
      const at = page * checkedPageBytes - from
      checkPage(bytes.subarray(at, at + checkedPageBytes), checksums[page]!, this.#corrupt)
    }
    return bytes
  }

  #allChecksums(): Int32Array {
    if (!this.#checksums) {
      const { byteLength } = this
      const { buffer } = this.#copy(byteLength, byteLength + pageCount(byteLength) * 4)
      this.#checksums = new Int32Array(buffer)
      this.#keeps(buffer.byteLength)
    }
    return this.#checksums
  }

  #copy(from: number, to: number): Uint8Array {
    const bytes = new Uint8Array(to - from)
    const end = this.#offset + to
    for (let at = this.#offset + from; at < end; ) {
      const chunk = Math.floor(at / chunkBytes)
      const start = chunk * chunkBytes
      const part = this.#read(chunk).subarray(at - start, end - start)
      bytes.set(part, at - this.#offset - from)
      at += part.length
    }
    return bytes
  }
}

const none = new Uint8Array(0)

/** Bytes of indexes that a thread keeps: more than those of ninety segments of 56,000 rows, which take some 0.8 MB each. */
export const cachedBytes = 2 ** 27
const keptIndexes = 4096

/** What a thread has in memory of an index. */
export interface Held {
  heldBytes: number
}

/** The values that were used last, by an object that each is of. */
export class ByteCache<Value extends Held> {
  readonly #kept = new LRUCache<object, Value>({
    max: keptIndexes,
    maxSize: cachedBytes,
    sizeCalculation: ({ heldBytes }) => heldBytes + 1,
  })

  get(of: object): Value | undefined {
    return this.#kept.get(of)
  }

  /** To be called whenever it holds more, too. */
  set(of: object, value: Value): void {
    // A value that is there already is not asked again what it holds.
    this.#kept.delete(of)
    this.#kept.set(of, value)
  }
}
