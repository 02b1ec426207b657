/**
 * Where in bytes that do not change something may begin: an index in memory of their parts of 4 bytes, as in
 * `vector/gram-index.ts`, by stretches of a kilobyte. It takes a quarter of their size, and a millisecond for
 * 400 KB; a search then reads a few stretches of all of them.
 */
import type { ByteSearch } from '../../kernel/text.ts'
import { gramBytes, hashGram } from '../../vector/gram-index.ts'
import { GramScanner } from './gram-scanner.ts'

const stretchBytes = 1024
/** Of what is searched, so many bytes are looked up: a stretch has the parts of as many bytes after it. */
const lookedUpBytes = 64
const hashBits = 11

/** Gives the next place from a place on, or -1. Ends with the next loop, or search, of the thread. */
export type FindNext = (from: number) => number

export class Stretches {
  readonly #byteLength: number
  readonly #read: (from: number, to: number) => Uint8Array
  readonly #rowLength: number
  /** By hash, a row of bits: one for each stretch. */
  readonly #rows: Int32Array

  /** @param read gives some of the bytes, which are not kept here */
  constructor(bytes: Uint8Array, read: (from: number, to: number) => Uint8Array) {
    this.#byteLength = bytes.length
    this.#read = read
    const count = Math.ceil(bytes.length / stretchBytes)
    this.#rowLength = (count + 31) >> 5
    this.#rows = new Int32Array(this.#rowLength << hashBits)
    const scanner = new GramScanner(hashBits)
    for (let group = 0; group < this.#rowLength; group++) {
      scanner.marks.fill(0)
      for (let bit = 0; bit < 32; bit++) {
        const start = (group * 32 + bit) * stretchBytes
        scanner.useBit(bit)
        scanner.add(bytes, start, Math.min(bytes.length, start + stretchBytes + lookedUpBytes))
      }
      for (let hash = 0, at = group; hash < 1 << hashBits; hash++, at += this.#rowLength) {
        this.#rows[at] = scanner.marks[hash]!
      }
    }
  }

  get byteLength(): number {
    return this.#rows.byteLength
  }

  /** @param search for `gramBytes` or more */
  find(search: ByteSearch): FindNext {
    const { needle } = search
    const stretches = this.#withPartsOf(needle)
    let next = 0
    let inStretch: FindNext | undefined
    return (from) => {
      for (; next < stretches.length; next++) {
        const start = stretches[next]! * stretchBytes
        const end = Math.min(this.#byteLength, start + stretchBytes + needle.length - 1)
        if (end - needle.length >= from) {
          inStretch ??= search.in(this.#read(start, end))
          const hit = inStretch(Math.max(0, from - start))
          if (hit >= 0) return start + hit
        }
        inStretch = undefined
      }
      return -1
    }
  }

  #withPartsOf({ buffer, byteOffset, length }: Uint8Array): number[] {
    const needle = new DataView(buffer, byteOffset, length)
    const rowLength = this.#rowLength
    const found = new Int32Array(rowLength).fill(-1)
    const last = Math.min(length, lookedUpBytes) - gramBytes
    for (let at = 0; at <= last; at++) {
      const row = hashGram(needle.getInt32(at), hashBits) * rowLength
      for (let i = 0; i < rowLength; i++) found[i]! &= this.#rows[row + i]!
    }
    const stretches: number[] = []
    for (let i = 0; i < rowLength; i++) {
      for (let bits = found[i]!; bits !== 0; bits &= bits - 1) {
        stretches.push(i * 32 + 31 - Math.clz32(bits & -bits))
      }
    }
    return stretches
  }
}
