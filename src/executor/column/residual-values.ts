/**
 * What the residuals of a column set have at a path, where equal residuals are numbered: it is worked out
 * for each of them once, and rows are then led on from code to code.
 */
import { LRUCache } from 'lru-cache'
import { parseJsonBytes } from '../../type/parse-json.ts'
import { isObject, type Value } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import type { Texts } from '../../vector/column.ts'
import { bytesOfText } from '../../vector/read-column.ts'
import { NameSearch } from './name-search.ts'

export interface ResidualValues {
  /** By code of the residual, that of its value at the path; -1: it has none, or null. */
  readonly codes: Int32Array
  /** The different values. */
  readonly values: readonly Value[]
}

interface KeptValues extends ResidualValues {
  /** About as many as they take. */
  readonly bytes: number
}

/** What a thread keeps of all sets. */
const keptBytes = 2 ** 24

const known = new LRUCache<string, KeptValues>({
  maxSize: keptBytes,
  sizeCalculation: ({ bytes }) => bytes,
})
/** Of dictionaries, which segments have the same ones of whenever they are opened. */
const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** Kept for as long as others are not asked for more. */
export function residualValues(dictionary: Texts, path: readonly string[]): ResidualValues {
  const whole = dictionary.identity ?? dictionary
  let number = numbers.get(whole)
  if (number === undefined) {
    number = ++lastNumber
    numbers.set(whole, number)
  }
  const key = `${number} ${JSON.stringify(path)}`
  let values = known.get(key)
  if (!values) {
    values = readValues(dictionary, path)
    known.set(key, values)
  }
  return values
}

/** Of a value, besides its text. */
const valueBytes = 64

function readValues(dictionary: Texts, path: readonly string[]): KeptValues {
  const count = dictionary.offsets.length - 1
  const codes = new Int32Array(count).fill(-1)
  const places = new Map<string, number>()
  const values: Value[] = []
  let bytes = codes.byteLength + valueBytes
  for (const entry of new NameSearch(path).among(dictionary, 0, count)) {
    const value = memberAt(parseJsonBytes(bytesOfText(dictionary, entry)), path)
    if (value === null) continue
    const key = canonicalJson(value)
    let place = places.get(key)
    if (place === undefined) {
      place = values.push(value) - 1
      places.set(key, place)
      bytes += valueBytes + 2 * key.length
    }
    codes[entry] = place
  }
  return { codes, values, bytes }
}

function memberAt(value: Value, path: readonly string[]): Value {
  let found = value
  for (const key of path) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return null
    found = found[key]!
  }
  return found
}
