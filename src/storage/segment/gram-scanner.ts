/** Marks the hashes of the parts of folded texts (`vector/gram-index.ts`). */

export class GramScanner {
  /** By hash, the bits that were marked. */
  readonly marks: Int32Array
  readonly #hashBits: number
  #bit = 1

  constructor(hashBits: number) {
    this.#hashBits = hashBits
    this.marks = new Int32Array(1 << hashBits)
  }

  /** Marks what follows with one bit of 32. */
  useBit(index: number): void {
    this.#bit = 1 << index
  }

  add(folded: Uint8Array, from: number, to: number): void {
    const { marks } = this
    const bit = this.#bit
    const shift = 32 - this.#hashBits
    let gram = 0
    for (let at = from; at < to; at++) {
      gram = (gram << 8) | folded[at]!
      marks[Math.imul(gram, 0x9e3779b1) >>> shift]! |= bit
    }
  }
}
