import { sumNumbers } from '../../kernel/aggregate.ts'
import { sequence } from '../../kernel/sequence.ts'
import { asNumber } from '../../type/arithmetic.ts'
import { compareText } from '../../type/compare.ts'
import { isObject, type Value } from '../../type/value.ts'
import { type Vector, valueReader } from '../../vector/vector.ts'
import { CompositeKeys } from '../column/composite-keys.ts'
import { checkLimit, maximumDistinctValues } from '../thread/memory-limit.ts'
import { type Sorted, sortedBy } from './sorted-by.ts'
import { type AggregateState, type AliveRows, grownState, type ObjectEntry } from './state.ts'
import { summableNumbers } from './sum.ts'
import type { WireState } from './wire-state.ts'

/** `sum_entries` and `avg_entries`: of objects, key by key; an object of what `sum` or `avg` gives. */
export class EntriesState implements AggregateState {
  readonly #finish: (sum: number, count: number) => number
  readonly #keys = new Map<string, number>()
  /** (group, code of the key) */
  readonly #pairs = new CompositeKeys()
  #groupCount = 1
  /** By pair. */
  #sums: Float64Array = new Float64Array(0)
  #errors: Float64Array = new Float64Array(0)
  #counts: Float64Array = new Float64Array(0)
  #sorted: SortedPairs | undefined

  constructor(finish: (sum: number, count: number) => number) {
    this.#finish = finish
  }

  get heldBytes(): number {
    return this.#pairs.heldBytes + 3 * this.#sums.byteLength
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update([vector]: readonly Vector[], { selection, groups, count }: AliveRows): void {
    if (!vector || (vector.kind === 'constant' && !isObject(vector.value))) return
    const read = valueReader(vector)
    const found: { groups: number[]; keys: number[]; numbers: number[] } = {
      groups: [],
      keys: [],
      numbers: [],
    }
    for (let j = 0; j < count; j++) {
      const value = read(selection ? selection[j]! : j)
      if (!isObject(value)) continue
      for (const key of Object.keys(value)) {
        const number = asNumber(value[key]!)
        if (number === null) continue
        found.groups.push(groups[j]!)
        found.keys.push(this.#codeOf(key))
        found.numbers.push(number)
      }
    }
    const pairs = this.#pairsOf(Int32Array.from(found.groups), Int32Array.from(found.keys))
    this.#add(Float64Array.from(found.numbers), pairs)
  }

  updateEntries(entries: readonly ObjectEntry[], rows: AliveRows): void {
    for (const { name, vector } of entries) {
      const numbers = summableNumbers(vector, rows)
      if (!numbers) continue
      const keys = new Int32Array(rows.count).fill(this.#codeOf(name))
      this.#add(numbers, this.#pairsOf(rows.groups.slice(0, rows.count), keys))
    }
  }

  toWire(): WireState {
    const { count } = this.#pairs
    return {
      kind: 'entries',
      keys: [...this.#keys.keys()],
      groups: Int32Array.from(this.#pairs.firsts),
      names: Int32Array.from(this.#pairs.seconds),
      sums: this.#sums.slice(0, count),
      errors: this.#errors.slice(0, count),
      counts: this.#counts.slice(0, count),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'entries') return
    const table = Int32Array.from(wire.keys, (key) => this.#codeOf(key))
    const pairs = this.#pairsOf(
      wire.groups.map((group) => groups[group]!),
      wire.names.map((name) => table[name]!),
    )
    const ignored = new Float64Array(this.#counts.length)
    sumNumbers(wire.sums, pairs, pairs.length, this.#sums, this.#errors, ignored)
    sumNumbers(wire.errors, pairs, pairs.length, this.#sums, this.#errors, ignored)
    for (let i = 0; i < pairs.length; i++) this.#counts[pairs[i]!]! += wire.counts[i]!
  }

  result(group: number): Value {
    this.#sorted ??= this.#sort()
    const { places, ends, names } = this.#sorted
    let object: Record<string, Value> | null = null
    for (let i = group === 0 ? 0 : ends[group - 1]!; i < ends[group]!; i++) {
      const pair = places[i]!
      if (this.#counts[pair] === 0) continue
      const value = this.#finish(this.#sums[pair]! + this.#errors[pair]!, this.#counts[pair]!)
      if (!Number.isFinite(value)) continue
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
    this.#sums = grownState(this.#sums, count, 0)
    this.#errors = grownState(this.#errors, count, 0)
    this.#counts = grownState(this.#counts, count, 0)
    return groups
  }

  #add(numbers: Float64Array, pairs: Int32Array): void {
    sumNumbers(numbers, pairs, pairs.length, this.#sums, this.#errors, this.#counts)
  }

  /** Pairs are put in order once: by group, and there by key. */
  #sort(): SortedPairs {
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
