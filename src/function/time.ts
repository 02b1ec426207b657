/** What the functions of time are made of. `tzOffset` is in minutes behind UTC, as a request has it. */
import {
  type IntervalUnit,
  microsecondsOf,
  type TimeUnit,
  toInterval,
  truncate,
  truncateToMultiple,
} from '../type/time.ts'
import { Timestamp, type Value } from '../type/value.ts'
import { timeOf } from './convert.ts'

export const timeUnits: readonly TimeUnit[] = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
]

type FixedUnit = 'second' | 'minute' | 'hour' | 'day'

/** What `date_trunc` understands by its unit: `day`, `15 minutes`; undefined if it does not. */
export function parseTruncation(text: string): { count: number; unit: TimeUnit } | undefined {
  const match = /^(?:([1-9]\d{0,5}) +)?([a-z]+?)s?$/.exec(text.trim().toLowerCase())
  const unit = match && timeUnits.find((candidate) => candidate === match[2])
  if (!unit) return undefined
  const count = Number(match[1] ?? 1)
  return count > 1 && !isFixed(unit) ? undefined : { count, unit }
}

function isFixed(unit: TimeUnit): unit is FixedUnit {
  return unit === 'second' || unit === 'minute' || unit === 'hour' || unit === 'day'
}

export function dateTrunc(unit: Value, time: Value, tzOffset: number): Value {
  const found = timeOf(time)
  const truncation = typeof unit === 'string' ? parseTruncation(unit) : undefined
  if (!found || !truncation) return null
  const { ms } = found
  const { count, unit: timeUnit } = truncation
  if (count > 1 && isFixed(timeUnit)) {
    return new Timestamp(truncateToMultiple(count, timeUnit, ms, tzOffset))
  }
  return new Timestamp(truncate(timeUnit, ms, tzOffset))
}

export const differenceUnits = ['microsecond', 'millisecond', ...timeUnits] as const
export type DifferenceUnit = (typeof differenceUnits)[number]

/** A unit by its name, singular or plural, in any case. */
export function parseDifferenceUnit(unit: Value): DifferenceUnit | undefined {
  if (typeof unit !== 'string') return undefined
  const name = unit.trim().toLowerCase()
  return differenceUnits.find((candidate) => name === candidate || name === `${candidate}s`)
}

/** How many starts of a unit lie after `from` and not after `to`; negative when `to` is earlier. */
export function dateDifference(unit: Value, from: Value, to: Value, tzOffset: number): Value {
  const [first, last] = [timeOf(from), timeOf(to)]
  const parsed = parseDifferenceUnit(unit)
  if (!first || !last || !parsed) return null
  const [start, end] = [first.ms, last.ms]
  switch (parsed) {
    case 'microsecond': {
      const microseconds = microsecondsOf(last) - microsecondsOf(first)
      const number = Number(microseconds)
      return Math.abs(number) < 2 ** 53 ? number : microseconds
    }
    case 'millisecond':
      return Math.floor(end) - Math.floor(start) + 0
    case 'month':
    case 'quarter':
    case 'year': {
      const months = monthNumber(end, tzOffset, parsed) - monthNumber(start, tzOffset, parsed)
      return months + 0
    }
    default: {
      const size = toInterval(1, parsed satisfies IntervalUnit).ms
      return (truncate(parsed, end, tzOffset) - truncate(parsed, start, tzOffset)) / size + 0
    }
  }
}

/** Months, quarters or years since the year 0. */
function monthNumber(ms: number, tzOffset: number, unit: 'month' | 'quarter' | 'year'): number {
  const date = new Date(Math.floor(ms - tzOffset * 60_000))
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth()
  return Math.floor(months / (unit === 'month' ? 1 : unit === 'quarter' ? 3 : 12))
}

const partNames = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  week: 'week',
  day: 'day',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
  epoch: 'epoch',
  dow: 'day_of_week',
  day_of_week: 'day_of_week',
  dayofweek: 'day_of_week',
  doy: 'day_of_year',
  day_of_year: 'day_of_year',
  dayofyear: 'day_of_year',
} as const

export type DatePart = (typeof partNames)[keyof typeof partNames]
export const dateParts: readonly DatePart[] = [...new Set(Object.values(partNames))]

export function parseDatePart(part: Value): DatePart | undefined {
  if (typeof part !== 'string') return undefined
  const name = part.trim().toLowerCase().replace(/s$/, '')
  return Object.hasOwn(partNames, name) ? partNames[name as keyof typeof partNames] : undefined
}

/** The number that a calendar or a clock shows: 10 of 10:42:31. Seconds have their fraction. */
export function datePart(part: Value, time: Value, tzOffset: number): Value {
  const found = timeOf(time)
  const parsed = parseDatePart(part)
  if (!found || !parsed) return null
  const local = found.ms - tzOffset * 60_000
  const date = new Date(Math.floor(local))
  switch (parsed) {
    case 'year':
      return date.getUTCFullYear()
    case 'quarter':
      return Math.floor(date.getUTCMonth() / 3) + 1
    case 'month':
      return date.getUTCMonth() + 1
    case 'week':
      return isoWeek(local)
    case 'day':
      return date.getUTCDate()
    case 'hour':
      return date.getUTCHours()
    case 'minute':
      return date.getUTCMinutes()
    case 'second':
      return secondOf(found)
    case 'day_of_week':
      return date.getUTCDay()
    case 'day_of_year':
      return Math.floor((local - truncate('year', local, 0)) / dayMs) + 1
    case 'epoch':
      return epochSeconds(found)
  }
}

/** Clocks of all offsets show the same seconds. */
function secondOf(time: Timestamp): number {
  const minute = 60_000_000n
  const microseconds = microsecondsOf(time) % minute
  return Number(microseconds < 0n ? microseconds + minute : microseconds) / 1_000_000
}

export function epochSeconds(time: Timestamp): number {
  return Number(microsecondsOf(time)) / 1_000_000
}

const dayMs = 86_400_000

/** Weeks begin on Monday; the first of a year is the one with its first Thursday. */
function isoWeek(local: number): number {
  const thursday = truncate('week', local, 0) + 3 * dayMs
  return Math.floor((thursday - truncate('year', thursday, 0)) / (7 * dayMs)) + 1
}
