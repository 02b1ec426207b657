/** Starts of calendar units, in microseconds since 1970. */
import type { TimeUnit } from '../../type/time.ts'

const second = 1_000_000
const day = 86_400 * second

const sizes: Partial<Record<TimeUnit, number>> = {
  second,
  minute: 60 * second,
  hour: 3600 * second,
  day,
  week: 7 * day,
}

/** 1970 began on a Thursday. */
const monday = -3 * day

const starts: Partial<Record<TimeUnit, string>> = {
  month: 'toStartOfMonth',
  quarter: 'toStartOfQuarter',
  year: 'toStartOfYear',
}

/**
 * @param time SQL of microseconds since 1970
 * @param tzOffset minutes behind UTC
 */
export function truncatedTime(
  { count, unit }: { readonly count: number; readonly unit: TimeUnit },
  time: string,
  tzOffset: number,
): string | undefined {
  const offset = Math.round(tzOffset * 60 * second)
  const size = sizes[unit]
  if (size !== undefined) {
    const from = offset + (unit === 'week' ? monday : 0)
    const length = size * count
    // Remainders of times before 1970 are made positive.
    return `(${time} - positiveModulo(${time} - toInt64(${from}), toInt64(${length})))`
  }
  const start = starts[unit]
  if (start === undefined || count !== 1) return undefined
  const local = `toDate32(fromUnixTimestamp64Micro(${time} - toInt64(${offset}), 'UTC'))`
  return `(toInt64(toInt32(${start}(${local}))) * toInt64(${day}) + toInt64(${offset}))`
}
