import { repeatedUsage, type UsageSpan } from '../../function/repeated-usage.ts'
import { sequence } from '../../kernel/sequence.ts'
import { hashIntegers } from '../../kernel/text-hashes.ts'
import type { Value } from '../../type/value.ts'
import { rowsOf, type Vector, valueReader } from '../../vector/vector.ts'
import { grown } from '../column/grown.ts'
import { ListedValues } from '../column/listed-values.ts'
import { ValueHashes } from '../column/value-hashes.ts'
import { concatenateTexts, countOf, vectorOf, type WireValues } from '../column/wire-values.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit, maximumCollectedValues, maximumDistinctBytes } from '../thread/memory-limit.ts'
import { type Sorted, sortedBy } from './sorted-by.ts'
import type { AggregateState, AliveRows, WireState } from './state.ts'

/** What is kept of a span: hashes of its `span_id` and its parent, its traits, and the place of its id or -1. */
const numbersPerSpan = 6
const [spanAt, parentAt, traitsAt, idAt] = [0, 2, 4, 5]

/** `again`: the span is the one before, with another parent. */
const trait = { reports: 1, call: 2, tool: 4, scorer: 8, again: 16 } as const

/**
 * `repeated_usage(id, span_id, reports, type, purpose, parent, …)` over the spans of a trace: the ids of
 * those whose usage other spans report, too (`function/repeated-usage.ts`); null of none.
 *
 * Spans are told apart by hashes of 64 bits, and only within their trace: to number the texts of a million
 * spans took ten times as long as reading them. Most traces repeat nothing; a set of bits tells which may.
 */
export class RepeatedUsageState implements AggregateState {
  readonly #hashes = new ValueHashes()
  /** Of spans that report usage. */
  readonly #ids = new ListedValues()
  #groups = new Int32Array(1024)
  /** `numbersPerSpan` for each span; of one with several parents, so many for each of them, one after the other. */
  #spans = new Int32Array(numbersPerSpan * 1024)
  #count = 0
  #groupCount = 1
  #found: FoundGroups | undefined

