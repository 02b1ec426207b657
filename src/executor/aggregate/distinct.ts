import { newCodes } from '../../kernel/arena.ts'
import { pickCodes } from '../../kernel/gather.ts'
import type { Value } from '../../type/value.ts'
import type { SharedTexts } from '../../vector/shared-dictionary.ts'
import type { Vector } from '../../vector/vector.ts'
import { CompositeKeys } from '../column/composite-keys.ts'
import { ValueCodes } from '../column/value-codes.ts'
import { countOf, vectorOf } from '../column/wire-values.ts'
import type { Field } from '../expression/batch.ts'
import { checkLimit, maximumDistinctValues } from '../thread/memory-limit.ts'
import type { AggregateState, AliveRows } from './state.ts'
import type { WireState } from './wire-state.ts'

/** Aggregates over different values: each counts once, and null not at all. */
export abstract class DifferentValues implements AggregateState {
  /** The shared dictionary of the argument, if it has one. */
  protected readonly dictionary: SharedTexts | undefined
  protected readonly codes: ValueCodes
  /** (group, code of a value) */
  protected readonly pairs = new CompositeKeys()
  #groupCount = 1

  constructor(dictionary: SharedTexts | undefined) {
    this.dictionary = dictionary
    this.codes = new ValueCodes(dictionary)
  }

  get heldBytes(): number {
    return this.codes.heldBytes + this.pairs.heldBytes
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update([vector]: readonly Vector[], { rowCount, selection, groups, count }: AliveRows): void {
    // No rows have no constant either.
    if (!vector || count === 0) return
    const codes = newCodes(count)
    this.codes.encode(vector, rowCount, selection, codes)
    this.add(groups, codes, count)
  }

  updateField({ shared }: Field, { rowCount, selection, groups, count }: AliveRows): boolean {
    if (!this.dictionary || !shared) return false
    const codes = newCodes(count)
    this.codes.encodeShared(shared, rowCount, selection, codes)
    this.add(groups, codes, count)
    return true
  }

  toWire(_groupCount: number): WireState {
    const { firsts, seconds } = this.pairs
    return { kind: 'pairs', groups: firsts.slice(), values: this.codes.toKeys(seconds) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'pairs') return
    const { values } = wire
    const count = values.kind === 'shared' ? values.codes.length : countOf(values)
    if (count === 0) return
    const codes = newCodes(count)
    if (values.kind === 'shared') this.codes.encodeKeys(values, codes)
    else this.codes.encode(vectorOf(values), count, undefined, codes)
    const pairGroups = new Int32Array(count)
    pickCodes(groups, wire.groups, pairGroups)
    this.add(pairGroups, codes, count)
  }

  abstract result(group: number): Value

  /** Adds values by their codes in `codes`. */
  protected add(groups: Int32Array, codes: Int32Array, count: number): void {
    const pairs = newCodes(count)
    pairs.set(groups.subarray(0, count))
    this.pairs.combine(pairs, this.#groupCount, codes, this.codes.count, count)
    const hint = 'filter, or use fewer groups'
    checkLimit(this.pairs.count, maximumDistinctValues, 'different values', hint)
  }
}

export class DistinctState extends DifferentValues {
  readonly #finish: (values: readonly Value[]) => Value
  #codesOf: Map<number, number[]> | undefined
  /** Sorting and printing both ask for a result. */
  readonly #results = new Map<number, Value>()

  /** @param finish makes the result of the different values that are not null, in any order */
  constructor(dictionary: SharedTexts | undefined, finish: (values: readonly Value[]) => Value) {
    super(dictionary)
    this.#finish = finish
  }

  result(group: number): Value {
    let result = this.#results.get(group)
    if (result === undefined) {
      this.#codesOf ??= this.#byGroup()
      const codes = this.#codesOf.get(group) ?? []
      result = this.#finish(codes.map((code) => this.codes.valueAt(code)))
      this.#results.set(group, result)
    }
    return result
  }

  /** Codes of the values of each group, but for null. */
  #byGroup(): Map<number, number[]> {
    const { firsts, seconds } = this.pairs
    const codesOf = new Map<number, number[]>()
    for (let pair = 0; pair < firsts.length; pair++) {
      if (seconds[pair] === this.codes.nullCode) continue
      const codes = codesOf.get(firsts[pair]!)
      if (codes) codes.push(seconds[pair]!)
      else codesOf.set(firsts[pair]!, [seconds[pair]!])
    }
    return codesOf
  }
}
