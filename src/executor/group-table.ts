import type { Value } from '../type/value.ts'
import type { Selection, Vector } from '../vector/vector.ts'
import { checkLimit, maximumGroups } from './memory-limit.ts'
import { PairCodes } from './pair-codes.ts'
import { ValueCodes } from './value-codes.ts'
import type { WireValues } from './wire-values.ts'

/** Numbers the distinct combinations of key values: the groups, in the order they are first seen. */
export class GroupTable {
  readonly #keys: readonly ValueCodes[]
  /** For each key from the second on: (group of the keys before, code) → group of the keys so far. */
  readonly #pairs: readonly PairCodes[]

  constructor(keyCount: number) {
    this.#keys = Array.from({ length: keyCount }, () => new ValueCodes())
    this.#pairs = Array.from({ length: Math.max(0, keyCount - 1) }, () => new PairCodes())
  }

  get groupCount(): number {
    if (this.#keys.length === 0) return 1
    return this.#pairs.at(-1)?.count ?? this.#keys[0]!.count
  }

  /**
   * Writes the groups of the selected rows, one after the other, to `out`. Without keys nothing is
   * written: `out` must hold zeros, for the one group that there is.
   */
  assign(keys: readonly Vector[], rowCount: number, selection: Selection, out: Int32Array): void {
    const count = selection ? selection.length : rowCount
    if (keys.length === 0) return
    this.#keys[0]!.encode(keys[0]!, rowCount, selection, out)
    const codes = new Int32Array(keys.length > 1 ? count : 0)
    for (let k = 1; k < keys.length; k++) {
      this.#keys[k]!.encode(keys[k]!, rowCount, selection, codes)
      this.#pairs[k - 1]!.combine(out, codes, count)
    }
    checkLimit(this.groupCount, maximumGroups, 'groups', 'group by less, or filter')
  }

  /** A function that gives the value of a key in a group. Groups must not be added any more. */
  keyReader(): (key: number, group: number) => Value {
    const codes = this.#keyCodes()
    return (key, group) => this.#keys[key]!.valueAt(codes[key]![group]!)
  }

  /** Key values of all groups, key by key, for another thread. */
  toWire(): WireValues[] {
    return this.#keyCodes().map((codes, k) => this.#keys[k]!.toWire(codes))
  }

  /** Codes of all groups, key by key. */
  #keyCodes(): Int32Array[] {
    let groups = Int32Array.from({ length: this.groupCount }, (_, group) => group)
    const codes: Int32Array[] = []
    for (let k = this.#keys.length - 1; k > 0; k--) {
      const { firsts, seconds } = this.#pairs[k - 1]!
      codes.unshift(groups.map((pair) => seconds[pair]!))
      groups = groups.map((pair) => firsts[pair]!)
    }
    if (this.#keys.length > 0) codes.unshift(groups)
    return codes
  }
}
