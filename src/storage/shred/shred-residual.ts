/** Writes what has no column: one JSON object per row, nested as the row is. */
import { copyBytes } from '../../json/copy-bytes.ts'
import { type ByteSource, byteSource } from './text-pool.ts'

const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d

export class ResidualWriter implements ByteSource {
  bytes: Buffer = Buffer.allocUnsafeSlow(1024)
  view = byteSource(this.bytes).view
  length = 0
  /** Whether a member was left out because the row's residual had grown too long. */
  overflowed = false
  readonly #maximumBytes: number
  /** Quoted names of the objects around the present position, and how many are written open. */
  readonly #enclosing: Buffer[] = []
  #open = 0
  #needsComma = false
  #rowOpen = false
  #mark = { length: 0, needsComma: false, rowOpen: false }

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes
  }

  beginRow(): void {
    this.length = 0
    this.overflowed = false
    this.#needsComma = false
    this.#rowOpen = false
    this.mark()
  }

  /** Remembers the present state, outside of any nested object, for `takeBack`. */
  mark(): void {
    this.#mark.length = this.length
    this.#mark.needsComma = this.#needsComma
    this.#mark.rowOpen = this.#rowOpen
  }

  takeBack(): void {
    this.length = this.#mark.length
    this.#needsComma = this.#mark.needsComma
    this.#rowOpen = this.#mark.rowOpen
    this.overflowed = false
  }

  /** Enters an object; it is written once something is in it. */
  enter(quotedName: Buffer): void {
    this.#enclosing.push(quotedName)
  }

  leave(): void {
    if (this.#open === this.#enclosing.length) {
      this.#byte(closeBrace)
      this.#open--
      this.#needsComma = true
    }
    this.#enclosing.pop()
  }

  /** Copies a member, whose quoted name and whose value are parts of `source`. */
  member(
    source: Buffer,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
  ): void {
    if (this.length + (valueEnd - valueStart) + (nameEnd - nameStart) > this.#maximumBytes) {
      this.overflowed = true
      return
    }
    if (!this.#rowOpen) {
      this.#byte(openBrace)
      this.#rowOpen = true
    }
    while (this.#open < this.#enclosing.length) {
      const name = this.#enclosing[this.#open]!
      this.#separate()
      this.#copy(name, 0, name.length)
      this.#byte(colon)
      this.#byte(openBrace)
      this.#needsComma = false
      this.#open++
    }
    this.#separate()
    this.#copy(source, nameStart, nameEnd)
    this.#byte(colon)
    this.#copy(source, valueStart, valueEnd)
    this.#needsComma = true
  }

  /** Returns whether the row has a residual; it is `bytes` up to `length`. */
  endRow(): boolean {
    if (!this.#rowOpen) return false
    this.#byte(closeBrace)
    return true
  }

  #separate(): void {
    if (this.#needsComma) this.#byte(comma)
  }

  #byte(byte: number): void {
    if (this.length === this.bytes.length) this.#grow(this.length + 1)
    this.bytes[this.length++] = byte
  }

  #copy(source: Buffer, start: number, end: number): void {
    const length = this.length + end - start
    if (length > this.bytes.length) this.#grow(length)
    this.length = copyBytes(source, start, end, this.bytes, this.length)
  }

  #grow(needed: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(bytes, 0, 0, this.length)
    this.bytes = bytes
    this.view = byteSource(bytes).view
  }
}
