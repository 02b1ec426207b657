/** Finds JSON texts that may have a path: those that have all of its names, or names that may be escaped. */
import { ByteSearch, maximumNeedleBytes } from '../../kernel/text.ts'
import type { Texts } from '../../vector/column.ts'
import { forEachWith } from './texts-with.ts'

const backslash = 0x5c

export class NameSearch {
  /** Those of the path, as JSON. */
  readonly #names: readonly Buffer[]
  readonly #innermost: Buffer
  readonly #search: ByteSearch | undefined

  /** @param path of one name at least */
  constructor(path: readonly string[]) {
    this.#names = path.map((name) => Buffer.from(JSON.stringify(name)))
    this.#innermost = this.#names.at(-1)!
    const isSearched = this.#innermost.length <= maximumNeedleBytes
    this.#search = isSearched ? new ByteSearch(this.#innermost, false) : undefined
  }

  isIn(text: Uint8Array): boolean {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
    return this.#areAllIn(bytes) || bytes.includes(backslash)
  }

  /** Which of the `count` texts from the first one on; those with escapes come last. */
  among({ bytes, offsets }: Texts, first: number, count: number): ReadonlySet<number> {
    const ends = offsets.subarray(first, first + count + 1)
    const [start, end] = [ends[0]!, ends[count]!]
    const region = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    const found = new Set<number>()
    const name = this.#innermost
    const next = this.#search?.in(region) ?? ((at: number) => region.indexOf(name, at))
    // The innermost name is the rarest: the others are looked for where it is.
    forEachWith(next, name.length, ends, (text) => {
      if (this.#areAllIn(region.subarray(ends[text]! - start, ends[text + 1]! - start))) {
        found.add(text)
      }
    })
    const nextEscape = (at: number) => region.indexOf(backslash, at)
    forEachWith(nextEscape, 1, ends, (text) => found.add(text))
    return found
  }

  #areAllIn(text: Buffer): boolean {
    return this.#names.every((name) => text.includes(name))
  }
}
