import { repeatedUsage, type UsageSpan } from '../../function/repeated-usage.ts'
import { newCodes, newStateBytes, newTable } from '../../kernel/arena.ts'
import { sequence } from '../../kernel/sequence.ts'
import { hashIntegers } from '../../kernel/texts.ts'
import type { Value } from '../../type/value.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  rowsOf,
  type Selection,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import { ListedValues } from '../column/listed-values.ts'
import { ValueHashes } from '../column/value-hashes.ts'
import { concatenateTexts, countOf, vectorOf, type WireValues } from '../column/wire-values.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit, maximumCollectedValues, maximumDistinctBytes } from '../thread/memory-limit.ts'
import { sortedBy } from './sorted-by.ts'
import type { AggregateState, AliveRows } from './state.ts'
import { SpanNumbers, TraceSpans } from './trace-spans.ts'
import type { WireState } from './wire-state.ts'

const trait = { reports: 1, call: 2, tool: 4, scorer: 8 } as const

/** Spans that came at once; of each, by its row, two integers of a hash. */
interface Spans {
  readonly groups: Int32Array
  readonly spans: Int32Array
  /** The first parents, and the second ones, where there are any, and so on. */
  readonly parents: readonly Int32Array[]
  readonly traits: Uint8Array
  /** The place of the first id; ids are those of spans that report usage. */
  readonly firstId: number
}

/**
 * `repeated_usage(id, span_id, reports, type, purpose, parent, …)` over the spans of a trace: the ids of
 * those whose usage other spans report, too (`function/repeated-usage.ts`); null of none.
 *
 * Spans are told apart by hashes of 64 bits, and only within their trace: to number the texts of a million
 * spans took ten times as long as reading them. Most traces repeat nothing; a set of bits tells which may.
 */
