import { newState, newTable } from '../../kernel/arena.ts'
import { recallCodes, slotOfNumber } from '../../kernel/groups.ts'

/** A power of 2, as `slotOfNumber` has it. */
const slotCount = 1024

/** Codes of numbers that came lately, by a hash of their bits: a Map takes ten times as long. */
export class LateNumbers {
  readonly #numbers = newState(slotCount, Number.NaN)
  readonly #codes = newTable(slotCount, 0)

  /**
   * Writes the codes of numbers.
   *
   * @param nullCode -1 while null has none
   * @param codeOf gives the code of a number, or of NaN, which is null
   */
  encode(
    values: Float64Array,
    count: number,
    nullCode: number,
    codeOf: (value: number) => number,
    out: Int32Array,
  ): void {
    const late = { numbers: this.#numbers, codes: this.#codes }
    if (recallCodes(late, values, count, nullCode, out) >= 0) return
    for (let i = 0; i < count; i++) {
      if (out[i]! >= 0) continue
      const value = values[i]!
      const slot = slotOfNumber(value)
      // NaN is no number that came before.
      if (this.#numbers[slot] !== value) {
        this.#codes[slot] = codeOf(value)
        this.#numbers[slot] = value
      }
      out[i] = this.#codes[slot]!
    }
  }
}
