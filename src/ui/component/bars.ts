/** Draws a histogram; loaded when one is shown. */
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Buckets, Span } from '../service/time-buckets.ts'
import { momentOnAxis } from './format.ts'
import { resolveColor } from './resolve-color.ts'

export interface Plot {
  /** Takes the width that there is. */
  fit(): void
  destroy(): void
}

export interface PlotWatcher {
  /** A range was drawn over it. */
  onSpan(span: Span): void
  /** The pointer is over a bucket, or over none. */
  onHover(index: number | undefined): void
}

const height = 76

/** What a pointer is drawn over by accident. */
const leastPixels = 4

export function drawBars(place: HTMLElement, buckets: Buckets, watcher: PlotWatcher): Plot {
  const { times, counts, errors, width } = buckets
  const style = getComputedStyle(document.documentElement)
  const resolved = (name: string) => resolveColor(style.getPropertyValue(name).trim(), place)
  const bars = uPlot.paths.bars?.({ size: [0.9, 60], align: 1 })
  const axis = {
    stroke: resolved('--quiet'),
    grid: { show: false },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  const series = (label: string, color: string) => ({
    label,
    stroke: color,
    fill: color,
    points: { show: false },
    ...(bars && { paths: bars }),
  })
  const first = times[0] ?? 0
  const end = (times.at(-1) ?? 0) + width
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      padding: [6, 8, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { range: () => [first, end] },
        y: { range: (_, __, max) => [0, Math.max(1, max)] },
      },
      axes: [
        {
          ...axis,
          size: 22,
          incrs: [...steps],
          values: (drawn, at) =>
            at.map((each) => (isWhole(drawn, each) ? momentOnAxis(each, end - first) : '')),
        },
        { ...axis, size: 48, splits: (_, __, ___, max) => [0, max] },
      ],
      series: [{}, series('Records', resolved('--bar')), series('Errors', resolved('--bad'))],
      hooks: {
        setSelect: [
          (drawn) => {
            const { left, width: pixels } = drawn.select
            if (pixels < leastPixels) return
            watcher.onSpan({
              from: drawn.posToVal(left, 'x'),
              to: drawn.posToVal(left + pixels, 'x'),
            })
          },
        ],
        setCursor: [
          (drawn) => {
            const { left } = drawn.cursor
            const isOver = left !== undefined && left >= 0
            const index = isOver ? Math.floor((drawn.posToVal(left, 'x') - first) / width) : -1
            watcher.onHover(index >= 0 && index < times.length ? index : undefined)
          },
        ],
      },
    },
    [[...times], counts.map(orNone), errors.map(orNone)],
    place,
  )
  return {
    fit: () => plot.setSize({ width: place.clientWidth, height }),
    destroy: () => plot.destroy(),
  }
}

/** Nothing is drawn for nothing, not even a line. */
function orNone(count: number): number | null {
  return count === 0 ? null : count
}

/** Seconds between marks of the axis. */
const steps = [
  1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000,
  7_776_000, 31_536_000,
]

/** What a label of a time needs on either side of it, less the padding, in pixels. */
const halfLabel = 18

/** Whether the label of a time has its room before the edge. */
function isWhole(drawn: uPlot, seconds: number): boolean {
  return drawn.valToPos(seconds, 'x') + halfLabel <= drawn.bbox.width / devicePixelRatio
}
