/** Conversions between kinds of values. What cannot be converted is null, never an error. */
import { parseInterval } from '../type/parse-interval.ts'
import {
  toInterval as intervalOf,
  maxTimestampMs,
  parseTimestamp,
  timestampOf,
} from '../type/time.ts'
import { Interval, Timestamp, type Value } from '../type/value.ts'

const integerPattern = /^[+-]?\d+$/
const numberPattern = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** Numbers as they are, booleans as 0 and 1, and strings that are decimal numbers. */
export function toNumber(value: Value): number | bigint | null {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return value
    case 'boolean':
      return Number(value)
    case 'string':
      return parseNumber(value.trim())
    default:
      return null
  }
}

/** As `toNumber`, without the fraction. */
export function toInteger(value: Value): number | bigint | null {
  const number = toNumber(value)
  return typeof number === 'number' ? Math.trunc(number) : number
}

/** Booleans as they are, numbers by being other than 0, and the strings true, false, 1 and 0. */
export function toBoolean(value: Value): boolean | null {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'number':
      return value !== 0
    case 'bigint':
      return true
    case 'string':
      return booleanTexts.get(value.trim().toLowerCase()) ?? null
    default:
      return null
  }
}

const booleanTexts = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
])

/** A time, or a string that is one. */
export function timeOf(value: Value): Timestamp | null {
  if (value instanceof Timestamp) return value
  return typeof value === 'string' ? (parseTimestamp(value) ?? null) : null
}

/** As `timeOf`; numbers are taken as seconds since 1970, as `metrics.start` is. */
export function toTimestamp(value: Value): Timestamp | null {
  if (typeof value !== 'number') return timeOf(value)
  const ms = value * 1000
  if (Math.abs(ms) > maxTimestampMs) return null
  const whole = Math.floor(ms)
  return timestampOf(whole, Math.round((ms - whole) * 1000))
}

/** Intervals as they are, strings that are one, and numbers as seconds, as `metrics` has them. */
export function toInterval(value: Value): Interval | null {
  if (value instanceof Interval) return value
  if (typeof value === 'string') return parseInterval(value) ?? null
  const longest = (2 * maxTimestampMs) / 1000
  if (typeof value !== 'number' || Math.abs(value) > longest) return null
  return intervalOf(value, 'second')
}

function parseNumber(text: string): number | bigint | null {
  if (!numberPattern.test(text)) return null
  const number = Number(text)
  if (!Number.isFinite(number)) return null
  if (Number.isSafeInteger(number) || !integerPattern.test(text)) return number
  const exact = BigInt(text.replace('+', ''))
  return BigInt(number) === exact ? number : exact
}