export class RepeatedUsageState implements AggregateState {
  readonly #hashes = new ValueHashes()
  readonly #reporting = new Traits((value) => (value === true ? trait.reports : 0))
  readonly #types = new Traits((value) => {
    if (value === 'llm') return trait.call
    return value === 'tool' ? trait.tool : 0
  })
  readonly #purposes = new Traits((value) => (value === 'scorer' ? trait.scorer : 0))
  /** Of spans that report usage. */
  readonly #ids = new ListedValues()
  readonly #all: Spans[] = []
  #count = 0
  #heldBytes = 0
  #groupCount = 1
  #repeated: Map<number, number[]> | undefined

  get heldBytes(): number {
    return this.#ids.byteLength + this.#heldBytes
  }

  resize(groupCount: number): void {
    this.#groupCount = groupCount
  }

  update(vectors: readonly Vector[], rows: AliveRows): void {
    const [id, span, reports, type, purpose, ...parents] = vectors
    if (!id || !span || !reports || !type || !purpose) return
    const { rowCount, selection, count } = rows
    const alive = rowsOf(selection, rowCount)
    const traits = newStateBytes(count).fill(0)
    this.#reporting.mark(reports, selection, alive, traits)
    const reportingRows = rowsMarked(alive, traits)
    this.#types.mark(type, selection, alive, traits)
    this.#purposes.mark(purpose, selection, alive, traits)
    const groups = newTable(count, 0)
    groups.set(rows.groups.subarray(0, count))
    this.#add({
      groups,
      spans: this.#hashesOf(span, rowCount, selection, count),
      parents: parents
        .filter((parent) => parent.kind !== 'constant' || parent.value !== null)
        .map((parent) => this.#hashesOf(parent, rowCount, selection, count)),
      traits,
      firstId: this.#ids.count,
    })
    this.#addIds(id, reportingRows)
  }

  #hashesOf(vector: Vector, rowCount: number, selection: Selection, count: number): Int32Array {
    const hashes = newTable(hashIntegers * count, 0)
    this.#hashes.write(vector, rowCount, selection, hashes)
    return hashes
  }

  #add(spans: Spans): void {
    this.#count += spans.groups.length
    checkLimit(
      this.#count,
      maximumCollectedValues,
      'spans whose usage is counted',
      'filter the rows',
    )
    this.#heldBytes += spans.groups.length * (13 + 8 * spans.parents.length)
    this.#all.push(spans)
  }

  #addIds(vector: Vector, rows: Int32Array): void {
    this.#ids.add(vector, rows)
    checkLimit(this.#ids.byteLength, maximumDistinctBytes, 'bytes of ids', 'filter the rows')
  }

  toWire(): WireState {
    return this.toWireOf(sequence(0, this.#groupCount))
  }

  /** Most groups stay where they are, and with them most ids. */
  toWireOf(groups: Int32Array): WireState {
    const numbers = new Int32Array(this.#groupCount).fill(-1)
    for (let i = 0; i < groups.length; i++) numbers[groups[i]!] = i
    const { parts, rows } = this.#spansOf(numbers.map((number) => (number < 0 ? 0 : 1)))
    const parentCount = Math.max(0, ...this.#all.map(({ parents }) => parents.length))
    const wire = {
      groups: new Int32Array(rows.length),
      spans: new Int32Array(hashIntegers * rows.length),
      parents: Array.from(
        { length: parentCount },
        () => new Int32Array(hashIntegers * rows.length),
      ),
      traits: new Uint8Array(rows.length),
    }
    const ids = new Int32Array(rows.length)
    const idPlaces = new IdPlaces(this.#all)
    let idCount = 0
    for (let i = 0; i < rows.length; i++) {
      checkAtTimes()
      const [part, row] = [parts[i]!, rows[i]!]
      const { groups: groupOf, spans, parents, traits } = this.#all[part]!
      wire.groups[i] = numbers[groupOf[row]!]!
      copyHash(spans, row, wire.spans, i)
      for (let k = 0; k < parents.length; k++) copyHash(parents[k]!, row, wire.parents[k]!, i)
      wire.traits[i] = traits[row]!
      if ((traits[row]! & trait.reports) !== 0) ids[idCount++] = idPlaces.of(part, row)
    }
    return { kind: 'usage', ...wire, ids: this.#ids.toWire(ids.subarray(0, idCount)) }
  }

  merge(wire: WireState, groups: Int32Array): void {
    if (wire.kind !== 'usage') return
    const ofWire = wire.groups.map((group) => groups[group]!)
    this.#add({ ...wire, groups: ofWire, firstId: this.#ids.count })
    this.#addIds(vectorOf(wire.ids), sequence(0, countOf(wire.ids)))
  }

  result(group: number): Value {
    this.#repeated ??= this.#find()
    const places = this.#repeated.get(group)
    return places ? places.map((place) => this.#ids.valueAt(place)) : null
  }

  column(groups: Int32Array): WireValues {
    this.#repeated ??= this.#find()
    const repeated = this.#repeated
    if (repeated.size === 0) {
      const values = concatenateTexts([], new Uint8Array(0), new Int32Array(0))
      return { kind: 'coded', codes: new Int32Array(groups.length).fill(-1), values }
    }
    const starts = new Int32Array(groups.length).fill(-1)
    const ends = new Int32Array(groups.length)
    const members: number[] = []
    for (let i = 0; i < groups.length; i++) {
      checkAtTimes()
      const places = repeated.get(groups[i]!)
      if (!places) continue
      starts[i] = members.length
      for (const place of places) members.push(place)
      ends[i] = members.length
    }
    return { kind: 'lists', starts, ends, members: this.#ids.toWire(Int32Array.from(members)) }
  }

  /** By group, the places of the ids of spans that repeat usage; of most there are none. */
  #find(): Map<number, number[]> {
    const repeated = new Map<number, number[]>()
    const mayRepeat = this.#mayRepeat()
    if (!mayRepeat) return repeated
    const found = this.#spansOf(mayRepeat)
    const groups = found.rows.map((row, i) => this.#all[found.parts[i]!]!.groups[row]!)
    const { places, ends } = sortedBy(groups, sequence(0, groups.length), this.#groupCount)
    const ids = new IdPlaces(this.#all)
    const numbers = new SpanNumbers()
    for (let group = 0, start = 0; group < ends.length; group++) {
      const end = ends[group]!
      if (end === start) continue
      const members = places.subarray(start, end)
      start = end
      const ofTrace = repeatedUsage(this.#usageOf(members, found, numbers))
      if (ofTrace.length === 0) continue
      const idsOf = ofTrace.map((i) => {
        const place = members[i]!
        return ids.of(found.parts[place]!, found.rows[place]!)
      })
      repeated.set(group, idsOf)
    }
    return repeated
  }

  /** The spans of a trace. */
  #usageOf(members: Int32Array, { parts, rows }: PlacedSpans, numbers: SpanNumbers): UsageSpan[] {
    numbers.begin(members.length)
    for (let i = 0; i < members.length; i++) {
      checkAtTimes()
      const { spans } = this.#all[parts[members[i]!]!]!
      const at = hashIntegers * rows[members[i]!]!
      numbers.add(spans[at]!, spans[at + 1]!)
    }
    return Array.from(members, (place) => {
      const row = rows[place]!
      const at = hashIntegers * row
      const { spans, parents, traits } = this.#all[parts[place]!]!
      const known: number[] = []
      for (const hashes of parents) {
        // Null, like a parent that is not there, has no number.
        const parent = numbers.of(hashes[at]!, hashes[at + 1]!)
        if (parent >= 0) known.push(parent)
      }
      return usageSpan(numbers.of(spans[at]!, spans[at + 1]!), known, traits[row]!)
    })
  }

  /**
   * By group, 1 where a span that reports usage is the parent of any, and in some few others; undefined: there is
   * none.
   */
  #mayRepeat(): Uint8Array | undefined {
    const reporting = new Uint8Array(this.#groupCount)
    let parentCount = 0
    for (const spans of this.#all) {
      countReporting(spans, reporting)
      parentCount += spans.parents.length * spans.groups.length
    }
    const known = new TraceSpans(parentCount)
    for (const { groups, parents } of this.#all) {
      for (const hashes of parents) addParents(groups, hashes, reporting, known)
    }
    const mayRepeat = new Uint8Array(this.#groupCount)
    let isAny = false
    for (const spans of this.#all) {
      if (markRepeating(spans, reporting, known, mayRepeat)) isAny = true
    }
    return isAny ? mayRepeat : undefined
  }

  /** Those of the groups that have a 1. */
  #spansOf(wanted: Uint8Array | Int32Array): PlacedSpans {
    let count = 0
    for (const { groups } of this.#all) count += countWanted(groups, wanted)
    const parts = new Int32Array(count)
    const rows = new Int32Array(count)
    let at = 0
    for (let part = 0; part < this.#all.length; part++) {
      const { groups } = this.#all[part]!
      for (let row = 0; row < groups.length; row++) {
        checkAtTimes()
        if (wanted[groups[row]!] !== 1) continue
        parts[at] = part
        rows[at++] = row
      }
    }
    return { parts, rows }
  }
}

/** Spans by where they are: the part that they came with, and the row there. */
interface PlacedSpans {
  readonly parts: Int32Array
  readonly rows: Int32Array
}

function countWanted(groups: Int32Array, wanted: Uint8Array | Int32Array): number {
  let count = 0
  for (let row = 0; row < groups.length; row++) if (wanted[groups[row]!] === 1) count++
  return count
}

/** Where the ids of spans that report usage are among all ids. */
class IdPlaces {
  readonly #all: readonly Spans[]
  /** By part, the places by row. */
  readonly #places: Int32Array[] = []

  constructor(all: readonly Spans[]) {
    this.#all = all
  }

  of(part: number, row: number): number {
    this.#places[part] ??= this.#placesOf(this.#all[part]!)
    return this.#places[part]![row]!
  }

  #placesOf({ traits, firstId }: Spans): Int32Array {
    let next = firstId
    const places = new Int32Array(traits.length)
    for (let row = 0; row < traits.length; row++) {
      places[row] = (traits[row]! & trait.reports) !== 0 ? next++ : -1
    }
    return places
  }
}

/** By group, counts the spans that report usage up to 2: one alone repeats nothing. */
function countReporting({ groups, traits }: Spans, counts: Uint8Array): void {
  for (let row = 0; row < traits.length; row++) {
    if ((traits[row]! & trait.reports) === 0) continue
    const group = groups[row]!
    if (counts[group]! < 2) counts[group]!++
  }
}

function addParents(
  groups: Int32Array,
  parents: Int32Array,
  reporting: Uint8Array,
  known: TraceSpans,
): void {
  for (let row = 0; row < groups.length; row++) {
    checkAtTimes()
    const group = groups[row]!
    if (reporting[group]! < 2) continue
    const [first, second] = [parents[2 * row]!, parents[2 * row + 1]!]
    if (first !== 0 || second !== 0) known.add(group, first, second)
  }
}

/** Whether there are any. */
function markRepeating(
  { groups, spans, traits }: Spans,
  reporting: Uint8Array,
  parents: TraceSpans,
  mayRepeat: Uint8Array,
): boolean {
  let isAny = false
  for (let row = 0; row < groups.length; row++) {
    checkAtTimes()
    if ((traits[row]! & trait.reports) === 0) continue
    const group = groups[row]!
    if (reporting[group]! < 2) continue
    if (!parents.mayHold(group, spans[2 * row]!, spans[2 * row + 1]!)) continue
    mayRepeat[group] = 1
    isAny = true
  }
  return isAny
}

function copyHash(from: Int32Array, row: number, to: Int32Array, at: number): void {
  to[hashIntegers * at] = from[hashIntegers * row]!
  to[hashIntegers * at + 1] = from[hashIntegers * row + 1]!
}

/** Those of the rows that have a trait. */
function rowsMarked(alive: Int32Array, traits: Uint8Array): Int32Array {
  const rows = newCodes(alive.length)
  let count = 0
  for (let j = 0; j < traits.length; j++) if (traits[j] !== 0) rows[count++] = alive[j]!
  return rows.subarray(0, count)
}

/** Not so many that it would take longer to look at each than at the rows. */
function hasFewEntries(vector: Vector, rowCount: number): vector is DictionaryVector {
  return vector.kind === 'dictionary' && vector.entries.size <= 16 + rowCount
}

/** The traits that rows have by the values of one field. */
class Traits {
  readonly #traitOf: (value: Value) => number
  /** By code of a dictionary, plus one. */
  readonly #ofEntries = new WeakMap<DictionaryEntries, Uint8Array>()

  constructor(traitOf: (value: Value) => number) {
    this.#traitOf = traitOf
  }

  mark(vector: Vector, selection: Selection, rows: Int32Array, traits: Uint8Array): void {
    if (vector.kind === 'constant') {
      const bit = this.#traitOf(vector.value)
      if (bit !== 0) for (let j = 0; j < rows.length; j++) traits[j]! |= bit
    } else if (vector.kind === 'boolean' || hasFewEntries(vector, rows.length)) {
      const isBoolean = vector.kind === 'boolean'
      const codes = isBoolean ? vector.values : vector.codes
      const table = isBoolean
        ? Uint8Array.from([null, false, true, null], this.#traitOf)
        : this.#tableOf(vector.entries)
      if (selection) {
        for (let j = 0; j < rows.length; j++) traits[j]! |= table[codes[rows[j]!]! + 1]!
      } else {
        for (let j = 0; j < rows.length; j++) traits[j]! |= table[codes[j]! + 1]!
      }
    } else {
      const valueAt = valueReader(vector)
      for (let j = 0; j < rows.length; j++) {
        checkAtTimes()
        traits[j]! |= this.#traitOf(valueAt(rows[j]!))
      }
    }
  }

  #tableOf(entries: DictionaryEntries): Uint8Array {
    let table = this.#ofEntries.get(entries)
    if (!table) {
      table = new Uint8Array(entries.size + 1)
      for (let code = 0; code < entries.size; code++) {
        checkAtTimes()
        table[code + 1] = this.#traitOf(entries.valueAt(code))
      }
      this.#ofEntries.set(entries, table)
    }
    return table
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
