/** A small line of values over what came one after the other; gaps where there is none. */

export interface SparklineProps {
  readonly label: string
  readonly values: readonly (number | null)[]
  readonly width?: number
  readonly height?: number
}

/** Differences below this are not drawn larger than they are. */
const leastRange = 0.05
const margin = 3

export function Sparkline({ label, values, width = 180, height = 34 }: SparklineProps) {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return null
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const range = Math.max(most - least, leastRange)
  const low = (least + most - range) / 2
  const x = (index: number) =>
    values.length === 1 ? width / 2 : margin + (index / (values.length - 1)) * (width - 2 * margin)
  const y = (value: number) => height - margin - ((value - low) / range) * (height - 2 * margin)
  const points = values.flatMap((value, index) =>
    value === null ? [] : [`${Math.round(x(index) * 10) / 10},${Math.round(y(value) * 10) / 10}`],
  )
  const last = values.findLastIndex((value) => value !== null)
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <polyline points={points.join(' ')} />
      <circle cx={x(last)} cy={y(values[last]!)} r="2.5" />
    </svg>
  )
}
