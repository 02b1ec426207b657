/** How much was logged, how much of it failed, how long it took and what it cost; each over time. */
import type { ComponentChildren } from 'preact'
import { compact, cost, counted, duration, growth, number, share } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Failure } from '../component/notice.tsx'
import { TimeBars } from '../component/time-bars.tsx'
import type { Period } from '../service/home-period.ts'
import type { Loaded } from '../service/load.ts'
import {
  type Figures,
  isCall,
  loadCourse,
  type Totals,
  type Usage,
  type Usages,
} from '../service/project-home.ts'
import { type Asked, useAsked } from './home-asked.ts'
import { type LogsPlace, logsAddress } from './logs-address.ts'

interface Shown<Of> {
  readonly title: string
  readonly format: (value: number) => string
  readonly value: (of: Of) => number | null
  /** Drawn over the value, with its name. */
  readonly part?: (of: Of) => number | null
  readonly names: readonly [string, string?]
  readonly isBad?: boolean
  /** The rows that it counts, or that make it up. */
  readonly rows: LogsPlace
  /** More than one figure, or more to it than one. */
  readonly more?: (of: Of, period: Period) => ComponentChildren
}

const withError = 'error is not null'
const rootSeconds = 'metrics.end - metrics.start'

const logged: readonly Shown<Figures>[] = [
  {
    title: 'Traces',
    format: number,
    value: ({ traces }) => traces,
    part: ({ failedTraces }) => failedTraces,
    names: ['traces', 'with errors'],
    isBad: true,
    rows: {},
    more: ({ spans }, period) => (
      <Link to={logsAddress({ span: period, rowsAre: 'spans' })}>{counted(spans, 'span')}</Link>
    ),
  },
  {
    title: 'Errors',
    format: number,
    value: ({ errors }) => errors,
    names: ['spans with an error'],
    isBad: true,
    rows: { text: withError, rowsAre: 'spans' },
    more: ({ failedTraces, traces }, period) => (
      <Link to={logsAddress({ span: period, text: withError })}>
        in {counted(failedTraces, 'trace')}
        {traces > 0 && ` (${share(failedTraces / traces)})`}
      </Link>
    ),
  },
  {
    title: 'Latency, p95',
    format: duration,
    value: ({ p95 }) => p95,
    part: ({ p50 }) => p50,
    names: ['p95', 'p50'],
    rows: {
      text: 'is_root = true',
      rowsAre: 'spans',
      sort: { column: 'duration', isDescending: true },
    },
    more: ({ p50 }, period) =>
      p50 !== null && (
        <Link
          to={logsAddress({
            span: period,
            text: `is_root = true and ${rootSeconds} >= ${p50}`,
            rowsAre: 'spans',
            sort: { column: 'duration', isDescending: false },
          })}
        >
          p50 {duration(p50)}
        </Link>
      ),
  },
]

const spent: readonly Shown<Usage>[] = [
  {
    title: 'Tokens',
    format: compact,
    value: ({ tokens }) => tokens,
    names: ['tokens'],
    rows: { sort: { column: 'tokens', isDescending: true } },
    more: ({ calls }, period) => (
      <Link to={logsAddress({ span: period, rowsAre: 'spans', text: isCall })}>
        {counted(calls, 'call')} of models
      </Link>
    ),
  },
  {
    title: 'Cost',
    format: cost,
    value: (usage) => usage.cost,
    names: ['US dollars'],
    rows: { sort: { column: 'cost', isDescending: true } },
    more: ({ calls, cost: all }) =>
      all !== null && calls > 0 && <span>{cost(all / calls)} a call</span>,
  },
]

export function HomeFigures({
  totals,
  usages,
  ...asked
}: Asked & { readonly totals: Loaded<Totals>; readonly usages: Loaded<Usages> }) {
  const course = useAsked('course', asked, loadCourse)
  const { period } = asked
  const failed = [totals, usages, course].find(({ error }) => error)
  return (
    <section class="home-figures five" aria-label={`The past ${period.title}`}>
      {failed?.error && <Failure error={failed.error} retry={failed.reload} />}
      {logged.map((figure) => (
        <Card
          key={figure.title}
          figure={figure}
          period={period}
          now={totals.data?.now}
          before={totals.data?.before}
          course={course.data}
        />
      ))}
      {spent.map((figure) => (
        <Card
          key={figure.title}
          figure={figure}
          period={period}
          now={usages.data?.now}
          before={usages.data?.before}
          course={usages.data?.course}
        />
      ))}
    </section>
  )
}

function Card<Of>({
  figure,
  period,
  now: ofNow,
  before: ofBefore,
  course,
}: {
  readonly figure: Shown<Of>
  readonly period: Period
  readonly now: Of | undefined
  readonly before: Of | undefined
  readonly course: readonly Of[] | undefined
}) {
  const { title, format, value, part, names, isBad = false, rows, more } = figure
  const now = ofNow && value(ofNow)
  const before = ofBefore && value(ofBefore)
  return (
    <article class="figure" aria-label={title}>
      <h2>{title}</h2>
      <p class="value">
        {now === undefined ? (
          '…'
        ) : now === null ? (
          '–'
        ) : (
          <Link to={logsAddress({ ...rows, ...placeOf(title, now), span: period })}>
            {format(now)}
          </Link>
        )}
        {typeof now === 'number' && typeof before === 'number' && before > 0 && (
          <span class="hint" title={`The ${period.title} before: ${format(before)}`}>
            {growth(now, before)}
          </span>
        )}
      </p>
      <p class="more">{ofNow && now !== null && more?.(ofNow, period)}</p>
      <div class="plot-room">
        {course && (
          <TimeBars
            label={`${title} over time`}
            times={period.times}
            unitSeconds={period.unitSeconds}
            values={course.map(value)}
            parts={part && course.map(part)}
            names={names}
            isBad={isBad}
            format={format}
            linkOf={(place) => logsAddress({ ...rows, span: unitSpan(period, place) })}
          />
        )}
      </div>
    </article>
  )
}

/** Of a percentile, the rows are those above it. */
function placeOf(title: string, value: number): Partial<LogsPlace> {
  return title.startsWith('Latency')
    ? { text: `is_root = true and ${rootSeconds} >= ${value}` }
    : {}
}

function unitSpan({ times, unitSeconds }: Period, place: number) {
  const from = times[place]!
  return { from, to: from + unitSeconds }
}
