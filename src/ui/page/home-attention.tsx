/** What fails, what is slow and what is expensive. */
import type { ComponentChildren } from 'preact'
import { cost, duration, number } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Failure } from '../component/notice.tsx'
import type { Loaded } from '../service/load.ts'
import {
  type FoundTrace,
  loadDearTraces,
  loadFailing,
  loadSlow,
  loadSlowTraces,
  type Step,
} from '../service/project-home.ts'
import { quoted } from '../service/query.ts'
import { type Asked, useAsked } from './home-asked.ts'
import { logsAddress } from './logs-address.ts'

export function HomeAttention(asked: Asked) {
  const { period } = asked
  const failing = useAsked('failing', asked, loadFailing)
  const slow = useAsked('slow', asked, loadSlow)
  const slowTraces = useAsked('slow traces', asked, loadSlowTraces)
  const dearTraces = useAsked('dear traces', asked, loadDearTraces)
  const stepRows = ({ name }: Step, condition: string, isByDuration: boolean) =>
    logsAddress({
      span: period,
      rowsAre: 'spans',
      text: `${isNamed(name)} and ${condition}`,
      ...(isByDuration && { sort: { column: 'duration', isDescending: true } }),
    })
  const traceRows = ({ rootSpanId }: FoundTrace, column: 'duration' | 'cost') =>
    logsAddress({ span: period, sort: { column, isDescending: true }, trace: rootSpanId })
  return (
    <div class="home-lists">
      <List
        title="Failing"
        nothing="Nothing failed."
        loaded={failing}
        line={(step) => (
          <Line
            key={step.name}
            to={stepRows(step, 'error is not null', false)}
            name={step.name ?? 'without a name'}
            value={<span class="bad">{number(step.count)}</span>}
            detail={step.error}
          />
        )}
      />
      <List
        title="Slow steps, p95"
        nothing="No step tells how long it took."
        loaded={slow}
        line={(step) => (
          <Line
            key={step.name}
            to={stepRows(
              step,
              `metrics.end - metrics.start >= ${step.p95} and is_root = false`,
              true,
            )}
            name={step.name ?? 'without a name'}
            value={duration(step.p95)}
            detail={`${number(step.count)} in all`}
          />
        )}
      />
      <List
        title="Slowest traces"
        nothing="No trace tells how long it took."
        loaded={slowTraces}
        line={(trace) => (
          <Line
            key={trace.rootSpanId}
            to={traceRows(trace, 'duration')}
            name={trace.name}
            value={duration(trace.value)}
          />
        )}
      />
      <List
        title="Most expensive traces"
        nothing="Nothing has a cost."
        loaded={dearTraces}
        line={(trace) => (
          <Line
            key={trace.rootSpanId}
            to={traceRows(trace, 'cost')}
            name={trace.name}
            value={cost(trace.value)}
          />
        )}
      />
    </div>
  )
}

function isNamed(name: string | null): string {
  return name === null ? 'span_attributes.name is null' : `span_attributes.name = ${quoted(name)}`
}

function List<Item>({
  title,
  nothing,
  loaded: { data, error, reload },
  line,
}: {
  readonly title: string
  readonly nothing: string
  readonly loaded: Loaded<readonly Item[]>
  readonly line: (item: Item) => ComponentChildren
}) {
  return (
    <section class="home-list" aria-label={title}>
      <h2>{title}</h2>
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <p class="hint">…</p>}
      {data?.length === 0 && <p class="hint">{nothing}</p>}
      {data && data.length > 0 && <ol>{data.map(line)}</ol>}
    </section>
  )
}

function Line({
  to,
  name,
  value,
  detail,
}: {
  readonly to: string
  readonly name: string
  readonly value: ComponentChildren
  readonly detail?: string | undefined
}) {
  return (
    <li>
      <Link to={to}>{name}</Link>
      <span class="value">{value}</span>
      {detail !== undefined && (
        <span class="hint detail" title={detail}>
          {detail}
        </span>
      )}
    </li>
  )
}
