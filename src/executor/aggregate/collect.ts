import { sequence } from '../../kernel/sequence.ts'
import { orderValues } from '../../type/compare.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'
import { grown } from '../column/grown.ts'
import { ValueCodes } from '../column/value-codes.ts'
import { countOf, vectorOf, type WireValues } from '../column/wire-values.ts'
import { checkAtTimes, checkCancelled } from '../thread/cancelled.ts'
import { checkLimit, maximumCollectedValues } from '../thread/memory-limit.ts'
import type { AggregateState, AliveRows } from './state.ts'
import { checkCollected } from './value-list.ts'
import type { WireState } from './wire-state.ts'

/**
 * `array_agg` and `string_agg`: all values that are not null, in the order of sort, so that the order
 * of reading does not show. Kept as codes: equal values take the room of one.
 */
export class CollectState implements AggregateState {
  readonly #finish: ((values: readonly Value[] | null) => Value) | undefined
  readonly #codes = new ValueCodes()
  #collectedGroups = new Int32Array(1024)
  #collectedCodes = new Int32Array(1024)
  #count = 0
  #groupCount = 1
  #sorted: SortedLists | undefined

  /** @param finish makes the result of the sorted values; null stands for no values; undefined: it is their list */
  constructor(finish?: (values: readonly Value[] | null) => Value) {
    this.#finish = finish
  }

  get heldBytes(): number {
    return this.#codes.heldBytes + 2 * this.#collectedCodes.byteLength
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update([vector]: readonly Vector[], rows: AliveRows): void {
    if (!vector) return
    const codes = new Int32Array(rows.count)
    this.#codes.encode(vector, rows.rowCount, rows.selection, codes)
    this.#add(rows.groups, codes)
  }

  toWire(): WireState {
    const all = sequence(0, this.#codes.count)
    return {
      kind: 'collected',
      groups: this.#collectedGroups.slice(0, this.#count),
      codes: this.#collectedCodes.slice(0, this.#count),
      values: this.#codes.toWire(all),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'collected') return
    const count = countOf(wire.values)
    const table = new Int32Array(count)
    this.#codes.encode(vectorOf(wire.values), count, undefined, table)
    this.#add(
      wire.groups.map((group) => groups[group]!),
      wire.codes.map((code) => table[code]!),
    )
  }

  result(group: number): Value {
    this.#sorted ??= this.#sort()
    const { start, end } = membersOf(group, this.#sorted)
    const members = this.#sorted.members.subarray(start, end)
    const values = start === end ? null : Array.from(members, (code) => this.#codes.valueAt(code))
    return this.#finish ? this.#finish(values) : values
  }

  column(groups: Int32Array): WireValues | undefined {
    if (this.#finish) return undefined
    this.#sorted ??= this.#sort()
    const starts = new Int32Array(groups.length)
    const ends = new Int32Array(groups.length)
    // Other groups than these may have many more members, and a group may come again and again.
    const members = new Int32Array(this.#sorted.members.length)
    const firstOf = new Int32Array(this.#groupCount).fill(-1)
    let count = 0
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!
      const first = firstOf[group]!
      if (first >= 0) {
        starts[i] = starts[first]!
        ends[i] = ends[first]!
        continue
      }
      const { start, end } = membersOf(group, this.#sorted)
      firstOf[group] = i
      starts[i] = start === end ? -1 : count
      members.set(this.#sorted.members.subarray(start, end), count)
      count += end - start
      ends[i] = count
    }
    const values = this.#codes.toWire(members.subarray(0, count))
    return { kind: 'lists', starts, ends, members: values }
  }

  #add(groups: Int32Array, codes: Int32Array): void {
    const needed = this.#count + codes.length
    checkLimit(needed, maximumCollectedValues, 'values of array_agg', 'filter the rows')
    this.#collectedGroups = grown(this.#collectedGroups, needed, 0)
    this.#collectedCodes = grown(this.#collectedCodes, needed, 0)
    const { nullCode } = this.#codes
    for (let j = 0; j < codes.length; j++) {
      if (codes[j] === nullCode) continue
      this.#collectedGroups[this.#count] = groups[j]!
      this.#collectedCodes[this.#count++] = codes[j]!
    }
  }

  /** Values are put in order once, so that each group only sorts numbers. */
  #sort(): SortedLists {
    const { count } = this.#codes
    const order = Array.from({ length: count }, (_, code) => code).sort((a, b) => {
      checkAtTimes()
      return orderValues(this.#codes.valueAt(a), this.#codes.valueAt(b))
    })
    const rankOf = new Int32Array(count)
    for (const [rank, code] of order.entries()) rankOf[code] = rank
    const ends = new Int32Array(this.#groupCount)
    for (let i = 0; i < this.#count; i++) ends[this.#collectedGroups[i]!]!++
    let end = 0
    for (let group = 0; group < ends.length; group++) {
      const size = ends[group]!
      // For now where the group begins; filling moves it to the end.
      ends[group] = end
      end += size
    }
    const ranks = new Int32Array(this.#count)
    for (let i = 0; i < this.#count; i++) {
      ranks[ends[this.#collectedGroups[i]!]!++] = rankOf[this.#collectedCodes[i]!]!
    }
    for (let group = 0, start = 0; group < ends.length; group++) {
      checkCancelled()
      ranks.subarray(start, ends[group]).sort()
      start = ends[group]!
    }
    const sizes = Float64Array.from({ length: count }, (_, code) => {
      checkAtTimes()
      return textOf(this.#codes.valueAt(code)).length + 1
    })
    return { sizes, ends, members: ranks.map((rank) => order[rank]!) }
  }
}

interface SortedLists {
  /** Characters of each value, by code. */
  readonly sizes: Float64Array
  /** Codes of the values of all lists, in order; those of group `i` end at `ends[i]`, where the next group's begin. */
  readonly ends: Int32Array
  readonly members: Int32Array
}

/** Places among the members of all lists. Throws LIMIT_MEMORY when they are too long. */
function membersOf(group: number, { members, sizes, ends }: SortedLists) {
  const start = group === 0 ? 0 : ends[group - 1]!
  const end = ends[group]!
  let size = 0
  for (let i = start; i < end; i++) {
    checkAtTimes()
    size += sizes[members[i]!]!
    checkCollected(size)
  }
  return { start, end }
}
