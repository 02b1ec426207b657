import { combineCodes, mapCodes, pickCodes } from '../kernel/gather.ts'
import { forgetCopy, newCodes, newTable } from '../kernel/memory.ts'
import type { DictionaryEntries, DictionaryVector, Selection } from '../vector/vector.ts'
import type { GroupKey } from './varied-key.ts'

/** Combinations of entries up to which they are looked up in one table. */
const maximumCombinations = 1 << 16

const unknown = -1
/** Stands for a combination that the batch has, and that is being numbered. */
const found = -2

interface Product {
  readonly entries: readonly DictionaryEntries[]
  /** By combination; one more, since tables end with the code of null. */
  readonly groups: Int32Array
}

/**
 * Groups of rows whose keys are all in dictionaries of few entries: the codes of a row make one number,
 * which a table leads on from. To number key by key took four times as long.
 */
export class ProductCodes {
  /** By the entries of the first key. */
  readonly #products = new WeakMap<DictionaryEntries, Product>()

  /**
   * Writes the groups of the selected rows, one after the other, to `out`; false, and nothing is
   * written, when the keys are of another kind.
   *
   * @param assign gives the groups of the rows with a new combination, one row for each
   */
  encode(
    keys: readonly GroupKey[],
    rowCount: number,
    selection: Selection,
    out: Int32Array,
    assign: (rows: Int32Array, groups: Int32Array) => void,
  ): boolean {
    const vectors = dictionaries(keys)
    const product = vectors && this.#productOf(vectors.map(({ entries }) => entries))
    if (!product) return false
    const count = selection ? selection.length : rowCount
    const places = placesOf(vectors, selection, count)
    const { groups } = product
    if (mapCodes(groups, places, count, out) >= 0) return true
    // Mostly few rows are left, in any but the first batch.
    const left = newCodes(count)
    const rows = newCodes(count)
    let [leftCount, rowsFound] = [0, 0]
    for (let j = 0; j < count; j++) {
      if (out[j] !== unknown) continue
      left[leftCount++] = j
      const place = places[j]!
      if (groups[place] !== unknown) continue
      groups[place] = found
      rows[rowsFound++] = selection ? selection[j]! : j
    }
    const assigned = newCodes(rowsFound)
    assign(rows.subarray(0, rowsFound), assigned)
    let next = 0
    for (let i = 0; i < leftCount; i++) {
      const j = left[i]!
      const place = places[j]!
      if (groups[place] === found) groups[place] = assigned[next++]!
      out[j] = groups[place]!
    }
    forgetCopy(out)
    return true
  }

  #productOf(entries: readonly DictionaryEntries[]): Product | undefined {
    const [first] = entries
    const known = this.#products.get(first!)
    if (known?.entries.every((each, k) => each === entries[k])) return known
    const combinations = entries.reduce((product, { size }) => product * (size + 1), 1)
    if (combinations > maximumCombinations) return undefined
    const groups = newTable(combinations + 1, unknown)
    const product = { entries, groups }
    this.#products.set(first!, product)
    return product
  }
}

/** The keys, if they are several and all of them are in dictionaries. */
function dictionaries(keys: readonly GroupKey[]): readonly DictionaryVector[] | undefined {
  if (keys.length < 2) return undefined
  const vectors: DictionaryVector[] = []
  for (const key of keys) {
    if (!('kind' in key) || key.kind !== 'dictionary') return undefined
    vectors.push(key)
  }
  return vectors
}

/** The numbers of the rows' combinations. */
function placesOf(
  vectors: readonly DictionaryVector[],
  selection: Selection,
  count: number,
): Int32Array {
  const places = newCodes(count)
  const codesOf = ({ codes }: DictionaryVector) => {
    if (!selection) return codes
    const picked = newCodes(count)
    pickCodes(codes, selection, picked)
    return picked
  }
  const [first, ...others] = vectors
  let left = { codes: codesOf(first!), base: -1 as 0 | -1 }
  for (const vector of others) {
    const right = { codes: codesOf(vector), base: -1 as const }
    combineCodes(left, vector.entries.size + 1, right, count, places)
    left = { codes: places, base: 0 }
  }
  return places
}
