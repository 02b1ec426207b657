import { GroupSums } from '../../kernel/group-sums.ts'
import { sequence } from '../../kernel/sequence.ts'
import { asNumber } from '../../type/arithmetic.ts'
import { compareText } from '../../type/compare.ts'
import { isObject, type Value } from '../../type/value.ts'
import { type Selection, type Vector, valueReader } from '../../vector/vector.ts'
import { CompositeKeys } from '../column/composite-keys.ts'
import type { Field } from '../expression/batch.ts'
import { checkLimit, maximumDistinctValues } from '../thread/memory-limit.ts'
import { type Sorted, sortedBy } from './sorted-by.ts'
import type { AggregateState, AliveRows } from './state.ts'
import { type OfSum, resultOf, type Summands, summandsOf } from './sum.ts'
import type { WireState } from './wire-state.ts'

/** `sum_entries` and `avg_entries`: of objects, key by key; an object of what `sum` or `avg` gives. */
export class EntriesState implements AggregateState {
  readonly #of: OfSum
  readonly #keys = new Map<string, number>()
  /** (group, code of the key) */
  readonly #pairs = new CompositeKeys()
  #groupCount = 1
  /** By pair. */
  readonly #sums = new GroupSums()
  #sorted: SortedPairs | undefined

  constructor(of: OfSum) {
    this.#of = of
  }

  get heldBytes(): number {
    return this.#pairs.heldBytes + this.#sums.heldBytes
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update([vector]: readonly Vector[], { selection, groups, count }: AliveRows): void {
    if (!vector || (vector.kind === 'constant' && !isObject(vector.value))) return
    const read = valueReader(vector)
    const found = { groups: [] as number[], keys: [] as number[], numbers: [] as number[] }
    const integers = new Map<number, bigint>()
    for (let j = 0; j < count; j++) {
      const value = read(selection ? selection[j]! : j)
      if (!isObject(value)) continue
      for (const key of Object.keys(value)) {
        const member = value[key]!
        const number = asNumber(member)
        if (number === null) continue
        if (typeof member === 'bigint') integers.set(found.numbers.length, member)
        found.groups.push(groups[j]!)
        found.keys.push(this.#codeOf(key))
        found.numbers.push(typeof member === 'bigint' ? Number.NaN : number)
      }
    }
    const pairs = this.#pairsOf(Int32Array.from(found.groups), Int32Array.from(found.keys))
    this.#add({ numbers: Float64Array.from(found.numbers), integers }, pairs)
  }

  updateField({ members }: Field, rows: AliveRows, selected: Selection): boolean {
    if (!members) return false
    for (const { name, field } of members) {
      const summands = summandsOf(field.read(selected), rows)
      if (!summands) continue
      const keys = new Int32Array(rows.count).fill(this.#codeOf(name))
      this.#add(summands, this.#pairsOf(rows.groups.slice(0, rows.count), keys))
    }
    return true
  }

  toWire(): WireState {
    const { count } = this.#pairs
    return {
      kind: 'entries',
      keys: [...this.#keys.keys()],
      groups: Int32Array.from(this.#pairs.firsts),
      names: Int32Array.from(this.#pairs.seconds),
      sums: this.#sums.toWire(sequence(0, count)),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'entries') return
    const table = Int32Array.from(wire.keys, (key) => this.#codeOf(key))
    const pairs = this.#pairsOf(
      wire.groups.map((group) => groups[group]!),
      wire.names.map((name) => table[name]!),
    )
    this.#sums.merge(wire.sums, pairs)
  }

  result(group: number): Value {
    this.#sorted ??= this.#sort()
    const { places, ends, names } = this.#sorted
    let object: Record<string, Value> | null = null
    for (let i = group === 0 ? 0 : ends[group - 1]!; i < ends[group]!; i++) {
      const pair = places[i]!
      if (this.#sums.countOf(pair) === 0) continue
      const value = resultOf(this.#of, this.#sums, pair)
      if (value === null) continue
      object ??= Object.create(null) as Record<string, Value>
      object[names[this.#pairs.seconds[pair]!]!] = value
    }
    return object
  }

  #codeOf(key: string): number {
    let code = this.#keys.get(key)
    if (code === undefined) {
      code = this.#keys.size
      this.#keys.set(key, code)
    }
    return code
  }

  /** The pairs, in place of the groups. */
  #pairsOf(groups: Int32Array, keys: Int32Array): Int32Array {
    this.#pairs.combine(groups, this.#groupCount, keys, this.#keys.size, keys.length)
    const { count } = this.#pairs
    checkLimit(count, maximumDistinctValues, 'sums of entries', 'filter, or use fewer groups')
    this.#sums.resize(count)
    return groups
  }

  #add({ numbers, integers }: Summands, pairs: Int32Array): void {
    this.#sums.add(numbers, pairs, pairs.length)
    for (const [place, integer] of integers) this.#sums.addOne(pairs[place]!, integer)
  }

  /** Pairs are put in order once: by group, and there by key. */
  #sort(): SortedPairs {
    this.#sums.settle()
    const names = [...this.#keys.keys()].sort(compareText)
    const { firsts, seconds, count } = this.#pairs
    const byKey = sortedBy(seconds, sequence(0, count), names.length)
    const keyEnds = byKey.ends
    const byName = new Int32Array(count)
    let end = 0
    for (const name of names) {
      const key = this.#keys.get(name)!
      const pairs = byKey.places.subarray(key === 0 ? 0 : keyEnds[key - 1]!, keyEnds[key])
      byName.set(pairs, end)
      end += pairs.length
    }
    return { ...sortedBy(firsts, byName, this.#groupCount), names: [...this.#keys.keys()] }
  }
}

interface SortedPairs extends Sorted {
  /** By code of the key. */
  readonly names: readonly string[]
}
