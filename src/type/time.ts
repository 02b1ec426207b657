/**
 * Points in time and calendar arithmetic. All of it is in UTC; a time zone is only ever the fixed
 * number of minutes that a request says its user is behind UTC.
 */
import { Interval, nearMs, Timestamp } from './value.ts'

export type TimeUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

export type IntervalUnit = Exclude<TimeUnit, 'quarter'> | 'millisecond' | 'microsecond'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const weekMs = 7 * dayMs

/** The furthest point in time that a `Date` can hold; beyond it there is no calendar. */
export const maxTimestampMs = 8.64e15

/** 1970 began on a Thursday, so the Monday before it is three days earlier. */
const mondayMs = -3 * dayMs

const timestampPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?)?$/

/**
 * Reads an ISO 8601 date or date with time: `2024-01-31`, `2024-01-31T10:30:00.5+02:00`, and with a
 * space for the T. Without an offset it is UTC. Undefined for anything else, such as a 30 February;
 * digits past the microsecond are dropped.
 */
export function parseTimestamp(text: string): Timestamp | undefined {
  const usual = parseUsual(text)
  return usual === undefined ? parseAny(text) : new Timestamp(usual)
}

/** Reads `2024-01-28T10:30:00.123Z`, the form that most programs write; no day after the 28th. */
function parseUsual(text: string): number | undefined {
  if (text.length !== 24 || text[10] !== 'T' || text[19] !== '.' || text[23] !== 'Z')
    return undefined
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':') return undefined
  const month = digits(text, 5, 2)
  const day = digits(text, 8, 2)
  const hour = digits(text, 11, 2)
  const minute = digits(text, 14, 2)
  const second = digits(text, 17, 2)
  // Beyond these bounds, and where there is no digit, the slow way decides.
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 28)) return undefined
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return undefined
  const midnight = utcDay(digits(text, 0, 4), month - 1, day)
  const ms = midnight + hour * hourMs + minute * minuteMs + second * secondMs + digits(text, 20, 3)
  return Number.isNaN(ms) ? undefined : ms
}

/** NaN unless all are digits. */
function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let i = from; i < from + count; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

function parseAny(text: string): Timestamp | undefined {
  const match = timestampPattern.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction, , sign, offsetHour, offsetMinute] =
    match
  const dayNumber = Number(day)
  if (Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59)
    return undefined
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined
  const midnight = utcDay(Number(year), Number(month) - 1, dayNumber)
  const date = new Date(midnight)
  if (date.getUTCDate() !== dayNumber || date.getUTCMonth() !== Number(month) - 1) return undefined
  const offset = Number(offsetHour ?? 0) * hourMs + Number(offsetMinute ?? 0) * minuteMs
  const whole =
    midnight +
    Number(hour ?? 0) * hourMs +
    Number(minute ?? 0) * minuteMs +
    Number(second ?? 0) * secondMs -
    (sign === '-' ? -offset : offset)
  const digits = (fraction ?? '').padEnd(6, '0')
  return timestampOf(whole + Number(digits.slice(0, 3)), Number(digits.slice(3, 6)))
}

/** @param ms whole milliseconds since 1970 UTC @param microseconds 0 to 1000, which come after them */
export function timestampOf(ms: number, microseconds: number): Timestamp {
  if (microseconds === 1000) return timestampOf(ms + 1, 0)
  return Math.abs(ms) < nearMs
    ? new Timestamp(ms + microseconds / 1000)
    : new Timestamp(ms, microseconds)
}

/** What is before the decimal point of its milliseconds, and three digits after it, which may round up to 1000. */
function partsOf({ ms, microseconds }: Timestamp): [ms: number, microseconds: number] {
  const whole = Math.floor(ms)
  return [whole, microseconds + Math.round((ms - whole) * 1000)]
}

/** Microseconds since 1970 UTC. */
export function microsecondsOf(time: Timestamp): bigint {
  const [ms, microseconds] = partsOf(time)
  return BigInt(ms) * 1000n + BigInt(microseconds)
}

/** Negative when the first is earlier, 0 when they are the same. */
export function compareTimes(a: Timestamp, b: Timestamp): number {
  return a.ms - b.ms || a.microseconds - b.microseconds
}

/**
 * Writes ISO 8601 in UTC with 0, 3 or 6 digits of a second's fraction: as few as it takes.
 *
 * @param time as such, or in milliseconds since 1970 UTC
 */
export function formatTimestamp(time: Timestamp | number): string {
  const [whole, microseconds] = partsOf(typeof time === 'number' ? new Timestamp(time) : time)
  if (microseconds === 1000) return formatTimestamp(whole + 1)
  const iso = new Date(whole).toISOString()
  if (microseconds > 0) return `${iso.slice(0, -1)}${String(microseconds).padStart(3, '0')}Z`
  return iso.endsWith('.000Z') ? `${iso.slice(0, -5)}Z` : iso
}

