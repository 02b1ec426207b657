/** Values to JSON text: the one place that decides how a value looks outside. */
import { formatInterval, formatTimestamp } from './time.ts'
import { Interval, Timestamp, type Value } from './value.ts'

/**
 * Compact JSON. Numbers in shortest form (a negative zero as 0, what is not finite as null), whole
 * `bigint`s, times and intervals as text; half of a surrogate pair is escaped.
 */
export function writeJson(value: Value): string {
  return write(value, Object.keys)
}

/** The same with sorted keys: columns do not know in which order an object was written. */
export function writeSortedJson(value: Value): string {
  return write(value, (object) => Object.keys(object).sort())
}

function write(value: Value, keysOf: (object: object) => readonly string[]): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null'
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof Timestamp) return `"${formatTimestamp(value)}"`
  if (value instanceof Interval) return JSON.stringify(formatInterval(value))
  if (isArray(value)) return `[${value.map((item) => write(item, keysOf)).join(',')}]`
  const members: string[] = []
  for (const key of keysOf(value)) {
    members.push(`${JSON.stringify(key)}:${write(value[key]!, keysOf)}`)
  }
  return `{${members.join(',')}}`
}

/**
 * A text that two values share exactly if they are equal: JSON with sorted keys, where `1` and
 * `1.0` and `1e0` are one. It names groups and distinct values and is not for showing: times and
 * intervals have marks of their own, so that they differ from their texts.
 */
export function canonicalJson(value: Value): string {
  return sortedJson(value, markTime)
}

/** JSON with sorted keys, times and intervals as they are shown: what arrays and objects sort by. */
export function orderedJson(value: Value): string {
  return sortedJson(value, writeJson)
}

function markTime(value: Timestamp | Interval): string {
  if (value instanceof Interval) return `@${value.months}/${value.ms}`
  return value.microseconds === 0 ? `@${value.ms}` : `@${value.ms}+${value.microseconds}`
}

function sortedJson(value: Value, writeTime: (value: Timestamp | Interval) => string): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      // As a `bigint` of the same value would be.
      return Number.isInteger(value) && Math.abs(value) > 2 ** 53
        ? String(BigInt(value))
        : String(value)
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof Timestamp || value instanceof Interval) return writeTime(value)
  if (isArray(value)) return `[${value.map((item) => sortedJson(item, writeTime)).join(',')}]`
  let members = ''
  for (const key of Object.keys(value).sort()) {
    const before = members === '' ? '' : ','
    members += `${before}${JSON.stringify(key)}:${sortedJson(value[key]!, writeTime)}`
  }
  return `{${members}}`
}

function isArray(value: object): value is readonly Value[] {
  return Array.isArray(value)
}
