/**
 * Bytes of which a search reads few, with a checksum for each page of them that is compared when a
 * thread first reads it.
 */
import { crc32 } from 'node:zlib'

export const checkedPageBytes = 4096

export function pageCount(byteLength: number): number {
  return Math.ceil(byteLength / checkedPageBytes)
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
    const from = page * checkedPageBytes
    checksums[page] = crc32(content.subarray(from, from + checkedPageBytes))
  }
  return checked
}

/** Throws what `corrupt` makes if the page is not the one of the checksum. */
export function checkPage(page: Uint8Array, checksum: number, corrupt: () => Error): void {
  if ((crc32(page) | 0) !== checksum) throw corrupt()
}

/** What `withChecksums` made, to be read in parts; reading throws when a page was damaged. */
export interface CheckedBytes {
  /** Without the checksums. */
  readonly byteLength: number
  /** The bytes `from … to`; where `from` is a multiple of 4, integers may lie over them. */
  view(from: number, to: number): Uint8Array
  /** Writes them where they are needed. */
  copy(from: number, to: number, out: Uint8Array): void
  /** Gives them to who keeps what is given: it is read at once, and nothing of it is kept here. */
  whole(from: number, to: number): Uint8Array
}

/** What a thread has checked of some bytes: kept for as long as it knows the segment. */
export class CheckedPages {
  readonly #isChecked: Uint8Array

  constructor(byteLength: number) {
    this.#isChecked = new Uint8Array(pageCount(byteLength))
  }

  /** Throws what `corrupt` makes if one of the bytes `from … to` of `content` may be damaged. */
  check(
    content: Uint8Array,
    checksums: Int32Array,
    from: number,
    to: number,
    corrupt: () => Error,
  ): void {
    const last = Math.floor((to - 1) / checkedPageBytes)
    for (let page = Math.floor(from / checkedPageBytes); page <= last; page++) {
      if (this.#isChecked[page] === 1) continue
      const start = page * checkedPageBytes
      checkPage(content.subarray(start, start + checkedPageBytes), checksums[page]!, corrupt)
      this.#isChecked[page] = 1
    }
  }
}

/** Bytes in memory, or mapped, that are checked as they are read. */
export class PagedBytes implements CheckedBytes {
  readonly #content: Uint8Array
  readonly #checksums: Int32Array
  readonly #pages: CheckedPages
  readonly #corrupt: () => Error

  /**
   * @param bytes what `withChecksums` made of `byteLength` bytes
   * @param corrupt makes the error that is thrown when a page was damaged
   */
  constructor(
    bytes: Uint8Array,
    byteLength: number,
    corrupt: () => Error,
    pages = new CheckedPages(byteLength),
  ) {
    this.#content = bytes.subarray(0, byteLength)
    const { buffer, byteOffset } = bytes
    this.#checksums = new Int32Array(buffer, byteOffset + byteLength, pageCount(byteLength))
    this.#pages = pages
    this.#corrupt = corrupt
  }

  get byteLength(): number {
    return this.#content.length
  }

  view(from: number, to: number): Uint8Array {
    if (to > from) this.#pages.check(this.#content, this.#checksums, from, to, this.#corrupt)
    return this.#content.subarray(from, to)
  }

  copy(from: number, to: number, out: Uint8Array): void {
    out.set(this.view(from, to))
  }

  whole(from: number, to: number): Uint8Array {
    return this.view(from, to)
  }
}
