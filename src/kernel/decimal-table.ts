/**
 * Numbers `integer / divisor`, each in two parts. So many rows as a batch has can be added to each other, part by part,
 * without that rounding takes anything: the first parts have few bits, and the second are small.
 */
import { isOfKernels, maximumRows, newState } from './memory.ts'

/** A table of more, of 16 bytes each, would not stay in a core's cache. */
const mostIntegers = 65_536

/** A table that grows does so by this much, so that it is seldom made anew. */
const growth = 1.5

/** Bits of a sum of first parts, and those that its rows add to them. */
const [doubleBits, rowBits] = [53, Math.log2(maximumRows)]

export class DecimalTable {
  #divisor = 0
  #low = 0
  #high = -1
  /** In the memory of kernels: the parts of 0, then those of `#low` and the integers after it. */
  #parts: Float64Array | undefined
  /** Once numbers came of which no table can have the parts, or no memory was left. */
  #isOver = false
  /** Those for which it was asked. */
  #rows = 0

  /** The integer of the second place. */
  get low(): number {
    return this.#low
  }

  /** Where loops find it. */
  get place(): number {
    return this.#parts!.byteOffset
  }

  /**
   * Makes it have these integers.
   *
   * @param rows for which they are wanted
   * @returns false while rows are too few to be worth a table, and when no table has room for the integers or for the
   *     bits of their numbers
   */
  has(least: number, greatest: number, divisor: number, rows: number): boolean {
    if (this.#isOver) return false
    this.#rows += rows
    const isSame = divisor === this.#divisor
    if (isSame && least >= this.#low && greatest <= this.#high) return true
    const isFirst = !isSame || !this.#parts
    const low = isFirst ? least : Math.min(least, this.#low)
    const high = isFirst ? greatest : Math.max(greatest, this.#high)
    const count = high - low + 1
    if (count > Math.min(mostIntegers, this.#rows)) return false
    const isKept = kept?.divisor === divisor && kept.low <= low && kept.high >= high
    if (!isKept) {
      const room = Math.min(mostIntegers, Math.ceil(count * growth)) - count
      const more = low < this.#low && !isFirst ? [room, 0] : [0, room]
      kept = tableOf(low - more[0]!, high + more[1]!, divisor)
    }
    this.#isOver = !kept || !this.#take(kept)
    return !this.#isOver
  }

  /** False when no memory is left. */
  #take(table: Table): boolean {
    const parts = newState(table.parts.length, 0)
    if (!isOfKernels(parts)) return false
    parts.set(table.parts)
    this.#parts = parts
    this.#low = table.low
    this.#high = table.high
    this.#divisor = table.divisor
    return true
  }
}

interface Table {
  readonly divisor: number
  readonly low: number
  readonly high: number
  readonly parts: Float64Array
}

/** That of the thread's last sum, of a megabyte at most: to make it takes ten times as long as to copy it. */
let kept: Table | undefined

/** Undefined where the parts of the numbers have too many bits. */
function tableOf(low: number, high: number, divisor: number): Table | undefined {
  const most = Math.max(Math.abs(low), Math.abs(high), 1) / divisor
  // The first parts are multiples of this, of which a sum has room for the greatest of all rows.
  const firstBits = doubleBits - rowBits - 1 - Math.ceil(Math.log2(most))
  const lastBits = doubleBits - 1 + Math.ceil(Math.log2(divisor))
  if (lastBits + rowBits - firstBits > doubleBits) return undefined
  const parts = new Float64Array((high - low + 2) * 2)
  const unit = 2 ** firstBits
  for (let integer = low; integer <= high; integer++) {
    const number = integer / divisor
    const first = Math.round(number * unit) / unit
    const at = (integer - low + 1) * 2
    parts[at] = first
    parts[at + 1] = number - first
  }
  return { divisor, low, high, parts }
}
