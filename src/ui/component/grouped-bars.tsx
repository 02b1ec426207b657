/** Several distributions in one plot: for each bucket a bar of each. */
import type { ComponentChildren } from 'preact'
import { number, share } from './format.ts'

export interface BarSeries {
  readonly name: string
  readonly counts: readonly number[]
}

const [width, height] = [460, 110]
const [left, top, bottom] = [40, 8, 18]

/** Colors that are told apart; the next series begins with the first again. */
export const seriesColors = 6

export function GroupedBars({
  label,
  series,
  hidden,
}: {
  readonly label: string
  readonly series: readonly BarSeries[]
  /** Names of those that are in the legend alone. */
  readonly hidden: ReadonlySet<string>
}) {
  const shown = series.flatMap(({ name, counts }, color) =>
    hidden.has(name) ? [] : { name, counts, color },
  )
  const most = Math.max(1, ...shown.flatMap(({ counts }) => counts))
  const buckets = Math.max(0, ...series.map(({ counts }) => counts.length))
  const bucketWidth = (width - left) / Math.max(1, buckets)
  const barWidth = (bucketWidth - 6) / Math.max(1, shown.length)
  const floor = height - bottom
  return (
    <svg class="grouped-bars" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      <text x={left - 6} y={top + 4} text-anchor="end">
        {number(most)}
      </text>
      <text x={left - 6} y={floor} text-anchor="end">
        0
      </text>
      <line class="faint" x1={left} x2={width} y1={top} y2={top} />
      {shown.map(({ name, counts, color }, place) =>
        counts.map((count, bucket) => {
          const tall = count === 0 ? 0 : Math.max(2, (count / most) * (floor - top))
          const from = bucket / buckets
          return (
            <rect
              key={`${name} ${from}`}
              class={`series-${color % seriesColors}`}
              x={left + bucket * bucketWidth + 3 + place * barWidth}
              y={floor - tall}
              width={Math.max(1, barWidth - 1)}
              height={tall}
            >
              <title>{`${name}, ${share(from)} to ${share((bucket + 1) / buckets)}: ${number(count)}`}</title>
            </rect>
          )
        }),
      )}
      <line x1={left} x2={width} y1={floor} y2={floor} />
      <text x={left} y={height - 4}>
        0 %
      </text>
      <text x={(left + width) / 2} y={height - 4} text-anchor="middle">
        50 %
      </text>
      <text x={width} y={height - 4} text-anchor="end">
        100 %
      </text>
    </svg>
  )
}

/** As large as the plot, before what it shows has come. */
export function BarsRoom({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="bars-room" style={{ '--bars-shape': `${width} / ${height}` }}>
      {children}
    </div>
  )
}

/** Names of all series, each of which can be left out. */
export function BarsLegend({
  names,
  hidden,
  onToggle,
}: {
  readonly names: readonly string[]
  readonly hidden: ReadonlySet<string>
  readonly onToggle: (name: string) => void
}) {
  return (
    <div class="bars-legend">
      {names.map((name, place) => (
        <button
          key={name}
          type="button"
          aria-pressed={!hidden.has(name)}
          title={hidden.has(name) ? `Show ${name}` : `Leave ${name} out`}
          onClick={() => onToggle(name)}
        >
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`series-${place % seriesColors}`} width="10" height="10" rx="2" />
          </svg>
          {name}
        </button>
      ))}
    </div>
  )
}