  get heldBytes(): number {
    return this.#ids.byteLength + this.#groups.byteLength + this.#spans.byteLength
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update(vectors: readonly Vector[], { rowCount, selection, groups, count }: AliveRows): void {
    const [id, span, reports, type, purpose, ...parents] = vectors
    if (!id || !span || !reports || !type || !purpose) return
    const rows = rowsOf(selection, rowCount)
    const traits = new Uint8Array(count)
    markTrait(reports, true, trait.reports, rows, traits)
    markTrait(type, 'llm', trait.call, rows, traits)
    markTrait(type, 'tool', trait.tool, rows, traits)
    markTrait(purpose, 'scorer', trait.scorer, rows, traits)
    const spans = this.#hashes.of(span, rowCount, selection)
    const [first, ...others] = parents
      .filter((parent, i) => i === 0 || !isNull(parent))
      .map((parent) => this.#hashes.of(parent, rowCount, selection))
    this.#makeRoom(count * (1 + others.length))
    let nextId = this.#ids.count
    this.#ids.add(
      id,
      rows.filter((_, j) => (traits[j]! & trait.reports) !== 0),
    )
    checkLimit(this.#ids.byteLength, maximumDistinctBytes, 'bytes of ids', 'filter the rows')
    for (let j = 0; j < count; j++) {
      checkAtTimes()
      const place = (traits[j]! & trait.reports) !== 0 ? nextId++ : -1
      this.#add(groups[j]!, spans, first!, j, traits[j]!, place)
      for (const other of others) {
        const isThere = other[hashIntegers * j] !== 0 || other[hashIntegers * j + 1] !== 0
        if (isThere) this.#add(groups[j]!, spans, other, j, trait.again, -1)
      }
    }
  }

  toWire(): WireState {
    return {
      kind: 'usage',
      groups: this.#groups.slice(0, this.#count),
      spans: this.#spans.slice(0, numbersPerSpan * this.#count),
      ids: this.#ids.toWire(),
    }
  }

  /** Most groups stay where they are, and with them most ids. */
  toWireOf(groups: Int32Array): WireState {
    const numbers = new Int32Array(this.#groupCount).fill(-1)
    for (let i = 0; i < groups.length; i++) numbers[groups[i]!] = i
    const places = this.#placesWhere((group) => numbers[group]! >= 0)
    const spans = new Int32Array(numbersPerSpan * places.length)
    const ids = new Int32Array(places.length)
    let idCount = 0
    for (let i = 0; i < places.length; i++) {
      checkAtTimes()
      const from = numbersPerSpan * places[i]!
      const to = numbersPerSpan * i
      for (let k = 0; k < numbersPerSpan; k++) spans[to + k] = this.#spans[from + k]!
      if (spans[to + idAt]! < 0) continue
      ids[idCount] = spans[to + idAt]!
      spans[to + idAt] = idCount++
    }
    return {
      kind: 'usage',
      groups: places.map((place) => numbers[this.#groups[place]!]!),
      spans,
      ids: this.#ids.toWire(ids.subarray(0, idCount)),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'usage') return
    const firstId = this.#ids.count
    this.#ids.add(vectorOf(wire.ids), sequence(0, countOf(wire.ids)))
    const from = this.#count
    this.#makeRoom(wire.groups.length)
    this.#spans.set(wire.spans, numbersPerSpan * from)
    this.#count += wire.groups.length
    for (let i = 0; i < wire.groups.length; i++) {
      this.#groups[from + i] = groups[wire.groups[i]!]!
      const at = numbersPerSpan * (from + i) + idAt
      if (this.#spans[at]! >= 0) this.#spans[at]! += firstId
    }
  }

  result(group: number): Value {
    this.#found ??= this.#find()
    const { mayRepeat, byGroup } = this.#found
    if (mayRepeat?.[group] !== 1) return null
    const { places, ends } = byGroup
    const members = places.subarray(group === 0 ? 0 : ends[group - 1]!, ends[group])
    const { spans, ids } = this.#spansOf(members)
    const repeated = repeatedUsage(spans)
    if (repeated.length === 0) return null
    return repeated.map((i) => this.#ids.valueAt(ids[i]!))
  }

  /** Of traces none of which repeats any. */
  column(groups: Int32Array): WireValues | undefined {
    this.#found ??= this.#find()
    if (this.#found.mayRepeat) return undefined
    const values = concatenateTexts([], new Uint8Array(0), new Int32Array(0))
    return { kind: 'coded', codes: new Int32Array(groups.length).fill(-1), values }
  }

  /** The spans of a trace, and the places of their ids. */
  #spansOf(members: Int32Array) {
    const numbers = new SpanNumbers(members.length)
    const all = this.#spans
    for (const place of members) {
      const at = numbersPerSpan * place + spanAt
      numbers.add(all[at]!, all[at + 1]!)
    }
    const ids: number[] = []
    const spans: UsageSpan[] = []
    let parents: number[] = []
    for (const place of members) {
      const at = numbersPerSpan * place
      const traits = all[at + traitsAt]!
      if ((traits & trait.again) === 0) {
        parents = []
        ids.push(all[at + idAt]!)
        spans.push(usageSpan(numbers.of(all[at + spanAt]!, all[at + spanAt + 1]!), parents, traits))
      }
      // Null, like a parent that is not there, has no number.
      const parent = numbers.of(all[at + parentAt]!, all[at + parentAt + 1]!)
      if (parent >= 0) parents.push(parent)
    }
    return { spans, ids }
  }

  /** Groups in which a span that reports usage is the parent of any, and some few others. */
  #find(): FoundGroups {
    const [spans, groups] = [this.#spans, this.#groups]
    const reporting = this.#countReporting()
    const parents = new TraceSpans(this.#count)
    for (let i = 0; i < this.#count; i++) {
      checkAtTimes()
      const group = groups[i]!
      if (reporting[group]! < 2) continue
      const at = numbersPerSpan * i + parentAt
      if (spans[at] !== 0 || spans[at + 1] !== 0) parents.add(group, spans[at]!, spans[at + 1]!)
    }
    const mayRepeat = new Uint8Array(this.#groupCount)
    let isAny = false
    for (let i = 0; i < this.#count; i++) {
      checkAtTimes()
      const group = groups[i]!
      if (reporting[group]! < 2) continue
      const at = numbersPerSpan * i
      if ((spans[at + traitsAt]! & trait.reports) === 0) continue
      if (!parents.mayHold(group, spans[at + spanAt]!, spans[at + spanAt + 1]!)) continue
      mayRepeat[group] = 1
      isAny = true
    }
    if (!isAny) return { mayRepeat: undefined, byGroup: sortedBy(groups, new Int32Array(0), 0) }
    const places = this.#placesWhere((group) => mayRepeat[group] === 1)
    return { mayRepeat, byGroup: sortedBy(groups, places, this.#groupCount) }
  }

  /** By group, how many spans report usage, up to 2: one alone repeats nothing. */
  #countReporting(): Uint8Array {
    const counts = new Uint8Array(this.#groupCount)
    for (let i = 0; i < this.#count; i++) {
      checkAtTimes()
      const traits = this.#spans[numbersPerSpan * i + traitsAt]!
      const group = this.#groups[i]!
      if ((traits & trait.reports) !== 0 && counts[group]! < 2) counts[group]!++
    }
    return counts
  }

  #placesWhere(isWanted: (group: number) => boolean): Int32Array {
    const places = new Int32Array(this.#count)
    let count = 0
    for (let i = 0; i < this.#count; i++) {
      checkAtTimes()
      if (isWanted(this.#groups[i]!)) places[count++] = i
    }
    return places.subarray(0, count)
  }

  #makeRoom(count: number): void {
    const needed = this.#count + count
    checkLimit(needed, maximumCollectedValues, 'spans whose usage is counted', 'filter the rows')
    this.#groups = grown(this.#groups, needed, 0)
    this.#spans = grown(this.#spans, numbersPerSpan * needed, 0)
  }

  /** @param row of the hashes */
  #add(
    group: number,
    spans: Int32Array,
    parents: Int32Array,
    row: number,
    traits: number,
    id: number,
  ): void {
    const at = numbersPerSpan * this.#count
    const hash = hashIntegers * row
    this.#groups[this.#count++] = group
    this.#spans[at + spanAt] = spans[hash]!
    this.#spans[at + spanAt + 1] = spans[hash + 1]!
    this.#spans[at + parentAt] = parents[hash]!
    this.#spans[at + parentAt + 1] = parents[hash + 1]!
    this.#spans[at + traitsAt] = traits
    this.#spans[at + idAt] = id
  }
}

interface FoundGroups {
  /** By group, 1 where its spans are to be looked at; undefined: nowhere. */
  readonly mayRepeat: Uint8Array | undefined
  /** The spans of those groups. */
  readonly byGroup: Sorted
}

/** A set of spans of traces, which takes a few of other spans for its own. */
class TraceSpans {
  /** Of each span, three bits of one word. */
  readonly #words: Int32Array
  readonly #mask: number

  /** @param most spans that are added */
  constructor(most: number) {
    const wordCount = 2 ** Math.ceil(Math.log2(Math.max(2, most / 2)))
    this.#words = new Int32Array(wordCount)
    this.#mask = wordCount - 1
  }

  add(group: number, first: number, second: number): void {
    this.#words[(first ^ Math.imul(group, groupFactor)) & this.#mask]! |= bitsOf(second)
  }

  mayHold(group: number, first: number, second: number): boolean {
    const bits = bitsOf(second)
    return (this.#words[(first ^ Math.imul(group, groupFactor)) & this.#mask]! & bits) === bits
  }
}

const groupFactor = 0x9e3779b1

function bitsOf(hash: number): number {
  return (1 << hash) | (1 << (hash >>> 5)) | (1 << (hash >>> 10))
}

/** Numbers the spans of one trace by their hashes. */
class SpanNumbers {
  /** By slot: a hash, and one more than its number. */
  readonly #slots: Int32Array
  readonly #mask: number
  #count = 0

  constructor(most: number) {
    const slotCount = 2 ** Math.ceil(Math.log2(2 * most + 2))
    this.#slots = new Int32Array(3 * slotCount)
    this.#mask = slotCount - 1
  }

  add(first: number, second: number): void {
    const at = this.#slotOf(first, second)
    if (this.#slots[at + 2] !== 0) return
    this.#slots[at] = first
    this.#slots[at + 1] = second
    this.#slots[at + 2] = ++this.#count
  }

  /** -1 where it was not added. */
  of(first: number, second: number): number {
    if (first === 0 && second === 0) return -1
    return this.#slots[this.#slotOf(first, second) + 2]! - 1
  }

  #slotOf(first: number, second: number): number {
    const slots = this.#slots
    for (let slot = first & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = 3 * slot
      if (slots[at + 2] === 0 || (slots[at] === first && slots[at + 1] === second)) return at
    }
  }
}

function isNull(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null
}

/** Gives the trait to the rows that have the value. */
function markTrait(
  vector: Vector,
  wanted: true | string,
  bit: number,
  rows: Int32Array,
  traits: Uint8Array,
): void {
  if (vector.kind === 'constant' && vector.value !== wanted) return
  if (vector.kind === 'boolean') {
    for (let j = 0; j < rows.length; j++) if (vector.values[rows[j]!] === 1) traits[j]! |= bit
    return
  }
  const valueAt = valueReader(vector)
  for (let j = 0; j < rows.length; j++) {
    checkAtTimes()
    if (valueAt(rows[j]!) === wanted) traits[j]! |= bit
  }
}

function usageSpan(span: number, parents: readonly number[], traits: number): UsageSpan {
  return {
    span,
    parents,
    reports: (traits & trait.reports) !== 0,
    isCall: (traits & trait.call) !== 0,
    isTool: (traits & trait.tool) !== 0,
    isScorer: (traits & trait.scorer) !== 0,
  }
}
