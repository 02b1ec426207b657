/** Hashes of values, by which they are told apart where nobody asks what they are: 64 bits of each. */
import { hashIntegers, hashText, hashTexts } from '../../kernel/texts.ts'
import type { Value } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import {
  type DictionaryEntries,
  type DictionaryVector,
  type Selection,
  type TextVector,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'

const loneSurrogate = /\p{Surrogate}/u

/** Gives equal values equal hashes, which for null alone are 0. */
export class ValueHashes {
  /** By code of a dictionary; zeros while the entry was not asked for. */
  readonly #ofEntries = new WeakMap<DictionaryEntries, Int32Array>()

  /** Writes the hashes of the selected rows, one after the other, to `out`, which has zeros. */
  write(vector: Vector, rowCount: number, selection: Selection, out: Int32Array): void {
    const count = selection ? selection.length : rowCount
    switch (vector.kind) {
      case 'text':
        hashRows(vector, rowCount, selection, out)
        return
      case 'dictionary':
        this.#hashEntries(vector, count, selection, out)
        return
      case 'constant':
        if (vector.value === null || count === 0) return
        hashValue(vector.value, out, 0)
        for (let i = hashIntegers; i < out.length; i++) out[i] = out[i - hashIntegers]!
        return
      default: {
        const read = valueReader(vector)
        for (let j = 0; j < count; j++) {
          checkAtTimes()
          hashValue(read(selection ? selection[j]! : j), out, j)
        }
      }
    }
  }

  #hashEntries(
    { codes, entries }: DictionaryVector,
    count: number,
    selection: Selection,
    out: Int32Array,
  ): void {
    const table = this.#ofEntries.get(entries) ?? new Int32Array(entries.size * hashIntegers)
    this.#ofEntries.set(entries, table)
    for (let j = 0; j < count; j++) {
      const code = codes[selection ? selection[j]! : j]!
      if (code < 0) continue
      if (table[2 * code] === 0 && table[2 * code + 1] === 0) hashEntry(entries, code, table)
      out[2 * j] = table[2 * code]!
      out[2 * j + 1] = table[2 * code + 1]!
    }
  }
}

function hashRows(
  { texts, first, valid }: TextVector,
  rowCount: number,
  selection: Selection,
  out: Int32Array,
): void {
  if (!selection) {
    hashTexts(texts, first, rowCount, valid, out)
    return
  }
  for (let j = 0; j < selection.length; j++) {
    const row = selection[j]!
    if (valid?.[row] !== 0) hashText(texts, first + row, out, j)
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
