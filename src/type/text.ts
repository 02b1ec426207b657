import { formatInterval, formatTimestamp } from './time.ts'
import { Interval, Timestamp, type Value } from './value.ts'
import { writeSortedJson } from './write-json.ts'

/**
 * What LIKE searches, `concat` joins and `to_string` gives: a string as it is, times and intervals
 * in ISO 8601, anything else as its JSON, of objects with keys in alphabetical order.
 */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Interval) return formatInterval(value)
  return writeSortedJson(value)
}
