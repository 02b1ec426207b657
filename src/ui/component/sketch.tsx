/** Draws what will be where nothing is yet, so that one knows it when it comes. */

export type SketchKind = 'rows' | 'experiments' | 'records' | 'cards'

/** Widths of the lines of a row, in hundredths of the drawing. */
const rows: Readonly<Record<Exclude<SketchKind, 'cards'>, readonly (readonly number[])[]>> = {
  rows: [
    [12, 30, 34, 8],
    [12, 24, 38, 6],
    [12, 33, 22, 8],
  ],
  experiments: [
    [22, 14, 10, 10],
    [18, 18, 10, 10],
    [20, 11, 10, 10],
  ],
  records: [
    [10, 34, 28, 14],
    [10, 28, 33, 10],
    [10, 31, 20, 16],
  ],
}

const bars = [10, 16, 13, 22, 18, 27, 20, 24, 15, 21, 26, 30]

export function Sketch({ kind }: { readonly kind: SketchKind }) {
  return (
    <svg class="sketch" viewBox="0 0 400 132" aria-hidden="true">
      {kind === 'cards'
        ? [0, 136, 272].map((x) => (
            <g key={x}>
              <rect class="edge" x={x + 0.5} y={20.5} width={127} height={84} rx={6} />
              <rect class="strong" x={x + 14} y={38} width={62} height={8} rx={3} />
              <rect x={x + 14} y={58} width={92} height={6} rx={3} />
              <rect x={x + 14} y={74} width={74} height={6} rx={3} />
            </g>
          ))
        : [
            kind === 'records'
              ? null
              : bars.map((height, i) => (
                  <rect
                    key={height + i * 100}
                    class="strong"
                    x={i * 33.5 + 1}
                    y={34 - height}
                    width={26}
                    height={height}
                    rx={2}
                  />
                )),
            rows[kind].map((widths, line) => {
              const top = (kind === 'records' ? 16 : 46) + line * 29
              let left = 12
              return (
                <g key={top}>
                  <rect class="edge" x={0.5} y={top + 0.5} width={399} height={28} />
                  {widths.map((width, i) => {
                    const x = left
                    left += width * 3.5 + 18
                    return (
                      <rect
                        key={x}
                        class={i === 0 ? 'strong' : undefined}
                        x={x}
                        y={top + 11}
                        width={width * 3.5}
                        height={7}
                        rx={3}
                      />
                    )
                  })}
                </g>
              )
            }),
          ]}
    </svg>
  )
}
