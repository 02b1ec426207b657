/** How many records of a query there are over time: buckets of a length that people count in. */
import { query, tzOffset } from './query.ts'
import { clauseOf, measured, withClauses } from './query-text.ts'

export interface Buckets {
  /** Beginnings of buckets without a gap, in seconds since 1970. */
  readonly times: readonly number[]
  readonly counts: readonly number[]
  readonly errors: readonly number[]
  /** Seconds from one bucket to the next. */
  readonly width: number
}

/** In seconds since 1970. */
export interface Span {
  readonly from: number
  readonly to: number
}

const units = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3600],
  ['day', 86_400],
] as const

/** Lengths of buckets, in seconds; longer ones are months, which are counted by days of 30. */
const lengths = [
  1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000,
  7_776_000, 31_536_000,
]

/** Bars that fit beside each other. */
const mostBars = 120

/**
 * @param span what is shown; all there is if undefined
 * @returns no buckets where there are no records
 */
export async function loadBuckets(
  text: string,
  span: Span | undefined,
  signal: AbortSignal,
): Promise<Buckets> {
  const shown = span ?? (await wholeSpan(text, signal))
  if (!shown) return { times: [], counts: [], errors: [], width: 1 }
  const seconds = Math.max(1, shown.to - shown.from)
  const width = lengths.find((each) => seconds / each <= mostBars) ?? lengths.at(-1)!
  const [unit] = units.findLast(([, length]) => length <= width)!
  const isSummary = /\)\s*summary$/.test(clauseOf(text, 'from') ?? '')
  const errors = isSummary ? 'count(span_type_info.has_error ? 1 : null)' : 'count(error)'
  const { data } = await query(
    measured(text, `count(1) as n, ${errors} as errors`, `${unit}(created) as time`),
    signal,
  )
  // Buckets begin at midnight of the person's clock.
  const bucketOf = (time: number) => Math.floor((time - tzOffset * 60) / width)
  const first = bucketOf(shown.from)
  const count = bucketOf(shown.to) - first + 1
  const counts = Array.from({ length: count }, () => 0)
  const failed = Array.from({ length: count }, () => 0)
  for (const { time, n, errors: failures } of data) {
    const place = bucketOf(Date.parse(String(time)) / 1000) - first
    if (!(place >= 0 && place < count)) continue
    counts[place]! += Number(n)
    failed[place]! += Number(failures)
  }
  const times = counts.map((_, i) => (first + i) * width + tzOffset * 60)
  return { times, counts, errors: failed, width }
}

async function wholeSpan(text: string, signal: AbortSignal): Promise<Span | undefined> {
  const without = withClauses(text, { preview_length: undefined })
  const { data } = await query(
    measured(without, 'min(created) as first, max(created) as last'),
    signal,
  )
  const [row] = data
  const from = Date.parse(String(row?.first)) / 1000
  const to = Date.parse(String(row?.last)) / 1000
  return Number.isNaN(from) || Number.isNaN(to) ? undefined : { from, to }
}
