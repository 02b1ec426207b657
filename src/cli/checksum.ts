import { createHash } from 'node:crypto'

/** A sum over records that does not depend on their order, nor on how they were sent. */
export class Checksum {
  #sum: bigint

  /** @param text what `toString` gave */
  constructor(text = '0') {
    this.#sum = BigInt(`0x${text}`)
  }

  add(record: Uint8Array): void {
    const hash = createHash('sha256').update(record).digest()
    this.#sum = BigInt.asUintN(64, this.#sum + hash.readBigUInt64BE())
  }

  toString(): string {
    return this.#sum.toString(16).padStart(16, '0')
  }
}
