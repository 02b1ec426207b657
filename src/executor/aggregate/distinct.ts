import { sequence } from '../../kernel/sequence.ts'
import type { Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'
import { ValueCodes } from '../value-codes.ts'
import { countOf, vectorOf } from '../wire-values.ts'
import type { AggregateState, AliveRows, WireState } from './state.ts'

/** Aggregates over different values: each counts once, and null not at all. */
abstract class DifferentValues implements AggregateState {
  protected readonly codes = new ValueCodes()
  /** Codes that occur in each group; undefined while there is one group, which has them all. */
  protected groups: Set<number>[] | undefined

  resize(groupCount: number): void {
    if (groupCount === 1 && !this.groups) return
    this.groups ??= [new Set(allCodes(this.codes))]
    while (this.groups.length < groupCount) this.groups.push(new Set())
  }

  update([vector]: readonly Vector[], { rowCount, selection, groups, count }: AliveRows): void {
    // No rows have no constant either.
    if (!vector || count === 0) return
    const codes = new Int32Array(count)
    this.codes.encode(vector, rowCount, selection, codes)
    if (!this.groups) return
    let [lastGroup, lastCode] = [-1, -1]
    for (let j = 0; j < count; j++) {
      const [group, code] = [groups[j]!, codes[j]!]
      if (group === lastGroup && code === lastCode) continue
      this.groups[group]!.add(code)
      lastGroup = group
      lastCode = code
    }
  }

  toWire(groupCount: number): WireState {
    const groups: number[] = []
    const found: number[] = []
    for (let group = 0; group < groupCount; group++) {
      for (const code of this.groups?.[group] ?? allCodes(this.codes)) {
        groups.push(group)
        found.push(code)
      }
    }
    const values = this.codes.toWire(Int32Array.from(found))
    return { kind: 'pairs', groups: Int32Array.from(groups), values }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'pairs') return
    const count = countOf(wire.values)
    const pairGroups = wire.groups.map((group) => groups[group]!)
    const rows = { rowCount: count, selection: undefined, groups: pairGroups, count }
    this.update([vectorOf(wire.values)], rows)
  }

  abstract result(group: number): Value
}

export class CountDistinctState extends DifferentValues {
  result(group: number): Value {
    const { nullCode, count } = this.codes
    if (!this.groups) return count - (nullCode >= 0 ? 1 : 0)
    const codes = this.groups[group]!
    return codes.size - (nullCode >= 0 && codes.has(nullCode) ? 1 : 0)
  }
}

export class DistinctState extends DifferentValues {
  readonly #finish: (values: readonly Value[]) => Value
  /** Sorting and printing both ask for a result. */
  readonly #results = new Map<number, Value>()

  /** @param finish makes the result of the different values that are not null, in any order */
  constructor(finish: (values: readonly Value[]) => Value) {
    super()
    this.#finish = finish
  }

  result(group: number): Value {
    let result = this.#results.get(group)
    if (result === undefined) {
      const codes = Array.from(this.groups?.[group] ?? allCodes(this.codes))
      const values = codes.map((code) => this.codes.valueAt(code))
      result = this.#finish(values.filter((value) => value !== null))
      this.#results.set(group, result)
    }
    return result
  }
}

function allCodes({ count }: ValueCodes): Int32Array {
  return sequence(0, count)
}
