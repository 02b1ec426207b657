/** Text of values: what LIKE searches, `concat` joins and `to_string` gives. */
import { formatInterval, formatTimestamp } from './time.ts'
import { Interval, type JsonObject, Timestamp, type Value } from './value.ts'

/** A string as it is, anything else as its JSON. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value
  if (value instanceof Timestamp) return formatTimestamp(value.ms)
  if (value instanceof Interval) return formatInterval(value)
  return jsonOf(value)
}

/** Compact JSON; times and intervals are strings in it. Keys keep their order. */
export function jsonOf(value: Value): string {
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return numberText(value)
    case 'string':
      return JSON.stringify(value)
    default:
      if (value === null) return 'null'
      if (value instanceof Timestamp) return `"${formatTimestamp(value.ms)}"`
      if (value instanceof Interval) return `"${formatInterval(value)}"`
      if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
      return objectText(value as JsonObject)
  }
}

/** The shortest decimal that reads back as the same double. */
export function numberText(value: number): string {
  return String(value === 0 ? 0 : value)
}

function objectText(value: JsonObject): string {
  const entries = Object.keys(value).map((key) => `${JSON.stringify(key)}:${jsonOf(value[key]!)}`)
  return `{${entries.join(',')}}`
}