/** Writes an ISO 8601 duration: `P1Y2M`, `P3DT4H5M6.5S`, `PT0S`; every part carries its own sign. */
export function formatInterval(interval: Interval): string {
  const { months, ms } = interval
  const days = Math.trunc(ms / dayMs)
  const hours = Math.trunc((ms % dayMs) / hourMs)
  const minutes = Math.trunc((ms % hourMs) / minuteMs)
  const seconds = toMicroseconds(ms % minuteMs) / secondMs
  const date = part(Math.trunc(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D')
  const time = part(hours, 'H') + part(minutes, 'M') + part(seconds, 'S')
  if (date === '' && time === '') return 'PT0S'
  return time === '' ? `P${date}` : `P${date}T${time}`
}

/**
 * The start of the calendar unit that `ms` lies in, for a user whose clock is `tzOffsetMinutes`
 * behind UTC (as `Date.getTimezoneOffset` counts). Weeks start on Monday.
 */
export function truncate(unit: TimeUnit, ms: number, tzOffsetMinutes: number): number {
  const shift = tzOffsetMinutes * minuteMs
  return truncateLocal(unit, ms - shift) + shift
}

/**
 * The start of the run of `count` units that `ms` lies in, where runs are counted from the start of
 * 1970: `truncateToMultiple(15, 'minute', …)` gives quarters of an hour.
 */
export function truncateToMultiple(
  count: number,
  unit: 'second' | 'minute' | 'hour' | 'day',
  ms: number,
  tzOffsetMinutes: number,
): number {
  const shift = tzOffsetMinutes * minuteMs
  return floorTo(ms - shift, count * fixedUnitMs(unit)) + shift
}

/** An interval of `value` units; fractions of a month count as days of a 30-day month. */
export function toInterval(value: number, unit: IntervalUnit): Interval {
  if (unit === 'year') return monthsInterval(value * 12)
  if (unit === 'month') return monthsInterval(value)
  return new Interval(0, toMicroseconds(value * fixedUnitMs(unit)))
}

/** An interval `factor` times as long. */
export function scaleInterval(interval: Interval, factor: number): Interval {
  const scaled = monthsInterval(interval.months * factor)
  return new Interval(scaled.months, toMicroseconds(scaled.ms + interval.ms * factor))
}

/**
 * Moves a point in time by an interval, forward with `sign` 1 and back with -1. Months go first and
 * stop at the last day of the month they reach: January 31 and a month is the end of February.
 * Undefined when the result lies beyond the calendar.
 */
export function addInterval(
  time: Timestamp,
  interval: Interval,
  sign: 1 | -1,
): Timestamp | undefined {
  const [ms, microseconds] = partsOf(time)
  const moved = interval.months === 0 ? ms : addMonths(ms, interval.months * sign)
  const [more, moreMicroseconds] = partsOf(new Timestamp(interval.ms * sign))
  const after = microseconds + moreMicroseconds
  const carried = Math.floor(after / 1000)
  const result = moved + more + carried
  return Math.abs(result) <= maxTimestampMs
    ? timestampOf(result, after - carried * 1000)
    : undefined
}

/** From the second point in time to the first. */
export function intervalBetween(to: Timestamp, from: Timestamp): Interval {
  const areNear = Math.abs(to.ms) < nearMs && Math.abs(from.ms) < nearMs
  if (areNear) return new Interval(0, toMicroseconds(to.ms - from.ms))
  return new Interval(0, Number(microsecondsOf(to) - microsecondsOf(from)) / 1000)
}

/** Rounds to the microsecond, so that sums of fractions do not drift off it. */
export function toMicroseconds(ms: number): number {
  return Number.isInteger(ms) ? ms : Math.round(ms * 1000) / 1000
}

/** A length to order intervals by; a month counts as 30 days. */
export function approximateMs(interval: Interval): number {
  return interval.months * 30 * dayMs + interval.ms
}

function truncateLocal(unit: TimeUnit, ms: number): number {
  switch (unit) {
    case 'second':
    case 'minute':
    case 'hour':
    case 'day':
      return floorTo(ms, fixedUnitMs(unit))
    case 'week':
      return floorTo(ms - mondayMs, weekMs) + mondayMs
    default: {
      // A date drops a fraction, which before 1970 would be a moment later.
      const date = new Date(Math.floor(ms))
      const month = date.getUTCMonth()
      const first = unit === 'month' ? month : unit === 'quarter' ? month - (month % 3) : 0
      return utcDay(date.getUTCFullYear(), first, 1)
    }
  }
}

function fixedUnitMs(unit: Exclude<IntervalUnit, 'month' | 'year'>): number {
  switch (unit) {
    case 'microsecond':
      return 0.001
    case 'millisecond':
      return 1
    case 'second':
      return secondMs
    case 'minute':
      return minuteMs
    case 'hour':
      return hourMs
    case 'day':
      return dayMs
    case 'week':
      return weekMs
  }
}

function monthsInterval(months: number): Interval {
  const whole = Math.trunc(months)
  return new Interval(whole, toMicroseconds((months - whole) * 30 * dayMs))
}

function addMonths(ms: number, months: number): number {
  const date = new Date(ms)
  const month = date.getUTCMonth() + months
  const year = date.getUTCFullYear()
  const day = Math.min(date.getUTCDate(), new Date(utcDay(year, month + 1, 0)).getUTCDate())
  return utcDay(year, month, day) + (ms - floorTo(ms, dayMs))
}

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999; this does not. */
function utcDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

function floorTo(ms: number, step: number): number {
  return Math.floor(ms / step) * step
}

function part(value: number, letter: string): string {
  return value === 0 ? '' : `${value}${letter}`
}
