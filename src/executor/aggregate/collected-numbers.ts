import {
  type CollectedNumbers,
  gatherByGroup,
  keepNumbers,
  keepPresent,
} from '../../kernel/aggregate.ts'
import { pickCodes, pickNumbers } from '../../kernel/gather.ts'
import { maximumRows, newCodes, newNumbers } from '../../kernel/memory.ts'
import { checkCancelled } from '../cancelled.ts'
import { checkLimit, maximumPercentileNumbers } from '../memory-limit.ts'
import { newResultNumbers } from '../share-result.ts'
import { NumberTally, numbersForTable, rangeOf } from './number-tally.ts'
import type { WireState } from './state.ts'

/** Groups of a batch up to which its numbers are kept group by group. */
const fewGroups = 256

/** Numbers that there have to be before they may be counted, and of which a range is chosen at most. */
const [fewestSeen, mostSampled] = [256, 2048]

/** Numbers of one batch, group by group. */
interface GroupedNumbers {
  readonly values: Float64Array
  /** By group, the place behind its last number. */
  readonly ends: Int32Array
}

/** Numbers, the i-th of group `groups[i]`; or all of group `only`. */
export interface NumbersOfGroups {
  readonly groups: Int32Array
  readonly only?: number | undefined
  readonly count: number
}

interface Piece extends CollectedNumbers {
  count: number
}

const largestPiece = 1 << 20

/**
 * The numbers of which percentiles are wanted, as far as one task has them: counted in a table once that pays,
 * and else kept one by one.
 */
export class CollectedByGroup {
  #grouped: GroupedNumbers[] = []
  /** Numbers of more groups, in pieces so that none is copied to make room. */
  #pieces: Piece[] = []
  /** Where grouped numbers are put. */
  #room = { values: new Float64Array(0), count: 0 }
  /** Numbers that are kept one by one. */
  #count = 0
  #groupCount = 0
  #tally: NumberTally | undefined
  /** Whether the table takes in what comes. */
  #tallies = false
  /** How many numbers there have to be before it is asked whether a table pays. */
  #nextLook = fewestSeen
  #wire: WireState | undefined

