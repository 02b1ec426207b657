/** A result as a picture: lines over time, bars by name, points by two numbers. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted, dayOrTime, number } from '../component/format.ts'
import { loadPersistently } from '../component/lazy.tsx'
import { Empty, PartFailure } from '../component/notice.tsx'
import { Select } from '../component/select.tsx'
import { parameter, parameters, setParameters } from '../state/location.ts'
import { theme } from '../state/theme.ts'
import {
  type ChartKind,
  chartKinds,
  choosePlot,
  kindsOf,
  type PlotChoice,
  type PlotData,
  plotData,
} from './plot-data.ts'
import type { Run } from './query-run.ts'

const colors = Array.from({ length: 8 }, (_, i) => `var(--series-${i + 1})`)

export function ResultPlot({ run, onMore }: { readonly run: Run; readonly onMore: () => void }) {
  const { rows, columns, hasMore, isRunning } = run
  const kinds = useMemo(() => kindsOf(columns, rows), [columns, rows])
  const asked = {
    x: parameter('x'),
    y: parameter('y'),
    series: parameters.value.get('series') === '-' ? '' : parameter('series'),
    chart: parameter('chart'),
  }
  const choice = choosePlot(kinds, rows, asked)
  const data = useMemo(
    () => choice && plotData(choice, kinds, rows),
    [kinds, rows, choice?.x, choice?.y, choice?.series, choice?.chart],
  )
  if (!choice || !data) {
    return (
      <Empty title="There is nothing to plot">
        <p>A plot takes a column of numbers, and another one to show them by: a time, or a name.</p>
        <pre>{`dimensions: day(created) as day, metadata.model as model
measures: count(1) as calls
filter: span_attributes.type = 'llm'`}</pre>
      </Empty>
    )
  }
  return (
    <div class="plot">
      <PlotChoices choice={choice} names={[...columns.keys()]} kinds={kinds} />
      {data.chart === 'bars' ? <Bars data={data} /> : <Lines data={data} />}
      <p class="hint" role="status">
        {counted(rows.length, 'row')}
        {data.notes.map((note) => `; ${note}`).join('')}
        {hasMore && (
          <>
            ; there are more{' '}
            <button type="button" disabled={isRunning} onClick={onMore}>
              Load more
            </button>
          </>
        )}
      </p>
    </div>
  )
}

function PlotChoices({
  choice,
  names,
  kinds,
}: {
  readonly choice: PlotChoice
  readonly names: readonly string[]
  readonly kinds: ReadonlyMap<string, string>
}) {
  const numbers = names.filter((name) => kinds.get(name) === 'number')
  const isOfNames = kinds.get(choice.x) === 'text' || kinds.get(choice.x) === 'other'
  return (
    <div class="plot-choices">
      <Choose
        label="X axis"
        value={choice.x}
        options={names}
        onChange={(x) => setParameters({ x, chart: undefined })}
      />
      <Choose
        label="Y axis"
        value={choice.y}
        options={numbers}
        onChange={(y) => setParameters({ y })}
      />
      <Choose
        label="Split by"
        value={choice.series ?? '-'}
        options={['-', ...names.filter((name) => name !== choice.x && name !== choice.y)]}
        onChange={(series) => setParameters({ series })}
      />
      {!isOfNames && (
        <Choose
          label="Drawn as"
          value={choice.chart}
          options={chartKinds}
          onChange={(chart) => setParameters({ chart: chart as ChartKind })}
        />
      )}
    </div>
  )
}

function Choose({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly options: readonly string[]
  readonly onChange: (value: string) => void
}) {
  return (
    <span>
      {label}{' '}
      <Select
        label={label}
        value={value}
        options={options.map((each) => ({ value: each, label: each === '-' ? 'Nothing' : each }))}
        onChange={onChange}
      />
    </span>
  )
}

function Lines({ data }: { readonly data: PlotData }) {
  const place = useRef<HTMLDivElement>(null)
  const [isMissing, setMissing] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!element) return
    let chart: { resize(): void; destroy(): void } | undefined
    let isGone = false
    loadPersistently(() => import('./result-chart.ts')).then(
      ({ drawChart }) => {
        if (!isGone) chart = drawChart(element, data, colors)
      },
      () => setMissing(true),
    )
    const observer = new ResizeObserver(() => chart?.resize())
    observer.observe(element)
    return () => {
      isGone = true
      observer.disconnect()
      chart?.destroy()
    }
  }, [data, theme.value])
  if (isMissing) return <PartFailure what="plots" />
  const { x, y, lines } = data
  const label = `${y} by ${x}: ${lines.map(({ name }) => name).join(', ')}`
  return <div class="lines" ref={place} role="img" aria-label={label} />
}

/** Bars lie, so that names of any length can be read. */
function Bars({ data }: { readonly data: PlotData }) {
  const { xs, lines, series } = data
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const highest = all.reduce((a, b) => Math.max(a, b), 0)
  const lowest = all.reduce((a, b) => Math.min(a, b), 0)
  const scale = highest - lowest || 1
  return (
    <div class="bars">
      {series !== undefined && (
        <ul class="bars-legend" aria-label={series}>
          {lines.map(({ name }, i) => (
            <li key={name}>
              <span class="swatch" style={{ background: colors[i % colors.length] }} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <table aria-label={`${data.y} by ${data.x}`}>
        <tbody>
          {xs.map((place, at) => (
            <tr key={place}>
              <th scope="row" title={String(place)}>
                {data.isTime ? dayOrTime(String(place)) : place}
              </th>
              <td>
                {lines.map(({ name, values }, i) => {
                  const value = values[at]
                  if (value === null || value === undefined) return null
                  const left = ((Math.min(value, 0) - lowest) / scale) * 100
                  const width = (Math.abs(value) / scale) * 100
                  return (
                    <div key={name} class="bar" title={series === undefined ? '' : name}>
                      <span class="bar-space">
                        <span
                          style={{
                            left: `${left}%`,
                            width: `${Math.max(width, 0.3)}%`,
                            background: colors[i % colors.length],
                          }}
                        />
                      </span>
                      <span class="number">{number(value)}</span>
                    </div>
                  )
                })}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
