import { longBytes, noteLong } from './turn-limit.ts'

/** Up to so many bytes words are faster than a view and a native copy, which make objects. */
const nearBytes = 256

const nothing = new DataView(new ArrayBuffer(0))

/**
 * A growing byte buffer. What was written is read as a view, so nothing is copied when it is taken
 * whole. Its memory is never pooled: it may be transferred to another thread.
 */
export class ByteWriter {
  #bytes: Buffer
  #view: DataView
  #length = 0
  /** Of the memory that was copied from last: mostly the next range is of the same, or of that before. */
  #source: DataView<ArrayBufferLike> = nothing
  #before: DataView<ArrayBufferLike> = nothing

  constructor(capacity = 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.#bytes.buffer)
  }

  /** The memory written to: its first `length` bytes, until more is written. */
  get bytes(): Buffer {
    return this.#bytes
  }

  get length(): number {
    return this.#length
  }

  /** Makes room for `extra` bytes, so that they can be written without growing again. */
  reserve(extra: number): void {
    const needed = this.#length + extra
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.ceil(this.#bytes.length * 1.5)))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.reserve(1)
    this.#bytes[this.#length++] = value
  }

  copy(source: Uint8Array, start = 0, end = source.length): void {
    const count = end - start
    if (this.#length + count > this.#bytes.length) this.reserve(count)
    if (count < 24) {
      // A short loop beats the cost of making a view (tens of nanoseconds).
      const target = this.#bytes
      for (let i = start, at = this.#length; i < end; i++, at++) target[at] = source[i]!
    } else if (count <= nearBytes) {
      this.#copyWords(source, start, count)
    } else {
      this.#bytes.set(source.subarray(start, end), this.#length)
    }
    this.#length += count
  }

  /** Four bytes at a time, of which there are as many; the last may overlap those before. */
  #copyWords(source: Uint8Array, start: number, count: number): void {
    if (this.#source.buffer !== source.buffer) {
      const last = this.#source
      const isBefore = this.#before.buffer === source.buffer
      this.#source = isBefore ? this.#before : new DataView(source.buffer)
      this.#before = last
    }
    const from = this.#source
    const to = this.#view
    const first = source.byteOffset + start
    const at = this.#length
    const last = count - 4
    for (let i = 0; i < last; i += 4) to.setInt32(at + i, from.getInt32(first + i, true), true)
    to.setInt32(at + last, from.getInt32(first + last, true), true)
  }

  /** Appends the UTF-8 form of `text`. */
  text(text: string): void {
    if (text.length > longBytes) noteLong(text.length)
    this.reserve(text.length * 3)
    if (text.length > 64 || !this.#ascii(text)) {
      this.#length += this.#bytes.write(text, this.#length, 'utf8')
    }
  }

  /** Appends a text that needs no encoding; a native call costs more than a short loop. */
  #ascii(text: string): boolean {
    const bytes = this.#bytes
    let at = this.#length
    for (let i = 0; i < text.length; i++, at++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) return false
      bytes[at] = code
    }
    this.#length = at
    return true
  }

  /** Leaves `count` bytes for the caller to fill in through `view`. */
  skip(count: number): void {
    this.reserve(count)
    this.#length += count
  }

  /** Drops what was written after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length
  }

  /** What was written, without copying. Writing more may leave the view behind. */
  view(start = 0, end = this.#length): Buffer {
    return this.#bytes.subarray(start, end)
  }
}
