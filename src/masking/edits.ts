/** What becomes of parts of a text, in their order. */
import { ByteWriter } from '../json/byte-writer.ts'

export class Edits {
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  readonly #texts: string[] = []
  /** The rule of each; where one masks a part of a text, `counts` counts all. */
  readonly #rules: number[] = []

  get length(): number {
    return this.#starts.length
  }

  add(start: number, end: number, text: string, rule: number): void {
    this.#starts.push(start)
    this.#ends.push(end)
    this.#texts.push(text)
    this.#rules.push(rule)
  }

  /** Forgets all but the first ones. */
  truncate(length: number): void {
    this.#starts.length = length
    this.#ends.length = length
    this.#texts.length = length
    this.#rules.length = length
  }

  startAt(edit: number): number {
    return this.#starts[edit]!
  }

  endAt(edit: number): number {
    return this.#ends[edit]!
  }

  textAt(edit: number): string {
    return this.#texts[edit]!
  }

  ruleAt(edit: number): number {
    return this.#rules[edit]!
  }

  /**
   * The text from `start` to `end` after the edits, all of which are within.
   *
   * @param out what it is written to
   */
  apply(bytes: Uint8Array, start: number, end: number, out = new ByteWriter(0)): Buffer {
    out.truncate(0)
    out.reserve(end - start + 64)
    let at = start
    for (let i = 0; i < this.#starts.length; i++) {
      out.copy(bytes, at, this.#starts[i]!)
      out.text(this.#texts[i]!)
      at = this.#ends[i]!
    }
    out.copy(bytes, at, end)
    return out.view()
  }
}
