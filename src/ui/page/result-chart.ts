/** Draws lines and points; loaded when a plot is shown. */
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { moment, momentOnAxis, number } from '../component/format.ts'
import { resolveColor } from '../component/resolve-color.ts'
import type { PlotData } from './plot-data.ts'

export interface Chart {
  resize(): void
  destroy(): void
}

export function drawChart(place: HTMLElement, data: PlotData, colors: readonly string[]): Chart {
  const { xs, lines, isTime, chart, x } = data
  const color = (name: string) => resolveColor(name, place)
  const axis = {
    stroke: color('var(--quiet)'),
    grid: { stroke: color('var(--line)'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  const size = () => ({ width: place.clientWidth, height: Math.max(place.clientHeight - 60, 180) })
  const plot = new uPlot(
    {
      ...size(),
      scales: { x: { time: isTime } },
      cursor: { drag: { x: true, y: false } },
      axes: [
        {
          ...axis,
          ...(isTime && {
            values: (drawn: uPlot, at: readonly number[]) => {
              const { min = 0, max = 0 } = drawn.scales.x ?? {}
              return at.map((each) => momentOnAxis(each, max - min))
            },
          }),
        },
        { ...axis, size: 64, values: (_, values) => values.map((each) => number(each)) },
      ],
      series: [
        {
          label: x,
          value: (_: uPlot, value: number | null) =>
            value === null ? '' : isTime ? moment(new Date(value * 1000)) : number(value),
        },
        ...lines.map(({ name }, i) => {
          const stroke = color(colors[i % colors.length] ?? 'currentColor')
          return {
            label: name,
            stroke,
            width: 2,
            spanGaps: true,
            value: (_: uPlot, value: number | null) => (value === null ? '' : number(value)),
            points: { show: chart === 'points' || xs.length < 60, size: 6, fill: stroke },
            ...(chart === 'points' && { paths: () => null }),
          }
        }),
      ],
    },
    [xs.map(Number), ...lines.map(({ values }) => [...values])],
    place,
  )
  return { resize: () => plot.setSize(size()), destroy: () => plot.destroy() }
}
