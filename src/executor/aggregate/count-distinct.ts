/** `count_distinct`, and `count` of different values. */

import { addBits, countBits } from '../../kernel/bit-rows.ts'
import type { Value } from '../../type/value.ts'
import type { SharedTexts } from '../../vector/shared-dictionary.ts'
import { grown } from '../column/grown.ts'
import type { Field } from '../expression/batch.ts'
import { DifferentValues } from './distinct.ts'
import type { AliveRows } from './state.ts'
import type { WireState } from './wire-state.ts'

/** Words of bits, 32 each, of all groups: 16 MiB. With more, pairs of groups and values are kept. */
const maximumWords = 1 << 22

/**
 * Texts of a shared dictionary are bits, which are set and merged many times as fast as pairs of groups
 * and values are numbered; all else is such pairs.
 */
export class CountDistinctState extends DifferentValues {
  readonly #wordsPerGroup: number
  /** Undefined without a dictionary, and when they would be too many. */
  #bits: Int32Array | undefined
  #counts: Float64Array | undefined

  constructor(dictionary: SharedTexts | undefined) {
    super(dictionary)
    this.#wordsPerGroup = ((dictionary?.count ?? 0) + 31) >>> 5
    this.#bits = dictionary && new Int32Array(0)
  }

  override get heldBytes(): number {
    return super.heldBytes + (this.#bits?.byteLength ?? 0)
  }

  override resize(groupCount: number): void {
    super.resize(groupCount)
    if (!this.#bits) return
    const words = groupCount * this.#wordsPerGroup
    if (words <= maximumWords) this.#bits = grown(this.#bits, words, 0)
    else this.#keepPairs()
  }

  override updateField(field: Field, rows: AliveRows): boolean {
    const { shared } = field
    if (!this.#bits || !shared || shared.dictionary !== this.dictionary) {
      return super.updateField(field, rows)
    }
    const { rowCount, selection, groups, only } = rows
    const places = { codes: shared.codes, map: shared.map, selection, count: rowCount }
    addBits(this.#bits, this.#wordsPerGroup, only ?? groups, places)
    return true
  }

  override toWire(groupCount: number): WireState {
    const wire = super.toWire(groupCount)
    if (wire.kind !== 'pairs' || !this.#bits) return wire
    const wordsPerGroup = this.#wordsPerGroup
    const bits = this.#bits.subarray(0, groupCount * wordsPerGroup)
    return { ...wire, held: { bits, wordsPerGroup } }
  }

  override merge(wire: WireState, groups: Int32Array): void {
    super.merge(wire, groups)
    if (wire.kind !== 'pairs' || !wire.held) return
    const { bits, wordsPerGroup } = wire.held
    for (const [i, group] of groups.entries()) {
      const held = bits.subarray(i * wordsPerGroup, (i + 1) * wordsPerGroup)
      if (!this.#bits) this.#addPlaces(group, held)
      else {
        const at = group * wordsPerGroup
        for (let word = 0; word < wordsPerGroup; word++) this.#bits[at + word]! |= held[word]!
      }
    }
  }

  result(group: number): Value {
    this.#counts ??= this.#count()
    return this.#counts[group] ?? 0
  }

  protected override add(groups: Int32Array, codes: Int32Array, count: number): void {
    if (!this.#bits) {
      super.add(groups, codes, count)
      return
    }
    const places = this.codes.sharedCodesOf(codes.subarray(0, count))
    const others = { groups: new Int32Array(count), codes: new Int32Array(count) }
    let otherCount = 0
    for (let i = 0; i < count; i++) {
      others.groups[otherCount] = groups[i]!
      others.codes[otherCount] = codes[i]!
      otherCount += +(places[i]! < 0)
    }
    const all = { codes: places, map: undefined, selection: undefined, count }
    addBits(this.#bits, this.#wordsPerGroup, groups, all)
    if (otherCount > 0) super.add(others.groups, others.codes, otherCount)
  }

  #keepPairs(): void {
    const bits = this.#bits!
    const words = this.#wordsPerGroup
    this.#bits = undefined
    for (let at = 0; at < bits.length; at += words) {
      this.#addPlaces(at / words, bits.subarray(at, at + words))
    }
  }

  /** Adds the texts of a group whose bits are set as pairs. */
  #addPlaces(group: number, bits: Int32Array): void {
    const places = new Int32Array(countBits(bits))
    let count = 0
    for (let word = 0; word < bits.length; word++) {
      for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) {
        places[count++] = word * 32 + 31 - Math.clz32(rest & -rest)
      }
    }
    if (count === 0) return
    const codes = new Int32Array(count)
    const dictionary = this.dictionary!
    this.codes.encodeShared({ dictionary, codes: places, map: undefined }, count, undefined, codes)
    super.add(new Int32Array(count).fill(group), codes, count)
  }

  #count(): Float64Array {
    const { firsts, seconds } = this.pairs
    const { nullCode } = this.codes
    // Pairs of one group are all values that have a code, also of texts that came without one of the dictionary and are bits.
    const places = this.#bits && this.codes.sharedCodesOf()
    const words = this.#wordsPerGroup
    const held = this.#bits ?? new Int32Array(0)
    const most = firsts.reduce((most, group) => Math.max(most, group + 1), 0)
    const counts = new Float64Array(Math.max(most, words === 0 ? 0 : held.length / words))
    for (let pair = 0; pair < firsts.length; pair++) {
      const code = seconds[pair]!
      const isBit = places !== undefined && places[code]! >= 0
      if (code !== nullCode && !isBit) counts[firsts[pair]!]!++
    }
    for (let at = 0; at < held.length; at += words) {
      counts[at / words]! += countBits(held.subarray(at, at + words))
    }
    return counts
  }
}
