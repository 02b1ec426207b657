import { combineCodes, mapCodes, pickCodes } from '../../kernel/gather.ts'
import { numberCodes } from '../../kernel/groups.ts'
import { forgetCopy, newCodes, newTable } from '../../kernel/memory.ts'
import { isTimeOfNumber } from '../../type/value.ts'
import type { DictionaryEntries, DictionaryVector, Selection } from '../../vector/vector.ts'
import type { GroupKey } from './varied-key.ts'

/** Combinations of entries up to which they are looked up in one table. */
const maximumCombinations = 1 << 16

const unknown = -1

interface Product {
  readonly entries: readonly DictionaryEntries[]
  /** By combination; one more, since tables end with the code of null. */
  readonly groups: Int32Array
}

/** Keys that are in dictionaries, and what tells those that are constants from any others. */
interface CodedKeys {
  readonly vectors: readonly DictionaryVector[]
  readonly constants: string
}

/**
 * Groups of rows whose keys are in dictionaries of few entries, or constants, as days mostly are: the codes
 * of a row make one number, which a table leads on from. To number key by key took four times as long.
 */
export class ProductCodes {
  /** By the entries of the first key that has any, and by constants. */
  readonly #products = new WeakMap<DictionaryEntries, Map<string, Product>>()

  /**
   * Writes the groups of the selected rows, one after the other, to `out`; false, and nothing is
   * written, when the keys are of another kind.
   *
   * @param assign gives the groups of new combinations, which are given as keys of rows of their own
   */
  encode(
    keys: readonly GroupKey[],
    rowCount: number,
    selection: Selection,
    out: Int32Array,
    assign: (keys: readonly GroupKey[], count: number, groups: Int32Array) => void,
  ): boolean {
    const coded = codedKeys(keys)
    const product = coded && this.#productOf(coded)
    if (!product) return false
    const count = selection ? selection.length : rowCount
    const places = placesOf(coded.vectors, selection, count)
    const { groups, entries } = product
    if (mapCodes(groups, places, count, out) >= 0) return true
    // Those that are new are numbered first, and then have the numbers of their groups in place of these.
    const added = newCodes(count)
    const addedCount = numberCodes({ table: groups, places: added }, places, count, out, 0)
    const assigned = newCodes(addedCount)
    const codes = codesOfPlaces(entries, added.subarray(0, addedCount))
    const ofAdded = keys.map((key): GroupKey => {
      const k = coded.vectors.indexOf(key as DictionaryVector)
      return k < 0 ? key : { kind: 'dictionary', codes: codes[k]!, entries: entries[k]! }
    })
    assign(ofAdded, addedCount, assigned)
    for (let i = 0; i < addedCount; i++) groups[placeOf(added[i]!, groups)] = assigned[i]!
    mapCodes(groups, places, count, out)
    forgetCopy(out)
    return true
  }

  #productOf({ vectors, constants }: CodedKeys): Product | undefined {
    const entries = vectors.map((vector) => vector.entries)
    const [first] = entries
    let products = this.#products.get(first!)
    if (!products) {
      products = new Map()
      this.#products.set(first!, products)
    }
    const last = products.get(constants)
    if (last?.entries.every((each, k) => each === entries[k])) return last
    const combinations = entries.reduce((product, { size }) => product * (size + 1), 1)
    if (combinations > maximumCombinations) return undefined
    const product = { entries, groups: tableBeside(products, combinations + 1) }
    products.set(constants, product)
    return product
  }
}

/** A table for one more product: where those of other constants take much room, that of the oldest. */
function tableBeside(products: Map<string, Product>, length: number): Int32Array {
  const [oldest] = products
  if (oldest && products.size * length > maximumCombinations) {
    const [constants, { groups }] = oldest
    products.delete(constants)
    if (groups.length === length) return groups.fill(unknown)
  }
  return newTable(length, unknown)
}

/** The keys, if they are several and all of them are of these kinds, and not all of them constants. */
function codedKeys(keys: readonly GroupKey[]): CodedKeys | undefined {
  if (keys.length < 2) return undefined
  const vectors: DictionaryVector[] = []
  let constants = ''
  for (const [k, key] of keys.entries()) {
    if (!('kind' in key)) return undefined
    if (key.kind === 'dictionary') vectors.push(key)
    else if (key.kind === 'constant') {
      const { value } = key
      const isTime = isTimeOfNumber(value)
      if (typeof value === 'object' && value !== null && !isTime) return undefined
      constants += `${k} ${isTime ? `time ${value.ms}` : `${typeof value} ${value}`} `
    } else return undefined
  }
  return vectors.length === 0 ? undefined : { vectors, constants }
}

/** With one key there is no combination, and null has the last place. */
function placeOf(place: number, groups: Int32Array): number {
  return place < 0 ? groups.length - 1 : place
}

/** The codes that rows of these combinations have, dictionary by dictionary. */
function codesOfPlaces(entries: readonly DictionaryEntries[], places: Int32Array): Int32Array[] {
  const left = Int32Array.from(places)
  // Counted from null on, unless there is one key alone.
  if (entries.length === 1) return [left]
  const found: Int32Array[] = []
  for (const { size } of entries.toReversed()) {
    const stride = size + 1
    const codes = new Int32Array(left.length)
    for (let i = 0; i < left.length; i++) {
      const rest = (left[i]! / stride) | 0
      codes[i] = left[i]! - rest * stride - 1
      left[i] = rest
    }
    found.unshift(codes)
  }
  return found
}

/** The numbers of the rows' combinations: of one key, its codes. */
function placesOf(
  vectors: readonly DictionaryVector[],
  selection: Selection,
  count: number,
): Int32Array {
  const codesOf = ({ codes }: DictionaryVector) => {
    if (!selection) return codes
    const picked = newCodes(count)
    pickCodes(codes, selection, picked)
    return picked
  }
  const [first, ...others] = vectors
  if (others.length === 0) return codesOf(first!)
  const places = newCodes(count)
  let left = { codes: codesOf(first!), base: -1 as 0 | -1 }
  for (const vector of others) {
    const right = { codes: codesOf(vector), base: -1 as const }
    combineCodes(left, vector.entries.size + 1, right, count, places)
    left = { codes: places, base: 0 }
  }
  return places
}
