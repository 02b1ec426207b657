/** How many records there are over time; dragging over it narrows the search to a range. */
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { useLoaded } from '../service/load.ts'
import { query } from '../service/query.ts'
import { Failure } from './notice.tsx'

export interface HistogramProps {
  readonly source: string
  /** A condition of the query language. */
  readonly filter: string | null
  /** ISO times: the first that counts, and the first that does not. */
  readonly onRange: (from: string, to: string) => void
}

interface Buckets {
  readonly times: readonly number[]
  readonly counts: readonly number[]
  readonly errors: readonly number[]
}

const units = ['minute', 'hour', 'day', 'month'] as const
const unitSeconds = { minute: 60, hour: 3600, day: 86_400, month: 2_592_000 }

/** Bars that fit beside each other. */
const mostBars = 240

export function Histogram({ source, filter, onRange }: HistogramProps) {
  const key = `${source} ${filter}`
  const loaded = useLoaded(key, (signal) => loadBuckets(source, filter, signal))
  if (loaded.error) return <Failure error={loaded.error} />
  const { data } = loaded
  if (!data || data.times.length < 2) return null
  return <Bars buckets={data} onRange={onRange} />
}

async function loadBuckets(source: string, filter: string | null, signal: AbortSignal) {
  const condition = filter === null ? '' : `\nfilter: ${filter}`
  const span = await query(
    `measures: min(created) as first, max(created) as last\nfrom: ${source}${condition}`,
    signal,
  )
  const [row] = span.data
  const first = Date.parse(String(row?.first))
  const last = Date.parse(String(row?.last))
  if (Number.isNaN(first) || Number.isNaN(last)) return { times: [], counts: [], errors: [] }
  const seconds = (last - first) / 1000
  const unit = units.find((each) => seconds / unitSeconds[each] <= mostBars) ?? 'month'
  const { data } = await query(
    `dimensions: ${unit}(created) as time\nmeasures: count(1) as n, count(error) as errors\n` +
      `from: ${source}${condition}\nsort: time`,
    signal,
  )
  return {
    times: data.map(({ time }) => Date.parse(String(time)) / 1000),
    counts: data.map(({ n }) => Number(n)),
    errors: data.map(({ errors }) => Number(errors)),
  }
}

function Bars({
  buckets,
  onRange,
}: {
  readonly buckets: Buckets
  readonly onRange: HistogramProps['onRange']
}) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element) return
    let plot: uPlot | undefined
    let isGone = false
    void import('./bars.ts').then(({ drawBars }) => {
      if (!isGone) plot = drawBars(element, buckets, onRange)
    })
    const observer = new ResizeObserver(() => {
      plot?.setSize({ width: element.clientWidth, height: 90 })
    })
    observer.observe(element)
    return () => {
      isGone = true
      observer.disconnect()
      plot?.destroy()
    }
  }, [buckets])
  const total = buckets.counts.reduce((sum, count) => sum + count, 0)
  return (
    <div class="histogram">
      <div
        ref={place}
        role="img"
        aria-label={`${total.toLocaleString()} records over time; drag to narrow the time`}
      />
    </div>
  )
}
