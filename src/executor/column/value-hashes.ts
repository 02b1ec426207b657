/** Hashes of values, by which they are told apart where nobody asks what they are: 64 bits of each. */
import { hashIntegers, hashText, hashTexts } from '../../kernel/text-hashes.ts'
import type { Value } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import type { DictionaryEntries, Selection, TextVector, Vector } from '../../vector/vector.ts'
import { valueReader } from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'

const loneSurrogate = /\p{Surrogate}/u

/** Of so many rows of a batch one that is wanted makes it faster to hash all of them. */
const hashedOf = 4

/** Gives equal values equal hashes, which for null alone are 0. */
export class ValueHashes {
  /** By code of a dictionary; zeros while the entry was not asked for. */
  readonly #ofEntries = new WeakMap<DictionaryEntries, Int32Array>()

  /** The hashes of the selected rows, one after the other. */
  of(vector: Vector, rowCount: number, selection: Selection): Int32Array {
    const count = selection ? selection.length : rowCount
    const out = new Int32Array(count * hashIntegers)
    switch (vector.kind) {
      case 'text':
        hashRows(vector, rowCount, selection, out)
        return out
      case 'dictionary': {
        const { codes, entries } = vector
        const table = this.#tableOf(entries)
        for (let j = 0; j < count; j++) {
          const code = codes[selection ? selection[j]! : j]!
          if (code < 0) continue
          if (table[2 * code] === 0 && table[2 * code + 1] === 0) hashEntry(entries, code, table)
          out[2 * j] = table[2 * code]!
          out[2 * j + 1] = table[2 * code + 1]!
        }
        return out
      }
      case 'constant':
        if (vector.value === null || count === 0) return out
        hashValue(vector.value, out, 0)
        for (let i = hashIntegers; i < out.length; i++) out[i] = out[i - hashIntegers]!
        return out
      default: {
        const read = valueReader(vector)
        for (let j = 0; j < count; j++) {
          checkAtTimes()
          hashValue(read(selection ? selection[j]! : j), out, j)
        }
        return out
      }
    }
  }

  #tableOf(entries: DictionaryEntries): Int32Array {
    let table = this.#ofEntries.get(entries)
    if (!table) {
      table = new Int32Array(entries.size * hashIntegers)
      this.#ofEntries.set(entries, table)
    }
    return table
  }
}

function hashRows(vector: TextVector, rowCount: number, selection: Selection, out: Int32Array) {
  const { texts, first, valid } = vector
  if (selection && selection.length * hashedOf < rowCount) {
    for (let j = 0; j < selection.length; j++) {
      const row = selection[j]!
      if (!valid || valid[row] === 1) hashText(texts, first + row, out, j)
    }
    return
  }
  const all = selection ? new Int32Array(rowCount * hashIntegers) : out
  hashTexts(texts, first, rowCount, all)
  const count = selection ? selection.length : rowCount
  for (let j = 0; j < count; j++) {
    const row = selection ? selection[j]! : j
    const isValid = !valid || valid[row] === 1
    out[2 * j] = isValid ? all[2 * row]! : 0
    out[2 * j + 1] = isValid ? all[2 * row + 1]! : 0
  }
}

function hashEntry({ texts, valueAt }: DictionaryEntries, code: number, out: Int32Array): void {
  if (texts) hashText(texts, code, out, code)
  else hashValue(valueAt(code), out, code)
}

function hashValue(value: Value, out: Int32Array, at: number): void {
  if (value === null) return
  const isText = typeof value === 'string' && !loneSurrogate.test(value)
  // What is no text, or none that UTF-8 can hold, begins with a byte that UTF-8 does not have.
  const bytes = isText
    ? Buffer.from(value)
    : Buffer.concat([Buffer.of(0xff), Buffer.from(canonicalJson(value))])
  hashText({ bytes, offsets: Int32Array.of(0, bytes.length) }, 0, out, at)
}
