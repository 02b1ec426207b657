import { maximumRows, newTable } from '../../kernel/arena.ts'
import {
  addNumberCounts,
  blockCounts,
  boundsOfIntegers,
  sumBlocks,
} from '../../kernel/number-counts.ts'
import type { StoredIntegers } from '../../vector/elements.ts'
import { newResultCodes } from '../column/shared-array.ts'
import type { AliveRows } from './state.ts'
import type { NumberCounts } from './wire-state.ts'

/** Of all groups: 4 MiB, which the cache of the second level holds the most used of. */
export const maximumPlaces = 1 << 20
/** Places that a table may have for so few rows that to collect these takes less than the table. */
const fewPlaces = 1 << 16
const placesPerRow = 128

/**
 * Counts numbers by columns that are stored as whole numbers of one scale, without keeping any: a tenth of the
 * time that it takes to collect them and to choose between them.
 */
export class NumberCounter {
  /** 0: nothing was counted yet. */
  #divisor = 0
  #first = 0
  #stride = 0
  #counts: Int32Array = new Int32Array(0)
  #groupCount = 0

  get heldBytes(): number {
    return this.#counts.byteLength
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  /** False, and nothing is counted, where the numbers are of another scale or too far apart. */
  take({ integers, base, divisor }: StoredIntegers, rows: AliveRows): boolean {
    if (integers.length > maximumRows) return false
    if (this.#divisor !== 0 && this.#divisor !== divisor) return false
    const bounds = boundsOfIntegers(integers)
    if (!bounds) return true
    const most = Math.min(maximumPlaces, Math.max(fewPlaces, rows.count * placesPerRow))
    if (!this.#makeRoom(bounds.least + base, bounds.greatest + base, most)) return false
    this.#divisor = divisor
    const places = { first: this.#first, stride: this.#stride, counts: this.#counts }
    addNumberCounts(integers, base, rows, places)
    return true
  }

  /** Undefined when nothing was counted. Nothing of it lies in the kernel arena. */
  finish(groupCount: number): NumberCounts | undefined {
    if (this.#divisor === 0) return undefined
    const [first, stride] = [this.#first, this.#stride]
    const known = Math.min(groupCount, this.#counts.length / stride) * stride
    const counts = newResultCodes(groupCount * stride)
    counts.set(this.#counts.subarray(0, known))
    const blocks = new Int32Array((groupCount * stride) / blockCounts)
    sumBlocks(this.#counts, blocks.subarray(0, known / blockCounts))
    return { divisor: this.#divisor, first, stride, counts, blocks }
  }

  get #knownGroups(): number {
    return this.#stride === 0 ? 0 : this.#counts.length / this.#stride
  }

  /** False when there would be too many places. */
  #makeRoom(least: number, greatest: number, mostPlaces: number): boolean {
    const known = this.#knownGroups
    const [first, end] = [this.#first, this.#first + this.#stride]
    if (this.#groupCount <= known && least >= first && greatest < end) return true
    // Half as much room again, so that few batches need more.
    const slack = this.#stride / 2
    let [low, high] = [least, greatest]
    if (known > 0) {
      low = least < first ? least - slack : first
      high = greatest >= end ? greatest + slack : end - 1
    }
    const newFirst = Math.floor(low / blockCounts) * blockCounts
    const stride = (Math.floor(high / blockCounts) + 1) * blockCounts - newFirst
    const isFull = known > 0 && this.#groupCount > known
    const groups = isFull ? 2 * this.#groupCount : Math.max(known, this.#groupCount)
    if (stride * groups > mostPlaces) return false
    this.#grow(newFirst, stride, groups)
    return true
  }

  #grow(first: number, stride: number, groups: number): void {
    const known = this.#knownGroups
    const counts = newTable(groups * stride, 0)
    for (let group = 0; group < known; group++) {
      const from = group * this.#stride
      const before = this.#counts.subarray(from, from + this.#stride)
      counts.set(before, group * stride + this.#first - first)
    }
    this.#first = first
    this.#stride = stride
    this.#counts = counts
  }
}
