import type { BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { datePart, parseDatePart, parseTruncation } from '../../function/time.ts'
import { newNumbers } from '../../kernel/arena.ts'
import { spanOf, truncateTimes } from '../../kernel/time.ts'
import { type TimeUnit, truncate } from '../../type/time.ts'
import { Timestamp, type Value } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'

type Call = Extract<BoundExpression, { kind: 'call' }>

const minuteMs = 60_000
const dayMs = 86_400_000

/** Units of fixed length; weeks are counted from Monday, 5 January 1970. */
const fixedUnits: Readonly<Record<string, { readonly size: number; readonly origin: number }>> = {
  second: { size: 1000, origin: 0 },
  minute: { size: minuteMs, origin: 0 },
  hour: { size: 60 * minuteMs, origin: 0 },
  day: { size: dayMs, origin: 0 },
  week: { size: 7 * dayMs, origin: 4 * dayMs },
}

/** Days that units of the calendar have at least. */
const calendarUnits: Readonly<Record<string, number>> = { month: 28, quarter: 90, year: 365 }

/** The unit that a call truncates times to, the last of its arguments; undefined when it does something else. */
function truncationOf({ name, arguments: [unit] }: Call) {
  const isUnit = Object.hasOwn(fixedUnits, name) || Object.hasOwn(calendarUnits, name)
  if (isUnit) return { count: 1, unit: name as TimeUnit }
  const isKnown = name === 'date_trunc' && unit?.kind === 'constant'
  return isKnown && typeof unit.value === 'string' ? parseTruncation(unit.value) : undefined
}

/** What a time bucket lasts at least, in milliseconds; undefined when the call makes none. */
export function leastBucket(call: Call): number | undefined {
  const truncation = truncationOf(call)
  if (!truncation) return undefined
  const { count, unit } = truncation
  return count * (fixedUnits[unit]?.size ?? calendarUnits[unit]! * dayMs)
}

/** Time buckets over times; undefined when the call makes none. What it gives is, too, when the operand is no times. */
export function compileTruncation(
  call: Call,
  { tzOffset }: EvaluationContext,
): ((operand: Vector, rowCount: number) => Vector | undefined) | undefined {
  const truncation = truncationOf(call)
  if (!truncation) return undefined
  const { count, unit } = truncation
  const fixed = fixedUnits[unit]
  if (fixed) {
    const size = count * fixed.size
    // Local midnight comes `tzOffset` minutes after that of UTC.
    const origin = fixed.origin + tzOffset * minuteMs
    const startOf = (time: number) => Math.floor((time - origin) / size) * size + origin
    return (operand, rowCount) => {
      if (operand.kind !== 'timestamp') return undefined
      const only = onlyStart(operand.values, rowCount, startOf)
      if (only) return only
      const values = newNumbers(rowCount)
      truncateTimes(operand.values, size, origin, rowCount, values)
      return { kind: 'timestamp', values }
    }
  }
  return (operand, rowCount) => {
    if (operand.kind !== 'timestamp') return undefined
    const startOf = (time: number) => truncate(unit, time, tzOffset)
    const only = onlyStart(operand.values, rowCount, startOf)
    if (only) return only
    const values = newNumbers(rowCount)
    truncateByCalendar(operand.values, unit, tzOffset, values)
    return { kind: 'timestamp', values }
  }
}

/**
 * Numbers of the calendar and the clock over times; undefined when the call asks for none that is the same all through a
 * minute. What it gives is, too, when the operand is no times.
 */
export function compileDatePart(
  { name, arguments: [asked] }: Call,
  { tzOffset }: EvaluationContext,
): ((operand: Vector, rowCount: number) => Vector | undefined) | undefined {
  if (name !== 'date_part' || asked?.kind !== 'constant') return undefined
  const part = parseDatePart(asked.value as Value)
  if (part === undefined || part === 'second' || part === 'epoch') return undefined
  const size = part === 'minute' || part === 'hour' ? fixedUnits[part]!.size : dayMs
  return (operand, rowCount) => {
    if (operand.kind !== 'timestamp') return undefined
    const values = newNumbers(rowCount)
    // Times come nearly in order, so most are in the same part of a day as the one before.
    let last = Number.NaN
    let number = Number.NaN
    for (let i = 0; i < rowCount; i++) {
      const time = operand.values[i]!
      const place = Math.floor((time - tzOffset * minuteMs) / size)
      if (place !== last && !Number.isNaN(time)) {
        last = place
        number = datePart(part, new Timestamp(time), tzOffset) as number
      }
      values[i] = Number.isNaN(time) ? time : number
    }
    return { kind: 'number', values }
  }
}

/**
 * A constant when all times fall into one bucket, as those of a batch of a large segment do, whose
 * rows lie in the order of time. Truncation keeps the order, so the first and the last time tell.
 */
function onlyStart(
  times: Float64Array,
  rowCount: number,
  startOf: (time: number) => number,
): Vector | undefined {
  const span = spanOf(times, rowCount)
  if (!span) return undefined
  const start = startOf(span.low)
  if (start !== startOf(span.high)) return undefined
  return { kind: 'constant', value: new Timestamp(start) }
}

/** Times come nearly in order, so most fall into the same day as the one before: that is remembered. */
function truncateByCalendar(
  times: Float64Array,
  unit: TimeUnit,
  tzOffset: number,
  out: Float64Array,
): void {
  let day = Number.NaN
  let start = Number.NaN
  for (let i = 0; i < out.length; i++) {
    const time = times[i]!
    if (Number.isNaN(time)) {
      out[i] = Number.NaN
      continue
    }
    const localDay = Math.floor((time - tzOffset * minuteMs) / dayMs)
    if (localDay !== day) {
      day = localDay
      start = truncate(unit, time, tzOffset)
    }
    out[i] = start
  }
}