  get heldBytes(): number {
    return 12 * this.#count + (this.#tally?.heldBytes ?? 0)
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
    if (this.#tally && this.#tallies) this.#tallies = this.#tally.resize(groupCount)
  }

  /** Numbers that are NaN do not count. */
  add(values: Float64Array, rows: NumbersOfGroups): void {
    for (let from = 0; from < rows.count; from += maximumRows) {
      const to = Math.min(rows.count, from + maximumRows)
      const isWhole = to - from === rows.count
      const part = isWhole ? values : values.subarray(from, to)
      const groups = isWhole ? rows.groups : rows.groups.subarray(from, to)
      this.#addPart(part, { ...rows, groups, count: to - from })
    }
    if (this.#count >= this.#nextLook && !this.#tally) this.#lookForTable()
  }

  /** No numbers must be added any more. */
  toWire(groupCount: number): WireState {
    this.#wire ??= { ...this.#byGroup(groupCount), tally: this.#tally?.toWire(groupCount) }
    return this.#wire
  }

  #addPart(values: Float64Array, rows: NumbersOfGroups): void {
    if (!this.#tally || !this.#tallies) {
      this.#keep(values, rows)
      return
    }
    const { groups, only, count } = rows
    const left = newCodes(count)
    const leftCount = this.#tally.add(values, only ?? groups, count, left)
    if (leftCount === 0) return
    const leftRows = left.subarray(0, leftCount)
    const [leftValues, leftGroups] = [newNumbers(leftCount), newCodes(leftCount)]
    pickNumbers(values, leftRows, leftValues)
    if (only === undefined) pickCodes(groups, leftRows, leftGroups)
    this.#keep(leftValues, { groups: leftGroups, only, count: leftCount })
  }

  /** Counts what was kept so far if a table pays for as many numbers, or says when to ask again. */
  #lookForTable(): void {
    this.#nextLook = Number.POSITIVE_INFINITY
    const range = rangeOf(this.#sample())
    const wanted = range && numbersForTable(range, this.#groupCount)
    if (wanted === undefined) return
    if (wanted > this.#count) {
      this.#nextLook = Math.max(wanted, this.#count * 2)
      return
    }
    this.#tally = NumberTally.of(range!, this.#groupCount)
    this.#tallies = this.#tally !== undefined
    if (this.#tallies) this.#addKept()
  }

  /** Some of the numbers that are kept, at even distances. */
  #sample(): Float64Array {
    const step = Math.ceil(this.#count / mostSampled)
    const sample = new Float64Array(Math.ceil(this.#count / step))
    let [taken, next] = [0, 0]
    const take = (values: Float64Array, count: number) => {
      for (; next < count; next += step) sample[taken++] = values[next]!
      next -= count
    }
    for (const { values } of this.#grouped) take(values, values.length)
    for (const { values, count } of this.#pieces) take(values, count)
    return sample
  }

  #addKept(): void {
    const [grouped, pieces] = [this.#grouped, this.#pieces]
    this.#grouped = []
    this.#pieces = []
    this.#room = { values: new Float64Array(0), count: 0 }
    this.#count = 0
    for (const { values, ends } of grouped) {
      let start = 0
      for (const [only, end] of ends.entries()) {
        const count = end - start
        if (count > 0) this.add(values.subarray(start, end), { groups: noGroups, only, count })
        start = end
      }
    }
    for (const { values, groups, count } of pieces) this.add(values, { groups, count })
  }

  #keep(values: Float64Array, rows: NumbersOfGroups): void {
    const { groups, count } = rows
    checkPercentile(this.#count + count)
    if (this.#groupCount <= fewGroups) {
      this.#keepGrouped(values, rows)
      return
    }
    const piece = this.#pieceFor(count)
    const ofRows = rows.only === undefined ? groups : newCodes(count).fill(rows.only)
    const kept = keepPresent(values, ofRows, count, piece, piece.count)
    piece.count += kept
    this.#count += kept
  }

  #keepGrouped(values: Float64Array, { groups, only, count }: NumbersOfGroups): void {
    const { length } = this.#room.values
    if (length - this.#room.count < count) {
      this.#room = { values: new Float64Array(roomFor(count, this.#count)), count: 0 }
    }
    const room = this.#room
    const ends = new Int32Array(this.#groupCount)
    let kept: number
    if (only === undefined) {
      kept = gatherByGroup(values, groups, count, room.values, room.count, ends)
    } else {
      kept = keepNumbers(values, count, room.values, room.count)
      ends.fill(kept, only)
    }
    this.#grouped.push({ values: room.values.subarray(room.count, room.count + kept), ends })
    room.count += kept
    this.#count += kept
  }

  #byGroup(groupCount: number): Extract<WireState, { kind: 'numbers' }> {
    const ends = new Int32Array(groupCount)
    for (const grouped of this.#grouped) {
      let start = 0
      for (const [group, end] of grouped.ends.entries()) {
        ends[group]! += end - start
        start = end
      }
    }
    for (const { groups, count } of this.#pieces) {
      for (let i = 0; i < count; i++) ends[groups[i]!]!++
    }
    let end = 0
    for (let group = 0; group < groupCount; group++) {
      const size = ends[group]!
      // For now where the group begins; filling moves it to the end.
      ends[group] = end
      end += size
    }
    const sorted = newResultNumbers(this.#count)
    for (const grouped of this.#grouped) {
      let start = 0
      for (const [group, end] of grouped.ends.entries()) {
        sorted.set(grouped.values.subarray(start, end), ends[group])
        ends[group]! += end - start
        start = end
      }
    }
    for (const { values, groups, count } of this.#pieces) {
      checkCancelled()
      for (let i = 0; i < count; i++) sorted[ends[groups[i]!]!++] = values[i]!
    }
    return { kind: 'numbers', ends, values: sorted }
  }

  #pieceFor(rows: number): Piece {
    const last = this.#pieces.at(-1)
    if (last && last.count + rows <= last.values.length) return last
    const size = roomFor(rows, this.#count)
    const piece = { values: new Float64Array(size), groups: new Int32Array(size), count: 0 }
    this.#pieces.push(piece)
    return piece
  }
}

/** As much room again as all before, so that there are few pieces. */
function roomFor(rows: number, before: number): number {
  return Math.max(rows, Math.min(largestPiece, Math.max(1024, before)))
}

/** For numbers that are all of one group. */
const noGroups = new Int32Array(0)

export function checkPercentile(count: number): void {
  checkLimit(count, maximumPercentileNumbers, 'numbers for a percentile', 'filter the rows')
}
