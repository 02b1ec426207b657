/** The while that a project's home tells of, and its parts. */
import { quoted, tzOffset } from './query.ts'
import type { Span } from './time-buckets.ts'

export type PeriodId = '1d' | '7d' | '30d'

interface Length {
  readonly id: PeriodId
  /** "day": the past day, the day before. */
  readonly title: string
  readonly seconds: number
  /** A unit as `date_trunc` takes it, and its seconds. */
  readonly unit: string
  readonly unitSeconds: number
}

export const periodLengths: readonly Length[] = [
  { id: '1d', title: 'day', seconds: 86_400, unit: 'hour', unitSeconds: 3600 },
  { id: '7d', title: 'week', seconds: 604_800, unit: '6 hours', unitSeconds: 21_600 },
  { id: '30d', title: '30 days', seconds: 2_592_000, unit: 'day', unitSeconds: 86_400 },
]

/** All of it is whole units of the person's clock, so that no bar of a plot is a part of one. */
export interface Period extends Length, Span {
  /** As long as what has passed of the period, just before it: what it is compared with. */
  readonly before: Span
  /** Beginnings of the units, in seconds since 1970. */
  readonly times: readonly number[]
}

/** @param now in seconds since 1970: the period ends with the unit that it lies in */
export function periodOf(id: PeriodId, now: number): Period {
  const length = periodLengths.find((each) => each.id === id)!
  const { seconds, unitSeconds } = length
  const shift = tzOffset * 60
  const to = (Math.floor((now - shift) / unitSeconds) + 1) * unitSeconds + shift
  const from = to - seconds
  const minute = Math.floor(now / 60) * 60
  const count = seconds / unitSeconds
  return {
    ...length,
    from,
    to,
    before: { from: from - seconds, to: Math.min(from, minute - seconds) },
    times: Array.from({ length: count }, (_, i) => from + i * unitSeconds),
  }
}

/** Which unit of the period a time of an answer begins; undefined outside of it. */
export function placeIn({ from, unitSeconds, times }: Period, time: unknown): number | undefined {
  const place = Math.round((Date.parse(String(time)) / 1000 - from) / unitSeconds)
  return place >= 0 && place < times.length ? place : undefined
}

/** As a condition of the query language. */
export function within({ from, to }: Span): string {
  return `created >= ${quoted(momentOf(from))} and created < ${quoted(momentOf(to))}`
}

/** Either the period or what it is compared with. */
export function withinBoth(period: Period): string {
  return `((${within(period.before)}) or (${within(period)}))`
}

/** True of what lies in the period, of what lies in either. */
export function isNow({ from }: Period): string {
  return `created >= ${quoted(momentOf(from))}`
}

/** ISO 8601. */
export function momentOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
