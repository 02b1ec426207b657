/** Several distributions in one plot: for each bucket a bar of each. */

export interface BarSeries {
  readonly name: string
  readonly counts: readonly number[]
}

const [width, height] = [460, 110]
const bottom = 18

/** Colors that are told apart; the next series begins with the first again. */
export const seriesColors = 6

export function GroupedBars({
  label,
  series,
}: {
  readonly label: string
  readonly series: readonly BarSeries[]
}) {
  const most = Math.max(1, ...series.flatMap(({ counts }) => counts))
  const buckets = Math.max(0, ...series.map(({ counts }) => counts.length))
  const bucketWidth = width / Math.max(1, buckets)
  const barWidth = (bucketWidth - 6) / Math.max(1, series.length)
  const bars = height - bottom
  return (
    <svg class="grouped-bars" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      {series.map(({ name, counts }, place) =>
        counts.map((count, bucket) => {
          const tall = count === 0 ? 0 : Math.max(2, (count / most) * bars)
          const from = bucket / buckets
          return (
            <rect
              key={`${name} ${from}`}
              class={`series-${place % seriesColors}`}
              x={bucket * bucketWidth + 3 + place * barWidth}
              y={bars - tall}
              width={Math.max(1, barWidth - 1)}
              height={tall}
            >
              <title>{`${name}, ${from} to ${(bucket + 1) / buckets}: ${count}`}</title>
            </rect>
          )
        }),
      )}
      <line x1="0" x2={width} y1={bars} y2={bars} />
      <text x="0" y={height - 4}>
        0
      </text>
      <text x={width / 2} y={height - 4} text-anchor="middle">
        0.5
      </text>
      <text x={width} y={height - 4} text-anchor="end">
        1
      </text>
    </svg>
  )
}
