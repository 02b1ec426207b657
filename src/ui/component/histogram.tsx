/** How many records there are over time, and how many of them failed; zooms by pointer and by keys. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLoaded } from '../service/load.ts'
import { type Buckets, loadBuckets, type Span } from '../service/time-buckets.ts'
import { theme } from '../state/theme.ts'
import type { Plot } from './bars.ts'
import { counted, momentsBetween, number } from './format.ts'
import { Icon } from './icon.tsx'

export interface HistogramProps {
  /** What it counts, as the service prints queries; undefined until it is known. */
  readonly query: string | undefined
  /** One of what it counts. */
  readonly unit: string
  /** What is shown of time, in seconds since 1970; all there is if undefined. */
  readonly span: Span | undefined
  /** Counts again when it changes. */
  readonly round: number
  /** Undefined is all there is. */
  readonly onSpan: (span: Span | undefined) => void
}

export function Histogram({ query, unit, span, round, onSpan }: HistogramProps) {
  const key = query === undefined ? undefined : `${query} ${round}`
  const { data } = useLoaded(key, (signal) => loadBuckets(query!, span, signal))
  const [hovered, setHovered] = useState<number>()
  // Why nothing can be counted is why there are no rows, and is said there.
  // Its room, so that nothing below it moves when it comes.
  if (!data || (data.times.length === 0 && !span)) return <HistogramRoom />
  const shown = span ?? {
    from: data.times[0] ?? 0,
    to: (data.times.at(-1) ?? 0) + data.width,
  }
  const length = shown.to - shown.from
  const zoom = (factor: number) => {
    const middle = (shown.from + shown.to) / 2
    const half = Math.max(1, (length * factor) / 2)
    onSpan({ from: middle - half, to: middle + half })
  }
  const move = (share: number) => {
    onSpan({ from: shown.from + length * share, to: shown.to + length * share })
  }
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => move(-0.25),
    ArrowRight: () => move(0.25),
    Escape: () => onSpan(undefined),
  }
  return (
    <section
      class="histogram"
      aria-label="Records over time"
      onKeyDown={(event) => {
        const taken = keys[event.key]
        if (!taken || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        event.stopPropagation()
        taken()
      }}
    >
      <Bars buckets={data} unit={unit} onSpan={onSpan} onHover={setHovered} />
      <div class="histogram-tools">
        <span class="hint" aria-live="off">
          {tellOf(data, unit, hovered)}
        </span>
        <button type="button" aria-label="Earlier" title="Earlier (←)" onClick={keys.ArrowLeft}>
          <Icon name="arrow-left" />
        </button>
        <button type="button" aria-label="Later" title="Later (→)" onClick={keys.ArrowRight}>
          <Icon name="arrow-right" />
        </button>
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={keys['+']}>
          <Icon name="plus" />
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={keys['-']}>
          <Icon name="minus" />
        </button>
        <button type="button" disabled={!span} title="All time (Escape)" onClick={keys.Escape}>
          All time
        </button>
      </div>
    </section>
  )
}

function HistogramRoom() {
  return <div class="histogram" />
}

/** One bucket in words, or all of them. */
function tellOf(
  { times, counts, errors, width }: Buckets,
  unit: string,
  place: number | undefined,
): string {
  const isOne = place !== undefined && times[place] !== undefined
  const count = isOne ? counts[place]! : sum(counts)
  const failed = isOne ? errors[place]! : sum(errors)
  const from = isOne ? times[place]! : (times[0] ?? 0)
  const to = isOne ? from + width : (times.at(-1) ?? 0) + width
  const told = counted(count, unit) + (failed > 0 ? `, ${number(failed)} with errors` : '')
  return `${momentsBetween(new Date(from * 1000), new Date(to * 1000))}: ${told}`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function Bars({
  buckets,
  unit,
  onSpan,
  onHover,
}: {
  readonly buckets: Buckets
  readonly unit: string
  readonly onSpan: (span: Span) => void
  readonly onHover: (place: number | undefined) => void
}) {
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef({ onSpan, onHover })
  latest.current = { onSpan, onHover }
  const chosenTheme = theme.value
  useEffect(() => {
    const element = place.current
    if (!element) return
    let plot: Plot | undefined
    let isGone = false
    const draw = async () => {
      const { drawBars } = await import('./bars.ts')
      if (isGone) return
      plot?.destroy()
      plot = drawBars(element, buckets, {
        onSpan: (span) => latest.current.onSpan(span),
        onHover: (index) => latest.current.onHover(index),
      })
    }
    void draw()
    const observer = new ResizeObserver(() => plot?.fit())
    observer.observe(element)
    // Colors are those of the theme at the time of drawing.
    const system = window.matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => void draw()
    system.addEventListener('change', redraw)
    return () => {
      isGone = true
      system.removeEventListener('change', redraw)
      observer.disconnect()
      plot?.destroy()
    }
  }, [buckets, chosenTheme])
  return (
    <div
      ref={place}
      class="histogram-bars"
      role="img"
      aria-label={`${counted(sum(buckets.counts), unit)} over time, ${number(sum(buckets.errors))} with errors`}
    />
  )
}
