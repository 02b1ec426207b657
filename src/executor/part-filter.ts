/** A set of the parts of texts (`vector/gram-index.ts`), hashed: what it has not is in none of them. */
import { FoldedText } from '../storage/segment/folded-text.ts'
import { GramScanner } from '../storage/segment/gram-scanner.ts'
import type { Texts } from '../vector/column.ts'
import { hashGram } from '../vector/gram-index.ts'

/** Bits of a hash: a place for each part of some texts if all were different, up to 64 KiB of bits. */
const fewestBits = 10
const mostBits = 19

export class PartFilter {
  readonly #bits: Int32Array
  readonly #hashBits: number

  private constructor(scanner: GramScanner, hashBits: number) {
    this.#hashBits = hashBits
    this.#bits = new Int32Array(1 << (hashBits - 5))
    const { marks } = scanner
    for (let hash = 0; hash < marks.length; hash++) {
      if (marks[hash] !== 0) this.#bits[hash >> 5]! |= 1 << (hash & 31)
    }
  }

  /** @param text as full-text search folds it */
  static of(text: string): PartFilter {
    const bytes = Buffer.from(text)
    const hashBits = hashBitsFor(bytes.length)
    const scanner = new GramScanner(hashBits)
    scanner.add(bytes, 0, bytes.length)
    return new PartFilter(scanner, hashBits)
  }

  /** @param content `json` when each text is JSON */
  static ofTexts({ bytes, offsets }: Texts, content: 'text' | 'json'): PartFilter {
    const hashBits = hashBitsFor(offsets.at(-1)! - offsets[0]!)
    const scanner = new GramScanner(hashBits)
    const folded = new FoldedText('accents')
    for (let i = 0; i + 1 < offsets.length; i++) {
      if (content === 'text') folded.setText(bytes, offsets[i]!, offsets[i + 1]!)
      else folded.setJson(bytes, offsets[i]!, offsets[i + 1]!)
      scanner.add(folded.bytes, 0, folded.length)
    }
    return new PartFilter(scanner, hashBits)
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

function hashBitsFor(byteLength: number): number {
  const bits = Math.ceil(Math.log2(byteLength + 1))
  return Math.max(fewestBits, Math.min(mostBits, bits))
}
