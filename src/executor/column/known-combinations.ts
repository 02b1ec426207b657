import type { DictionaryEntries } from '../../vector/vector.ts'

/** Groups and entries up to which it takes less to find them again than to number rows anew. */
const [fewGroups, fewEntries] = [4096, 1024]

/** Stands for null, which no dictionary has. */
const nullId = 0

/** No code of a dictionary. */
const absent = -2

/**
 * Combinations of texts that have a group, whatever dictionary they came from: so the codes of the next
 * segment lead to groups before any of its rows is numbered.
 */
export class KnownCombinations {
  readonly #ids: TextIds
  /** One list of ids after the other, one id per key. */
  readonly #combinations: number[] = []
  readonly #groups: number[] = []

  constructor(ids: TextIds) {
    this.#ids = ids
  }

  /** Keeps the group of each combination: `codes[k][i]` is the code in the k-th dictionary. */
  add(
    dictionaries: readonly DictionaryEntries[],
    codes: readonly Int32Array[],
    groups: Int32Array,
  ): void {
    if (this.#groups.length + groups.length > fewGroups) return
    const ids = dictionaries.map((entries) => this.#ids.of(entries))
    if (ids.includes(undefined)) return
    for (let i = 0; i < groups.length; i++) {
      for (let k = 0; k < ids.length; k++) this.#combinations.push(ids[k]!.at(codes[k]![i]!)!)
      this.#groups.push(groups[i]!)
    }
  }

  /** Calls `each` for every combination of these dictionaries, with its codes, which must not be kept, and its group. */
  lead(
    dictionaries: readonly DictionaryEntries[],
    each: (codes: Int32Array, group: number) => void,
  ): void {
    if (this.#groups.length === 0) return
    const ids = dictionaries.map((entries) => this.#ids.of(entries))
    if (ids.includes(undefined)) return
    const codesOf = ids.map((of) => this.#ids.inverse(of!))
    const keys = dictionaries.length
    const codes = new Int32Array(keys)
    for (const [i, group] of this.#groups.entries()) {
      let isThere = true
      for (let k = 0; k < keys; k++) {
        codes[k] = codesOf[k]![this.#combinations[i * keys + k]!]!
        if (codes[k] === absent) isThere = false
      }
      if (isThere) each(codes, group)
    }
  }
}

/** Numbers texts of short dictionaries alike. */
export class TextIds {
  readonly #ids = new Map<string, number>()
  readonly #known = new WeakMap<DictionaryEntries, Int32Array>()

  /** By code, the id of the text, and that of null at the end; undefined of a long dictionary, or one of other values. */
  of(entries: DictionaryEntries): Int32Array | undefined {
    const { texts, size } = entries
    if (!texts || size > fewEntries) return undefined
    const known = this.#known.get(entries)
    if (known) return known
    const ids = new Int32Array(size + 1)
    for (let code = 0; code < size; code++) {
      // Characters for bytes: as different as these, whatever they mean.
      const text = texts.bytes.toString('latin1', texts.offsets[code]!, texts.offsets[code + 1]!)
      let id = this.#ids.get(text)
      if (id === undefined) {
        id = this.#ids.size + 1
        this.#ids.set(text, id)
      }
      ids[code] = id
    }
    ids[size] = nullId
    this.#known.set(entries, ids)
    return ids
  }

  /** By id, the code of a dictionary with these ids; -1: that of null. */
  inverse(ids: Int32Array): Int32Array {
    const codes = new Int32Array(this.#ids.size + 1).fill(absent)
    for (let code = 0; code < ids.length - 1; code++) codes[ids[code]!] = code
    codes[nullId] = -1
    return codes
  }
}
