import type { EvaluationContext } from '../../binder/evaluate.ts'
import { newNumbers } from '../../kernel/arena.ts'
import { spanOf, truncateTimes } from '../../kernel/time.ts'
import { truncate } from '../../type/time.ts'
import { Timestamp } from '../../type/value.ts'
import type { Vector } from '../../vector/vector.ts'

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

/** What a time bucket lasts at least, in milliseconds; undefined when the function makes none. */
export function leastBucket(name: string): number | undefined {
  if (Object.hasOwn(fixedUnits, name)) return fixedUnits[name]!.size
  return Object.hasOwn(calendarUnits, name) ? calendarUnits[name]! * dayMs : undefined
}

/** Time buckets over times; undefined when the function is none, or the operand is no times. */
export function compileTruncation(
  name: string,
  { tzOffset }: EvaluationContext,
): ((operand: Vector, rowCount: number) => Vector | undefined) | undefined {
  const unit = Object.hasOwn(fixedUnits, name) ? fixedUnits[name] : undefined
  if (unit) {
    // Local midnight comes `tzOffset` minutes after that of UTC.
    const origin = unit.origin + tzOffset * minuteMs
    const startOf = (time: number) => Math.floor((time - origin) / unit.size) * unit.size + origin
    return (operand, rowCount) => {
      if (operand.kind !== 'timestamp') return undefined
      const only = onlyStart(operand.values, rowCount, startOf)
      if (only) return only
      const values = newNumbers(rowCount)
      truncateTimes(operand.values, unit.size, origin, rowCount, values)
      return { kind: 'timestamp', values }
    }
  }
  if (!Object.hasOwn(calendarUnits, name)) return undefined
  return (operand, rowCount) => {
    if (operand.kind !== 'timestamp') return undefined
    const unit = name as 'month' | 'quarter' | 'year'
    const startOf = (time: number) => truncate(unit, time, tzOffset)
    const only = onlyStart(operand.values, rowCount, startOf)
    if (only) return only
    const values = newNumbers(rowCount)
    truncateByCalendar(operand.values, unit, tzOffset, values)
    return { kind: 'timestamp', values }
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
  unit: 'month' | 'quarter' | 'year',
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
