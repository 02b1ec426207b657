/** A set of the parts of texts (`vector/gram-index.ts`), hashed: what it has not is in none of them. */
import { FoldedText } from '../../storage/segment/folded-text.ts'
import type { Texts } from '../../vector/column.ts'
import { hashGram } from '../../vector/gram-index.ts'

/** Bits of a hash: a place for each part of some texts if all were different, up to 64 KiB of bits. */
const fewestBits = 10
const mostBits = 19
/** Of a block, for each part: many blocks are asked. */
const placesOfBlock = 4

const folded = new FoldedText('accents')

export class NgramFilter {
  readonly #bits: Int32Array
  readonly #hashBits: number

  /** @param byteLength of the texts */
  private constructor(byteLength: number) {
    const bits = Math.ceil(Math.log2(byteLength + 1))
    this.#hashBits = Math.max(fewestBits, Math.min(mostBits, bits))
    this.#bits = new Int32Array(1 << (this.#hashBits - 5))
  }

  /** @param text as full-text search folds it */
  static of(text: string): NgramFilter {
    const bytes = Buffer.from(text)
    const filter = new NgramFilter(bytes.length)
    filter.#add(bytes, bytes.length)
    return filter
  }

  /**
   * Of the texts `from … to`, which are a block.
   *
   * @param content `json` when each text is JSON
   */
  static ofBlock(
    { bytes, offsets }: Texts,
    from: number,
    to: number,
    content: 'text' | 'json',
  ): NgramFilter {
    const filter = new NgramFilter((offsets[to]! - offsets[from]!) * placesOfBlock)
    for (let i = from; i < to; i++) {
      if (content === 'text') folded.setText(bytes, offsets[i]!, offsets[i + 1]!)
      else folded.setJson(bytes, offsets[i]!, offsets[i + 1]!)
      filter.#add(folded.bytes, folded.length)
    }
    return filter
  }

  #add(text: Uint8Array, length: number): void {
    const bits = this.#bits
    const hashBits = this.#hashBits
    let gram = 0
    for (let at = 0; at < length; at++) {
      gram = (gram << 8) | text[at]!
      const hash = hashGram(gram, hashBits)
      bits[hash >> 5]! |= 1 << (hash & 31)
    }
  }

  get byteLength(): number {
    return this.#bits.byteLength
  }

  /** @param grams those of a text that is looked for (`gramsOf`) */
  mayHaveAll(grams: Int32Array): boolean {
    for (let i = 0; i < grams.length; i++) {
      const hash = hashGram(grams[i]!, this.#hashBits)
      if ((this.#bits[hash >> 5]! & (1 << (hash & 31))) === 0) return false
    }
    return true
  }
}
