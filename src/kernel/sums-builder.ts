import { unitsOf } from './exact-number.ts'
import { addToPair, type WireSums } from './group-sums.ts'

/** Digits of a text that are one double. */
const shortDigits = 15
/** And of one that are two: the upper ones, times 10^15, have no more than 53 bits. */
const longDigits = shortDigits + 5

/** Makes exact sums of groups, in any order, from whole numbers of powers of two that are written as texts. */
export class SumsBuilder {
  /** By group: a sum, and what rounding has taken from it. */
  readonly #pairs: Float64Array
  readonly #counts: Float64Array
  readonly #units = new Map<number, bigint>()

  constructor(groupCount: number) {
    this.#pairs = new Float64Array(2 * groupCount)
    this.#counts = new Float64Array(groupCount)
  }

  /** Says how many numbers the sum of a group is of. */
  count(group: number, numbers: number): void {
    this.#counts[group] = numbers
  }

  /** @param text of an integer, how often `unit` is added */
  addWhole(group: number, text: string, unit: number): void {
    const isNegative = text[0] === '-'
    const digits = isNegative ? text.slice(1) : text
    const signed = isNegative ? -unit : unit
    if (digits.length <= shortDigits) {
      this.#add(group, Number(digits) * signed)
    } else if (digits.length <= longDigits) {
      this.#add(group, Number(digits.slice(0, -shortDigits)) * 10 ** shortDigits * signed)
      this.#add(group, Number(digits.slice(-shortDigits)) * signed)
    } else {
      // Each time the double that is nearest to what is left.
      for (let left = BigInt(digits); left !== 0n; ) {
        const nearest = Number(left)
        this.#add(group, nearest * signed)
        left -= BigInt(nearest)
      }
    }
  }

  #add(group: number, part: number): void {
    if (part === 0 || addToPair(this.#pairs, 2 * group, part)) return
    this.#units.set(group, (this.#units.get(group) ?? 0n) + unitsOf(part))
  }

  finish(): WireSums {
    const pairs = this.#pairs
    const places = [...this.#units.keys()].sort((a, b) => a - b)
    return {
      sums: this.#counts.map((_, group) => pairs[2 * group]!),
      rests: this.#counts.map((_, group) => pairs[2 * group + 1]!),
      counts: this.#counts,
      units: { places, sums: places.map((place) => this.#units.get(place)!) },
    }
  }
}
