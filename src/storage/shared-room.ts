/** Where bytes are put for other threads: into shared memory that is there, or new one where it has no room. */
import { copyWhole } from '../json/copy-bytes.ts'

const alignment = 8

export class SharedRoom {
  readonly #memory: SharedArrayBuffer
  #end: number

  /** @param end up to where the memory is in use */
  constructor(memory = new SharedArrayBuffer(0), end = 0) {
    this.#memory = memory
    this.#end = end
  }

  copy(bytes: Uint8Array): Uint8Array {
    const start = Math.ceil(this.#end / alignment) * alignment
    const fits = start + bytes.length <= this.#memory.byteLength
    if (fits) this.#end = start + bytes.length
    const memory = fits ? this.#memory : new SharedArrayBuffer(bytes.length)
    const copy = Buffer.from(memory, fits ? start : 0, bytes.length)
    copyWhole(bytes, copy, 0)
    return copy
  }
}
