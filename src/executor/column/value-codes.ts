import { assert } from '../../error.ts'
import { newCodes, newNumbers, newStateBytes, newTable } from '../../kernel/arena.ts'
import { gatherNumbers, pickCodes, pickNumbers } from '../../kernel/gather.ts'
import { numberCodes } from '../../kernel/groups.ts'
import { sequence } from '../../kernel/sequence.ts'
import { Interval, isTimeOfNumber, Timestamp, type Value } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import type { SharedCodes, SharedTexts } from '../../vector/shared-dictionary.ts'
import { GrowingTexts, TextIndex } from '../../vector/text-index.ts'
import {
  type DictionaryEntries,
  decodeText,
  rowsOf,
  type Selection,
  type TextVector,
  unknown,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import { checkAtTimes, checkCancelled, inCheckedChunks } from '../thread/cancelled.ts'
import { checkLimit, maximumDistinctBytes, maximumDistinctValues } from '../thread/memory-limit.ts'
import { CodeRemap } from './code-remap.ts'
import { EntryCodes } from './entry-codes.ts'
import { grown } from './grown.ts'
import { LateNumbers } from './late-numbers.ts'
import { valueBytes as bytesOf } from './value-bytes.ts'
import {
  concatenateTexts,
  countOf,
  type KeyValues,
  type PlainValues,
  plainValues,
  type SharedValues,
  sharedNull,
  type TextValues,
  vectorOf,
  type WireValues,
} from './wire-values.ts'

const loneSurrogate = /\p{Surrogate}/u

/** What a text takes besides its bytes, and a value that is none, with its place in a Map. */
const [textBytes, valueBytes] = [24, 64]

/** Objects and lists of a batch that are found by themselves. */
const keptObjects = 1024

/** Stands for a code that is not given yet. */
const unassigned = -1

/** What a code stands for. */
const origin = { value: 0, text: 1, shared: 2 } as const

/**
 * Numbers values in the order in which they are first seen: equal values have equal codes, and null
 * is a value like any other. Texts are told apart by their bytes, and decoded only when asked for.
 *
 * Texts that are in the shared dictionary are not even looked at: their codes there tell them apart.
 */
export class ValueCodes {
  #count = 0
  /** By code. */
  #origins = new Uint8Array(0)
  /** By code: the place of a text in its dictionary. */
  #places: Int32Array = new Int32Array(0)
  /** By code: values that are no texts, and texts that were decoded. */
  readonly #values: (Value | undefined)[] = []
  // To make four small arrays elsewhere took a tenth of the time of a short query.
  readonly #texts = GrowingTexts.within(newStateBytes(1024), newTable(65, 0), checkCancelled)
  readonly #textIndex = new TextIndex('own', newTable(128, unassigned), checkCancelled)
  #codeOfText: Int32Array = newTable(64, 0)
  readonly #shared: SharedTexts | undefined
  /** By the shared dictionary's code; the last place is that of null. */
  readonly #codeOfShared: Int32Array
  readonly #leads = new CodeRemap()
  readonly #late: { number?: LateNumbers; timestamp?: LateNumbers } = {}
  readonly #numbers = new Map<number, number>()
  readonly #times = new Map<number, number>()
  /** All other values, by `identity`. */
  readonly #others = new Map<string, number>()
  #otherBytes = 0
  readonly #dictionaries = new EntryCodes((entries, code) =>
    code < 0 ? this.codeOf(null) : this.#codeOfEntry(entries, code),
  )
  #nullCode = -1

  /** @param shared the dictionary that most texts will come from */
  constructor(shared?: SharedTexts) {
    this.#shared = shared
    this.#codeOfShared = newTable((shared?.count ?? 0) + 1, unassigned)
  }

  get count(): number {
    return this.#count
  }

  get heldBytes(): number {
    const { count, byteLength } = this.#texts
    const values = this.#numbers.size + this.#times.size + this.#others.size
    return 5 * this.#count + byteLength + this.#otherBytes + textBytes * count + valueBytes * values
  }

  /** The code of null, or -1 when it was not seen. */
  get nullCode(): number {
    return this.#nullCode
  }

  valueAt(code: number): Value {
    let value = this.#values[code]
    if (value === undefined) {
      const place = this.#places[code]!
      value =
        this.#origins[code] === origin.shared
          ? this.#shared!.textAt(place)
          : decodeText(this.#texts, 'text', place)
      this.#values[code] = value
    }
    return value
  }

  /** The values of these codes as data that other threads can read; a code of -1 is null. */
  toWire(codes: Int32Array): WireValues {
    const kind = this.#kindOf(codes)
    if (kind === 'number' || kind === 'timestamp') return { kind, values: this.#numbersOf(codes) }
    if (codes.length > this.#count * 4) return this.#toCoded(codes)
    if (kind === 'texts') return this.#toTexts(codes)
    return this.#toPlain(codes)
  }

  #toPlain(codes: Int32Array): PlainValues {
    const values: Value[] = []
    for (const code of codes) {
      checkAtTimes()
      values.push(code < 0 ? null : this.valueAt(code))
    }
    return plainValues(values)
  }

  /** Of values that repeat, each once. */
  #toCoded(codes: Int32Array): WireValues {
    const nullCode = this.#nullCode
    const known = sequence(0, this.#count).filter((code) => code !== nullCode)
    const places =
      nullCode < 0
        ? codes.slice()
        : codes.map((code) => (code === nullCode ? -1 : code > nullCode ? code - 1 : code))
    const values = this.#kindOf(known) === 'texts' ? this.#toTexts(known) : this.#toPlain(known)
    return { kind: 'coded', codes: places, values }
  }

  #toTexts(codes: Int32Array): TextValues {
    const dictionaries = this.#shared ? [this.#texts, this.#shared.texts] : [this.#texts]
    const which = new Uint8Array(codes.length)
    const places = new Int32Array(codes.length)
    inCheckedChunks(codes.length, (from, to) => {
      for (let i = from; i < to; i++) {
        const code = codes[i]!
        const isNull = code < 0 || code === this.#nullCode
        places[i] = isNull ? -1 : this.#places[code]!
        which[i] = !isNull && this.#origins[code] === origin.shared ? 1 : 0
      }
    })
    return concatenateTexts(dictionaries, which, places)
  }

  #numbersOf(codes: Int32Array): Float64Array {
    const table = new Float64Array(this.#count + 1).fill(Number.NaN)
    for (let code = 0; code < this.#count; code++) {
      checkAtTimes()
      const value = this.#values[code]
      if (typeof value === 'number') table[code] = value
      else if (isTimeOfNumber(value)) table[code] = value.ms
    }
    const numbers = new Float64Array(codes.length)
    gatherNumbers(table, codes, codes.length, numbers)
    return numbers
  }

  /** What all values of these codes are, but for nulls. */
  #kindOf(codes: Int32Array): 'texts' | 'number' | 'timestamp' | 'mixed' {
    let kind: 'texts' | 'number' | 'timestamp' | undefined
    for (let i = 0; i < codes.length; i++) {
      checkAtTimes()
      const code = codes[i]!
      if (code < 0 || code === this.#nullCode) continue
      const found = this.#origins[code] === origin.value ? kindOf(this.#values[code]) : 'texts'
      if (found === 'mixed') return 'mixed'
      if (kind !== undefined && kind !== found) return 'mixed'
      kind = found
    }
    return kind ?? 'texts'
  }

  /** The same for keys of groups: texts of a shared dictionary stay codes. */
  toKeys(codes: Int32Array): KeyValues {
    const shared = this.#shared
    if (!shared) return this.toWire(codes)
    const others: number[] = []
    const keys = new Int32Array(codes.length)
    for (let i = 0; i < codes.length; i++) {
      checkAtTimes()
      const code = codes[i]!
      if (this.#origins[code] === origin.shared) keys[i] = this.#places[code]!
      else if (code === this.#nullCode) keys[i] = sharedNull
      else keys[i] = sharedNull - others.push(code)
    }
    const wire = this.toWire(Int32Array.from(others))
    return { kind: 'shared', dictionary: shared.id, codes: keys, others: wire }
  }

  /** Codes in the shared dictionary of these; of all there are, good for as long as states; -1 for what is not of it. */
  sharedCodesOf(codes?: Int32Array): Int32Array {
    const shared = codes ? new Int32Array(codes.length) : newTable(this.#count, -1)
    for (let i = 0; i < shared.length; i++) {
      checkAtTimes()
      const code = codes ? codes[i]! : i
      shared[i] = this.#origins[code] === origin.shared ? this.#places[code]! : -1
    }
    return shared
  }

  /** The code of one value. */
  codeOf(value: Value): number {
    if (value === null) {
      if (this.#nullCode < 0) this.#setNull(this.#add(origin.value, -1))
      return this.#nullCode
    }
    // UTF-8 cannot hold half of a surrogate pair.
    if (typeof value === 'string' && !loneSurrogate.test(value)) {
      const bytes = Buffer.from(value)
      return this.#codeOfBytes(bytes, 0, bytes.length)
    }
    // -0 and 0 are one value, and one key of a Map. Beyond 2^53 a bigint may be equal.
    if (typeof value === 'number' && Math.abs(value) <= 2 ** 53) {
      return this.#intern(this.#numbers, value, value)
    }
    if (isTimeOfNumber(value)) return this.#intern(this.#times, value.ms, value)
    return this.#intern(this.#others, identity(value), value)
  }

  /** Writes the codes of the selected rows, one after the other, to `out`. */
  encode(vector: Vector, rowCount: number, selection: Selection, out: Int32Array): void {
    const count = selection ? selection.length : rowCount
    switch (vector.kind) {
      case 'constant':
        if (count > 0) out.fill(this.codeOf(vector.value), 0, count)
        return
      case 'dictionary':
        this.#dictionaries.encode(vector, rowCount, selection, out)
        return
      case 'number':
      case 'timestamp': {
        let values = vector.values
        if (selection) {
          values = newNumbers(count)
          pickNumbers(vector.values, selection, values)
        }
        this.#encodeNumbers(values, vector.kind, count, out)
        return
      }
      case 'text':
        this.#encodeTexts(vector, count, selection, out)
        return
      case 'boolean':
        this.#encodeBooleans(vector.values, count, selection, out)
        return
      default: {
        const read = valueReader(vector)
        // Readers give the same object where rows have one of few, which is found sooner than its text is made.
        const objects = new Map<Value, number>()
        for (let j = 0; j < count; j++) {
          checkAtTimes()
          const value = read(selection ? selection[j]! : j)
          const known = objects.get(value)
          const code = known ?? this.codeOf(value)
          if (known === undefined && objects.size < keptObjects && typeof value === 'object') {
            objects.set(value, code)
          }
          out[j] = code
        }
      }
    }
  }

  /** The same for rows that have codes of a shared dictionary. */
  encodeShared(shared: SharedCodes, rowCount: number, selection: Selection, out: Int32Array): void {
    const { dictionary, codes, map } = shared
    if (dictionary !== this.#shared) {
      this.#encodeSharedTexts(shared, rowCount, selection, out)
      return
    }
    const count = selection ? selection.length : rowCount
    let places = codes
    if (selection || map) {
      places = newCodes(count)
      if (!map) pickCodes(codes, selection!, places)
      else this.#leads.remap(map, codes, rowCount, selection, places)
    }
    // Room for all at once: to look for it code by code took as long as all the rest.
    this.#reserve(this.#count + count + 1)
    const before = this.#count
    const numbers = { table: this.#codeOfShared, places: this.#places }
    this.#count = numberCodes(numbers, places, count, out, before)
    this.#origins.fill(origin.shared, before, this.#count)
    const nullCode = this.#codeOfShared.at(-1)!
    if (nullCode !== this.#nullCode) this.#setNull(nullCode)
    this.#checkCount()
  }

  /** Of another shared dictionary than this one's. */
  #encodeSharedTexts(
    { dictionary, codes, map }: SharedCodes,
    rowCount: number,
    selection: Selection,
    out: Int32Array,
  ): void {
    const { bytes, offsets } = dictionary.texts
    const rows = rowsOf(selection, rowCount)
    for (let j = 0; j < rows.length; j++) {
      checkAtTimes()
      const code = codes[rows[j]!]!
      const place = code < 0 || !map ? code : map[code]!
      out[j] =
        place < 0
          ? this.codeOf(null)
          : this.#codeOfBytes(bytes, offsets[place]!, offsets[place + 1]!)
    }
  }

  /** Writes the codes of keys, one after the other, to `out`. */
  encodeKeys({ codes, others }: SharedValues, out: Int32Array): void {
    const dictionary = this.#shared
    assert(dictionary, 'keys of a dictionary come to a table that has none')
    const otherCount = countOf(others)
    const keys: SharedCodes = { dictionary, codes, map: undefined }
    if (otherCount === 0) {
      this.encodeShared(keys, codes.length, undefined, out)
      return
    }
    const numbered = sequence(0, codes.length).filter((i) => codes[i]! >= sharedNull)
    this.encodeShared(keys, codes.length, numbered, out)
    const otherCodes = new Int32Array(otherCount)
    this.encode(vectorOf(others), otherCount, undefined, otherCodes)
    // From the last one down, so that none is overwritten before it is moved.
    for (let j = numbered.length - 1; j >= 0; j--) out[numbered[j]!] = out[j]!
    for (let i = 0; i < codes.length; i++) {
      if (codes[i]! < sharedNull) out[i] = otherCodes[sharedNull - codes[i]! - 1]!
    }
  }

  #encodeTexts(vector: TextVector, count: number, selection: Selection, out: Int32Array): void {
    const { texts, first, valid } = vector
    const { bytes, offsets } = texts
    for (let j = 0; j < count; j++) {
      checkAtTimes()
      const row = selection ? selection[j]! : j
      const at = first + row
      out[j] =
        valid && valid[row] === 0
          ? this.codeOf(null)
          : this.#codeOfBytes(bytes, offsets[at]!, offsets[at + 1]!)
    }
  }

  #encodeBooleans(values: Uint8Array, count: number, selection: Selection, out: Int32Array): void {
    const known = Int32Array.of(unassigned, unassigned, unassigned)
    for (let j = 0; j < count; j++) {
      const truth = values[selection ? selection[j]! : j]!
      let code = known[truth]!
      if (code === unassigned) {
        code = this.codeOf(truth === unknown ? null : truth === 1)
        known[truth] = code
      }
      out[j] = code
    }
  }

  #encodeNumbers(
    values: Float64Array,
    kind: 'number' | 'timestamp',
    count: number,
    out: Int32Array,
  ): void {
    this.#late[kind] ??= new LateNumbers()
    const codeOf = (value: number) => {
      if (Number.isNaN(value)) return this.codeOf(null)
      return this.codeOf(kind === 'number' ? value : new Timestamp(value))
    }
    this.#late[kind].encode(values, count, this.#nullCode, codeOf, out)
  }

  #codeOfEntry({ texts, valueAt }: DictionaryEntries, code: number): number {
    if (!texts) return this.codeOf(valueAt(code))
    return this.#codeOfBytes(texts.bytes, texts.offsets[code]!, texts.offsets[code + 1]!)
  }

  #codeOfBytes(bytes: Buffer, start: number, end: number): number {
    if (this.#shared) {
      const place = this.#shared.codeOf(bytes, start, end)
      if (place >= 0) {
        let code = this.#codeOfShared[place]!
        if (code === unassigned) {
          code = this.#add(origin.shared, place)
          this.#codeOfShared[place] = code
        }
        return code
      }
    }
    const before = this.#texts.count
    const text = this.#textIndex.codeOf(this.#texts, bytes, start, end)
    if (text === before) {
      this.#codeOfText = grown(this.#codeOfText, text + 1, 0)
      this.#codeOfText[text] = this.#add(origin.text, text)
      const { byteLength } = this.#texts
      checkLimit(byteLength, maximumDistinctBytes, 'bytes of different texts', 'filter the rows')
    }
    return this.#codeOfText[text]!
  }

  #intern<Key>(codes: Map<Key, number>, key: Key, value: Value): number {
    let code = codes.get(key)
    if (code === undefined) {
      code = this.#addValue(value)
      codes.set(key, code)
    }
    return code
  }

  #addValue(value: Value): number {
    const code = this.#add(origin.value, -1)
    this.#values[code] = value
    this.#otherBytes += bytesOf(value)
    return code
  }

  #setNull(code: number): void {
    this.#nullCode = code
    this.#origins[code] = origin.value
    this.#values[code] = null
    this.#codeOfShared[this.#codeOfShared.length - 1] = code
  }

  #add(from: number, place: number): number {
    checkAtTimes()
    const code = this.#count++
    this.#checkCount()
    if (this.#count > this.#places.length) this.#reserve(this.#count)
    this.#origins[code] = from
    this.#places[code] = place
    return code
  }

  #reserve(count: number): void {
    if (count <= this.#places.length) return
    const places = newTable(2 ** Math.ceil(Math.log2(Math.max(64, count))), 0)
    places.set(this.#places)
    this.#places = places
    this.#origins = grown(this.#origins, places.length, 0)
  }

  #checkCount(): void {
    const hint = 'filter, or use fewer groups'
    checkLimit(this.#count, maximumDistinctValues, 'different values', hint)
  }
}

function kindOf(value: Value | undefined): 'number' | 'timestamp' | 'mixed' {
  if (typeof value === 'number') return 'number'
  return isTimeOfNumber(value) ? 'timestamp' : 'mixed'
}

/** Equal for equal values of the kinds that have no codes of their own. */
function identity(value: Value): string {
  if (value instanceof Interval) return `interval ${value.months} ${value.ms}`
  return canonicalJson(value)
}
