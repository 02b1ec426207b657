import { pickCodes, pickNumbers } from '../kernel/gather.ts'
import { Interval, Timestamp, type Value } from '../type/value.ts'
import { canonicalJson } from '../type/write-json.ts'
import {
  type DictionaryEntries,
  type Selection,
  type Vector,
  valueReader,
} from '../vector/vector.ts'
import { checkLimit, maximumDistinctValues } from './memory-limit.ts'

/** Entries of a dictionary that have no code yet. */
const unassigned = -2

/**
 * Numbers values in the order in which they are first seen: equal values have equal codes, and null
 * is a value like any other. What is equal: see `identity` below.
 */
export class ValueCodes {
  readonly values: Value[] = []
  readonly #numbers = new Map<number, number>()
  readonly #times = new Map<number, number>()
  readonly #strings = new Map<string, number>()
  /** Booleans, and arrays, objects and big integers by their canonical JSON. */
  readonly #others = new Map<string, number>()
  readonly #dictionaries = new WeakMap<DictionaryEntries, Int32Array>()
  #nullCode = -1

  get count(): number {
    return this.values.length
  }

  /** The code of one value. */
  codeOf(value: Value): number {
    if (value === null) {
      if (this.#nullCode < 0) this.#nullCode = this.values.push(null) - 1
      return this.#nullCode
    }
    if (typeof value === 'string') return this.#intern(this.#strings, value, value)
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
      case 'dictionary': {
        const table = this.#tableFor(vector.entries)
        const codes = out
        if (selection) pickCodes(vector.codes, selection, codes)
        else codes.set(vector.codes.subarray(0, rowCount))
        this.#mapDictionary(table, vector.entries, codes, count)
        return
      }
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
      default: {
        const read = valueReader(vector)
        for (let j = 0; j < count; j++) out[j] = this.codeOf(read(selection ? selection[j]! : j))
      }
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

  #tableFor(entries: DictionaryEntries): Int32Array {
    let table = this.#dictionaries.get(entries)
    if (!table) {
      table = new Int32Array(entries.size).fill(unassigned)
      this.#dictionaries.set(entries, table)
    }
    return table
  }

  #mapDictionary(
    table: Int32Array,
    entries: DictionaryEntries,
    codes: Int32Array,
    count: number,
  ): void {
    for (let j = 0; j < count; j++) {
      const code = codes[j]!
      if (code < 0) {
        codes[j] = this.codeOf(null)
        continue
      }
      let mapped = table[code]!
      if (mapped === unassigned) {
        mapped = this.codeOf(entries.valueAt(code))
        table[code] = mapped
      }
      codes[j] = mapped
    }
  }

  #intern<Key>(codes: Map<Key, number>, key: Key, value: Value): number {
    let code = codes.get(key)
    if (code === undefined) {
      code = this.values.push(value) - 1
      codes.set(key, code)
      checkLimit(code, maximumDistinctValues, 'different values', 'filter, or use fewer groups')
    }
    return code
  }
}

/** Equal for equal values of the kinds that are no keys of a Map themselves. */
function identity(value: Value): string {
  if (value instanceof Interval) return `interval ${value.months} ${value.ms}`
  return canonicalJson(value)
}
