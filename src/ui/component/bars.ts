/** Draws a histogram; loaded when one is shown. */
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface BarData {
  /** Starts of buckets, in seconds since 1970. */
  readonly times: readonly number[]
  readonly counts: readonly number[]
  readonly errors: readonly number[]
}

export function drawBars(
  place: HTMLElement,
  { times, counts, errors }: BarData,
  onRange: (from: string, to: string) => void,
): uPlot {
  const style = getComputedStyle(document.documentElement)
  const resolved = (name: string) => resolveColor(style.getPropertyValue(name).trim(), place)
  const bars = uPlot.paths.bars?.({ size: [0.85, 40] })
  const axis = { stroke: resolved('--quiet'), grid: { show: false }, ticks: { show: false } }
  const series = (label: string, color: string) => ({
    label,
    stroke: color,
    fill: color,
    points: { show: false },
    ...(bars && { paths: bars }),
  })
  return new uPlot(
    {
      width: place.clientWidth,
      height: 90,
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false } },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max)] } },
      axes: [
        { ...axis, size: 24 },
        { ...axis, size: 44 },
      ],
      series: [{}, series('Records', resolved('--accent')), series('Errors', resolved('--bad'))],
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width } = plot.select
            if (width < 3) return
            const at = (x: number) => new Date(plot.posToVal(x, 'x') * 1000).toISOString()
            onRange(at(left), at(left + width))
          },
        ],
      },
    },
    [[...times], [...counts], [...errors]],
    place,
  )
}

/** A canvas knows no `light-dark()`: the browser tells what a color comes to. */
function resolveColor(color: string, place: HTMLElement): string {
  const probe = document.createElement('span')
  probe.style.color = color
  place.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}
