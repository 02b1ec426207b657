import { newCodes } from '../../kernel/arena.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { SharedTexts } from '../../vector/shared-dictionary.ts'
import type { Selection } from '../../vector/vector.ts'
import { checkLimit, maximumGroups } from '../thread/memory-limit.ts'
import { CompositeKeys } from './composite-keys.ts'
import { encodeMixed, type GroupKey } from './mixed-key.ts'
import { ValueCodes } from './value-codes.ts'
import { type KeyValues, vectorOf, type WireValues } from './wire-values.ts'

/** Numbers the distinct combinations of key values: the groups, in the order they are first seen. */
export class GroupTable {
  readonly #keys: readonly ValueCodes[]
  /** For each key from the second on: (group of the keys before, code) → group of the keys so far. */
  readonly #pairs: readonly CompositeKeys[]

  /** @param dictionaries for each key, the dictionary that most of its texts come from, if any */
  constructor(dictionaries: readonly (SharedTexts | undefined)[]) {
    this.#keys = dictionaries.map((dictionary) => new ValueCodes(dictionary))
    this.#pairs = dictionaries.slice(1).map(() => new CompositeKeys())
  }

  get keyCount(): number {
    return this.#keys.length
  }

  get groupCount(): number {
    if (this.#keys.length === 0) return 1
    return this.#pairs.at(-1)?.count ?? this.#keys[0]!.count
  }

  get heldBytes(): number {
    let bytes = 0
    for (const key of this.#keys) bytes += key.heldBytes
    for (const pairs of this.#pairs) bytes += pairs.heldBytes
    return bytes
  }

  /**
   * Writes the groups of the selected rows, one after the other, to `out`. Without keys nothing is
   * written: `out` must hold zeros, for the one group that there is.
   */
  assign(keys: readonly GroupKey[], rowCount: number, selection: Selection, out: Int32Array): void {
    this.#assign(out, selection ? selection.length : rowCount, (k, codes) => {
      const key = keys[k]!
      if ('kind' in key) this.#keys[k]!.encode(key, rowCount, selection, codes)
      else if ('variants' in key) encodeMixed(this.#keys[k]!, key, rowCount, selection, codes)
      else this.#keys[k]!.encodeShared(key, rowCount, selection, codes)
    })
  }

  /** The same for the keys of another table's groups. */
  assignKeys(keys: readonly KeyValues[], groupCount: number, out: Int32Array): void {
    this.#assign(out, groupCount, (k, codes) => {
      const key = keys[k]!
      if (key.kind === 'shared') this.#keys[k]!.encodeKeys(key, codes)
      else this.#keys[k]!.encode(vectorOf(key), groupCount, undefined, codes)
    })
  }

  #assign(out: Int32Array, count: number, encode: (key: number, codes: Int32Array) => void): void {
    if (this.#keys.length === 0) return
    encode(0, out)
    const codes = newCodes(this.#keys.length > 1 ? count : 0)
    let groupsBefore = this.#keys[0]!.count
    for (let k = 1; k < this.#keys.length; k++) {
      const [key, pairs] = [this.#keys[k]!, this.#pairs[k - 1]!]
      if (groupsBefore <= 1) {
        encode(k, out)
        pairs.takeSeconds(key.count)
      } else {
        encode(k, codes)
        pairs.combine(out, groupsBefore, codes, key.count, count)
      }
      groupsBefore = pairs.count
    }
    checkLimit(this.groupCount, maximumGroups, 'groups', 'group by less, or filter')
  }

  /** Key values of these groups, key by key, for another thread; undefined: of all. */
  toWire(groups: Int32Array | undefined): KeyValues[] {
    return this.#keys.map((key, k) => key.toKeys(this.#codesOf(k, groups) ?? this.#allGroups()))
  }

  /** By group, the code that its key has in the key's shared dictionary; -1: none. */
  sharedCodes(key: number): Int32Array {
    return this.#keys[key]!.sharedCodesOf(this.#codesOf(key, undefined))
  }

  /** Values of a key in these groups; undefined: in all. */
  keyValues(key: number, groups: Int32Array | undefined): WireValues {
    return this.#keys[key]!.toWire(this.#codesOf(key, groups) ?? this.#allGroups())
  }

  /** Codes of a key in these groups; undefined: in all, and where the code of each is its number. */
  #codesOf(key: number, groups: Int32Array | undefined): Int32Array | undefined {
    let codes = groups
    for (let k = this.#pairs.length; k > key; k--) codes = this.#pairs[k - 1]!.firstsOf(codes)
    return key > 0 ? this.#pairs[key - 1]!.secondsOf(codes) : codes
  }

  #allGroups(): Int32Array {
    return sequence(0, this.groupCount)
  }
}
