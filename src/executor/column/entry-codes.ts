import { newTable } from '../../kernel/arena.ts'
import { mapCodes, mapCodesWithin } from '../../kernel/gather.ts'
import type { DictionaryEntries, DictionaryVector, Selection } from '../../vector/vector.ts'

/** Stands for a code that is not given yet. */
const unassigned = -1

/** Of a batch, among which most entries of a short dictionary are. */
const firstRows = 512

/** Leads from the codes of dictionaries to others, which entries are given when a row first has them. */
export class EntryCodes {
  /** The last place of a table is that of null. */
  readonly #tables = new WeakMap<DictionaryEntries, Int32Array>()
  readonly #codeOf: (entries: DictionaryEntries, code: number) => number

  /** @param codeOf gives the code of an entry, or, for -1, of null */
  constructor(codeOf: (entries: DictionaryEntries, code: number) => number) {
    this.#codeOf = codeOf
  }

  /** Writes the codes of the selected rows, one after the other, to `out`. */
  encode(
    { codes, entries }: DictionaryVector,
    rowCount: number,
    selection: Selection,
    out: Int32Array,
  ): void {
    const table = this.#tables.get(entries) ?? newTable(entries.size + 1, unassigned)
    this.#tables.set(entries, table)
    const lead = () =>
      selection
        ? mapCodesWithin(table, codes, selection, out)
        : mapCodes(table, codes, rowCount, out)
    if (lead() >= 0) return
    const number = (count: number) => {
      for (let j = 0; j < count; j++) {
        if (out[j] !== unassigned) continue
        const code = codes[selection ? selection[j]! : j]!
        const place = code < 0 ? entries.size : code
        if (table[place] === unassigned) table[place] = this.#codeOf(entries, code)
        out[j] = table[place]!
      }
    }
    const count = selection ? selection.length : rowCount
    // Once the entries of the first rows are numbered, few are left for a loop here.
    const first = Math.min(count, Math.max(firstRows, 4 * entries.size))
    number(first)
    if (first < count && lead() < 0) number(count)
  }
}
