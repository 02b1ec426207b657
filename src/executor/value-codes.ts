import { mapCodes, mapCodesWithin, pickNumbers } from '../kernel/gather.ts'
import { Interval, Timestamp, type Value } from '../type/value.ts'
import { canonicalJson } from '../type/write-json.ts'
import { GrowingTexts, TextIndex } from '../vector/text-index.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  decodeText,
  type Selection,
  type TextVector,
  type Vector,
  valueReader,
} from '../vector/vector.ts'
import { checkLimit, maximumDistinctBytes, maximumDistinctValues } from './memory-limit.ts'
import { type WireValues, wireTexts, wireValues } from './wire-values.ts'

const loneSurrogate = /\p{Surrogate}/u

/** Stands for the code of an entry that has none yet. */
const unassigned = -1

/**
 * Numbers values in the order in which they are first seen: equal values have equal codes, and null
 * is a value like any other. Texts are told apart by their bytes, and decoded only when asked for.
 */
export class ValueCodes {
  /** Values by code; undefined for texts that were not decoded yet. */
  readonly #values: (Value | undefined)[] = []
  /** The text of a code, or -1. */
  readonly #textOf: number[] = []
  readonly #codeOfText: number[] = []
  readonly #texts = new GrowingTexts(64)
  readonly #textIndex = new TextIndex()
  readonly #numbers = new Map<number, number>()
  readonly #times = new Map<number, number>()
  /** All other values, by `identity`. */
  readonly #others = new Map<string, number>()
  readonly #dictionaries = new WeakMap<DictionaryEntries, Int32Array>()
  #nullCode = -1

  get count(): number {
    return this.#values.length
  }

  /** The code of null, or -1 when it was not seen. */
  get nullCode(): number {
    return this.#nullCode
  }

  valueAt(code: number): Value {
    let value = this.#values[code]
    if (value === undefined) {
      value = decodeText(this.#texts, 'text', this.#textOf[code]!)
      this.#values[code] = value
    }
    return value
  }

  /** The values of these codes as data that other threads can read. */
  toWire(codes: Int32Array): WireValues {
    const texts = codes.map((code) => this.#textOf[code]!)
    const areTexts = texts.every((text, i) => text >= 0 || codes[i] === this.#nullCode)
    if (areTexts) return wireTexts(this.#texts, texts)
    return wireValues(Array.from(codes, (code) => this.valueAt(code)))
  }

  /** The code of one value. */
  codeOf(value: Value): number {
    if (value === null) {
      if (this.#nullCode < 0) this.#nullCode = this.#add(null, -1)
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
    if (value instanceof Timestamp) return this.#intern(this.#times, value.ms, value)
    return this.#intern(this.#others, identity(value), value)
  }

  /** Writes the codes of the selected rows, one after the other, to `out`. */
  encode(vector: Vector, rowCount: number, selection: Selection, out: Int32Array): void {
    const count = selection ? selection.length : rowCount
    switch (vector.kind) {
      case 'constant':
        out.fill(this.codeOf(vector.value), 0, count)
        return
      case 'dictionary':
        this.#encodeDictionary(vector, rowCount, selection, out)
        return
      case 'number':
      case 'timestamp': {
        let values = vector.values
        if (selection) {
          values = new Float64Array(count)
          pickNumbers(vector.values, selection, values)
        }
        this.#encodeNumbers(values, vector.kind, count, out)
        return
      }
      case 'text':
        this.#encodeTexts(vector, count, selection, out)
        return
      default: {
        const read = valueReader(vector)
        for (let j = 0; j < count; j++) out[j] = this.codeOf(read(selection ? selection[j]! : j))
      }
    }
  }

  #encodeTexts(vector: TextVector, count: number, selection: Selection, out: Int32Array): void {
    const { texts, first, valid } = vector
    const { bytes, offsets } = texts
    for (let j = 0; j < count; j++) {
      const row = selection ? selection[j]! : j
      const at = first + row
      out[j] =
        valid && valid[row] === 0
          ? this.codeOf(null)
          : this.#codeOfBytes(bytes, offsets[at]!, offsets[at + 1]!)
    }
  }

  #encodeNumbers(
    values: Float64Array,
    kind: 'number' | 'timestamp',
    count: number,
    out: Int32Array,
  ): void {
    const known = kind === 'number' ? this.#numbers : this.#times
    let last = Number.NaN
    let lastCode = -1
    for (let j = 0; j < count; j++) {
      const value = values[j]!
      // Times of a bucket come in runs.
      if (value === last) {
        out[j] = lastCode
        continue
      }
      let code = known.get(value)
      if (code === undefined) {
        code = Number.isNaN(value)
          ? this.codeOf(null)
          : this.codeOf(kind === 'number' ? value : new Timestamp(value))
      }
      out[j] = code
      last = value
      lastCode = code
    }
  }

  #encodeDictionary(
    { codes, entries }: DictionaryVector,
    rowCount: number,
    selection: Selection,
    out: Int32Array,
  ): void {
    let table = this.#dictionaries.get(entries)
    if (!table) {
      // The last place is that of null.
      table = new Int32Array(entries.size + 1).fill(unassigned)
      this.#dictionaries.set(entries, table)
    }
    const least = selection
      ? mapCodesWithin(table, codes, selection, out)
      : mapCodes(table, codes, rowCount, out)
    if (least >= 0) return
    const count = selection ? selection.length : rowCount
    for (let j = 0; j < count; j++) {
      if (out[j] !== unassigned) continue
      const code = codes[selection ? selection[j]! : j]!
      const place = code < 0 ? entries.size : code
      if (table[place] === unassigned) {
        table[place] = code < 0 ? this.codeOf(null) : this.#codeOfEntry(entries, code)
      }
      out[j] = table[place]!
    }
  }

  #codeOfEntry({ texts, valueAt }: DictionaryEntries, code: number): number {
    if (!texts) return this.codeOf(valueAt(code))
    return this.#codeOfBytes(texts.bytes, texts.offsets[code]!, texts.offsets[code + 1]!)
  }

  #codeOfBytes(bytes: Buffer, start: number, end: number): number {
    const text = this.#textIndex.codeOf(this.#texts, bytes, start, end)
    if (text === this.#codeOfText.length) {
      this.#codeOfText.push(this.#add(undefined, text))
      const { byteLength } = this.#texts
      checkLimit(byteLength, maximumDistinctBytes, 'bytes of different texts', 'filter the rows')
    }
    return this.#codeOfText[text]!
  }

  #intern<Key>(codes: Map<Key, number>, key: Key, value: Value): number {
    let code = codes.get(key)
    if (code === undefined) {
      code = this.#add(value, -1)
      codes.set(key, code)
    }
    return code
  }

  #add(value: Value | undefined, text: number): number {
    this.#textOf.push(text)
    const count = this.#values.push(value)
    checkLimit(count, maximumDistinctValues, 'different values', 'filter, or use fewer groups')
    return count - 1
  }
}

/** Equal for equal values of the kinds that have no codes of their own. */
function identity(value: Value): string {
  if (value instanceof Interval) return `interval ${value.months} ${value.ms}`
  return canonicalJson(value)
}
