import { repeatedUsage, type UsageSpan } from '../../function/repeated-usage.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { Value } from '../../type/value.ts'
import { rowsOf, type Vector, valueReader } from '../../vector/vector.ts'
import { grown } from '../column/grown.ts'
import { ValueCodes } from '../column/value-codes.ts'
import { countOf, vectorOf } from '../column/wire-values.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit, maximumCollectedValues } from '../thread/memory-limit.ts'
import { type Sorted, sortedBy } from './sorted-by.ts'
import type { AggregateState, AliveRows, WireState } from './state.ts'

/** What is kept of a span: codes of its id, its `span_id` and its parent, and its traits. */
const numbersPerSpan = 4

/** `again`: the span was kept before, with another parent. */
const trait = { reports: 1, call: 2, tool: 4, scorer: 8, again: 16 } as const

/**
 * `repeated_usage(id, span_id, reports, type, purpose, parent, …)` over the spans of a trace: the ids of
 * those whose usage other spans report, too (`function/repeated-usage.ts`); null of none.
 */
export class RepeatedUsageState implements AggregateState {
  readonly #codes = new ValueCodes()
  #groups = new Int32Array(1024)
  /** `numbersPerSpan` for each span; of one with several parents, so many for each of them. */
  #spans = new Int32Array(numbersPerSpan * 1024)
  #count = 0
  #groupCount = 1
  #byGroup: Sorted | undefined
  /** By code of a span: the last group that was found to have a child of it. */
  #parentIn: Int32Array | undefined

  get heldBytes(): number {
    return this.#codes.heldBytes + this.#groups.byteLength + this.#spans.byteLength
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update(vectors: readonly Vector[], { rowCount, selection, groups, count }: AliveRows): void {
    const [id, span, reports, type, purpose, ...parents] = vectors
    if (!id || !span || !reports || !type || !purpose) return
    const rows = rowsOf(selection, rowCount)
    const encode = (vector: Vector, of: Int32Array) => {
      const codes = new Int32Array(of.length)
      this.#codes.encode(vector, rowCount, of.length === rowCount ? undefined : of, codes)
      return codes
    }
    const [reportsAt, typeAt, purposeAt] = [reports, type, purpose].map(valueReader)
    const traits = new Uint8Array(count)
    const asked = new Int32Array(count)
    let askedCount = 0
    const others = parents.slice(1).filter((parent) => !isNull(parent))
    for (let j = 0; j < count; j++) {
      const row = rows[j]!
      traits[j] = traitsOf(reportsAt!(row) === true, typeAt!(row), purposeAt!(row))
      const isAsked = others.length > 0 || (traits[j]! & trait.reports) !== 0
      if (isAsked) asked[askedCount++] = row
    }
    const spans = encode(span, rows)
    // Of spans that report nothing, nobody asks for the id of the record.
    const idsOfAsked = encode(id, asked.subarray(0, askedCount))
    const ids = spans.slice()
    for (let j = 0, next = 0; next < askedCount; j++) {
      if (rows[j] === asked[next]) ids[j] = idsOfAsked[next++]!
    }
    const first = encode(parents[0]!, rows)
    this.#makeRoom(count)
    for (let j = 0; j < count; j++) {
      checkAtTimes()
      this.#add(groups[j]!, ids[j]!, spans[j]!, first[j]!, traits[j]!)
    }
    for (const parent of others) {
      const codes = encode(parent, rows)
      this.#makeRoom(count)
      for (let j = 0; j < count; j++) {
        if (codes[j] === this.#codes.nullCode) continue
        this.#add(groups[j]!, ids[j]!, spans[j]!, codes[j]!, trait.again)
      }
    }
  }

  toWire(): WireState {
    const groups = new Int32Array(numbersPerSpan * this.#count)
    for (let i = 0; i < groups.length; i++) groups[i] = this.#groups[(i / numbersPerSpan) | 0]!
    return {
      kind: 'collected',
      groups,
      codes: this.#spans.slice(0, numbersPerSpan * this.#count),
      values: this.#codes.toWire(sequence(0, this.#codes.count)),
    }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'collected') return
    const valueCount = countOf(wire.values)
    const table = new Int32Array(valueCount)
    this.#codes.encode(vectorOf(wire.values), valueCount, undefined, table)
    this.#makeRoom(wire.codes.length / numbersPerSpan)
    for (let at = 0; at < wire.codes.length; at += numbersPerSpan) {
      const [id, span, parent, traits] = wire.codes.subarray(at, at + numbersPerSpan)
      const group = groups[wire.groups[at]!]!
      this.#add(group, table[id!]!, table[span!]!, table[parent!]!, traits!)
    }
  }

  result(group: number): Value {
    this.#byGroup ??= sortedBy(this.#groups, sequence(0, this.#count), this.#groupCount)
    const { places, ends } = this.#byGroup
    const members = places.subarray(group === 0 ? 0 : ends[group - 1]!, ends[group])
    if (!this.#mayRepeat(group, members)) return null
    const ids: number[] = []
    const spans: UsageSpan[] = []
    const parents = new Map<string, number[]>()
    for (const place of members) {
      const [id, span, parent, traits] = this.#spans.subarray(
        numbersPerSpan * place,
        numbersPerSpan * (place + 1),
      ) as unknown as [number, number, number, number]
      const key = `${id} ${span}`
      const known = parents.get(key) ?? []
      parents.set(key, known)
      if (parent !== this.#codes.nullCode) known.push(parent)
      if (traits & trait.again) continue
      ids.push(id)
      spans.push(usageSpan(span, known, traits))
    }
    const repeated = repeatedUsage(spans)
    if (repeated.length === 0) return null
    return repeated.map((i) => this.#codes.valueAt(ids[i]!))
  }

  /** Whether a span that reports usage is the parent of any: of most traces, none is. */
  #mayRepeat(group: number, members: Int32Array): boolean {
    this.#parentIn ??= new Int32Array(this.#codes.count).fill(-1)
    for (let i = 0; i < members.length; i++) {
      checkAtTimes()
      this.#parentIn[this.#spans[numbersPerSpan * members[i]! + 2]!] = group
    }
    for (let i = 0; i < members.length; i++) {
      const at = numbersPerSpan * members[i]!
      const reports = (this.#spans[at + 3]! & trait.reports) !== 0
      if (reports && this.#parentIn[this.#spans[at + 1]!] === group) return true
    }
    return false
  }

  #makeRoom(count: number): void {
    const needed = this.#count + count
    checkLimit(needed, maximumCollectedValues, 'spans whose usage is counted', 'filter the rows')
    this.#groups = grown(this.#groups, needed, 0)
    this.#spans = grown(this.#spans, numbersPerSpan * needed, 0)
  }

  #add(group: number, id: number, span: number, parent: number, traits: number): void {
    const at = numbersPerSpan * this.#count
    this.#groups[this.#count++] = group
    this.#spans[at] = id
    this.#spans[at + 1] = span
    this.#spans[at + 2] = parent
    this.#spans[at + 3] = traits
  }
}

function isNull(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null
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

function traitsOf(reports: boolean, type: Value, purpose: Value): number {
  return (
    (reports ? trait.reports : 0) |
    (type === 'llm' ? trait.call : 0) |
    (type === 'tool' ? trait.tool : 0) |
    (purpose === 'scorer' ? trait.scorer : 0)
  )
}
