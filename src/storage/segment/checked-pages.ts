/**
 * Bytes of which a search reads few, with a checksum for each page of them that is compared when a
 * thread first reads it.
 */
import { crc32 } from 'node:zlib'

const pageBytes = 4096

function pageCount(byteLength: number): number {
  return Math.ceil(byteLength / pageBytes)
}

/** How many bytes `withChecksums` makes of so many, which are a multiple of 4. */
export function checkedBytes(byteLength: number): number {
  return byteLength + pageCount(byteLength) * 4
}

/** The bytes, a multiple of 4, and the checksums of their pages behind them. */
export function withChecksums(content: Uint8Array): Uint8Array {
  const checked = new Uint8Array(checkedBytes(content.length))
  checked.set(content)
  const checksums = new Int32Array(checked.buffer, content.length)
  for (let page = 0; page < checksums.length; page++) {
    checksums[page] = crc32(content.subarray(page * pageBytes, (page + 1) * pageBytes))
  }
  return checked
}

/** What a thread has checked of some bytes: kept for as long as it knows the segment. */
export class CheckedPages {
  readonly #isChecked: Uint8Array
  readonly #load: ((from: number, to: number) => void) | undefined

  /**
   * @param load given if bytes have to be fetched before they are read: called with places of what
   *   `withChecksums` made
   */
  constructor(byteLength: number, load?: (from: number, to: number) => void) {
    this.#isChecked = new Uint8Array(pageCount(byteLength))
    this.#load = load
  }

  /** Throws what `corrupt` makes if one of the bytes `from … to` of `content` may be damaged. */
  check(
    content: Uint8Array,
    checksums: Int32Array,
    from: number,
    to: number,
    corrupt: () => Error,
  ): void {
    const last = Math.floor((to - 1) / pageBytes)
    for (let page = Math.floor(from / pageBytes); page <= last; page++) {
      if (this.#isChecked[page] === 1) continue
      const end = Math.min(content.length, (page + 1) * pageBytes)
      this.#load?.(page * pageBytes, end)
      this.#load?.(content.length + page * 4, content.length + (page + 1) * 4)
      if ((crc32(content.subarray(page * pageBytes, end)) | 0) !== checksums[page]) throw corrupt()
      this.#isChecked[page] = 1
    }
  }
}

/** Bytes that are checked as they are read. */
export class PagedBytes {
  readonly content: Uint8Array
  readonly #checksums: Int32Array
  readonly #pages: CheckedPages
  readonly #corrupt: () => Error

  /** @param bytes what `withChecksums` made of `byteLength` bytes */
  constructor(bytes: Uint8Array, byteLength: number, pages: CheckedPages, corrupt: () => Error) {
    this.content = bytes.subarray(0, byteLength)
    const { buffer, byteOffset } = bytes
    this.#checksums = new Int32Array(buffer, byteOffset + byteLength, pageCount(byteLength))
    this.#pages = pages
    this.#corrupt = corrupt
  }

  /** To be called before the bytes `from … to` are read. */
  check(from: number, to: number): void {
    if (to > from) this.#pages.check(this.content, this.#checksums, from, to, this.#corrupt)
  }
}
