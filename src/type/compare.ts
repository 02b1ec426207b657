/**
 * Equality and order of values.
 *
 * A comparison with null is unknown, which is null. Values of different kinds are not equal and have
 * no order; one exception: a string that is compared with a point in time is read as one.
 */
import { unreachable } from '../error.ts'
import { approximateMs, compareTimes, parseTimestamp } from './time.ts'
import {
  type Interval,
  type JsonObject,
  kindOf,
  Timestamp,
  type Value,
  type ValueKind,
} from './value.ts'
import { canonicalJson, orderedJson } from './write-json.ts'

export type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'is_same' | 'is_different'

/** The order of kinds among each other, for sorting. */
const kindRank: Record<ValueKind, number> = {
  null: 0,
  boolean: 1,
  number: 2,
  timestamp: 3,
  interval: 4,
  string: 5,
  array: 6,
  object: 7,
}

/** Whether two values are equal; arrays and objects by what they hold, in any order of keys. */
export function equals(a: Value, b: Value): boolean | null {
  if (a === null || b === null) return null
  const order = orderOfTimeAndText(a, b)
  return order === undefined ? sameValue(a, b) : order === null ? null : order === 0
}

export function compare(operator: Comparison, a: Value, b: Value): boolean | null {
  switch (operator) {
    case 'eq':
      return equals(a, b)
    case 'ne': {
      const equal = equals(a, b)
      return equal === null ? null : !equal
    }
    case 'is_same':
      return isSame(a, b)
    case 'is_different':
      return !isSame(a, b)
    default:
      break
  }
  const order = orderOrNull(a, b)
  if (order === null) return null
  switch (operator) {
    case 'lt':
      return order < 0
    case 'le':
      return order <= 0
    case 'gt':
      return order > 0
    case 'ge':
      return order >= 0
    default:
      return unreachable(operator)
  }
}

/**
 * The total order for sort, min and max, as a negative number, 0 or a positive one. Kinds come one
 * after the other; 0 means that the values are the same. Where null goes is the caller's choice.
 */
export function orderValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  const kind = kindOf(a)
  const rank = kindRank[kind] - kindRank[kindOf(b)]
  return rank === 0 ? orderWithinKind(kind, a, b) : rank
}

/** Equality within arrays and objects, where null is a value like any other. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return orderOfTimeAndText(a, b) === 0
  switch (kind) {
    case 'array':
      return sameItems(a as readonly Value[], b as readonly Value[])
    case 'object':
      return sameEntries(a as JsonObject, b as JsonObject)
    default:
      return orderWithinKind(kind, a, b) === 0
  }
}

/**
 * Orders texts by code point, which is also the order of their bytes (`encodeUtf8`). JavaScript's own `<`
 * goes by UTF-16 units and puts astral characters before U+E000.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rankOf(a, i) - rankOf(b, i)
  }
  return a.length - b.length
}

function isSame(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b
  return equals(a, b) ?? false
}

function orderOrNull(a: Value, b: Value): number | null {
  if (a === null || b === null) return null
  const order = orderOfTimeAndText(a, b)
  if (order !== undefined) return order
  const kind = kindOf(a)
  return kind === kindOf(b) ? orderWithinKind(kind, a, b) : null
}

/** Undefined unless one is a time and the other a string; null when the string is not a time. */
function orderOfTimeAndText(a: Value, b: Value): number | null | undefined {
  if (a instanceof Timestamp && typeof b === 'string') {
    const time = parseTimestamp(b)
    return time === undefined ? null : compareTimes(a, time)
  }
  if (b instanceof Timestamp && typeof a === 'string') {
    const time = parseTimestamp(a)
    return time === undefined ? null : compareTimes(time, b)
  }
  return undefined
}

function orderWithinKind(kind: ValueKind, a: Value, b: Value): number {
  switch (kind) {
    case 'null':
      return 0
    case 'boolean':
      return Number(a) - Number(b)
    case 'number':
      // Mixed comparisons of double and bigint are exact; their difference would not be.
      return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
    case 'string':
      return compareText(a as string, b as string)
    case 'timestamp':
      return compareTimes(a as Timestamp, b as Timestamp)
    case 'interval':
      return orderIntervals(a as Interval, b as Interval)
    case 'array':
    case 'object':
      return (
        compareText(orderedJson(a), orderedJson(b)) ||
        compareText(canonicalJson(a), canonicalJson(b))
      )
    default:
      return unreachable(kind)
  }
}

function orderIntervals(a: Interval, b: Interval): number {
  return approximateMs(a) - approximateMs(b) || a.months - b.months
}

function sameItems(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length && a.every((item, i) => sameValue(item, b[i]!))
}

function sameEntries(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key]!, b[key]!))
}

/** Ranks the unit at a first difference: what is of a whole pair comes after all other units. */
function rankOf(text: string, i: number): number {
  const unit = text.charCodeAt(i)
  if (unit < 0xd800 || unit > 0xdfff) return unit
  const isPaired = unit < 0xdc00 ? isHalf(text, i + 1, 0xdc00) : isHalf(text, i - 1, 0xd800)
  return isPaired ? unit + 0x10000 : unit
}

function isHalf(text: string, i: number, first: number): boolean {
  const unit = text.charCodeAt(i)
  return unit >= first && unit < first + 0x400
}
