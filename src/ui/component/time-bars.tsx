/** A small plot of what each unit of a time came to: bars with axes, each of which leads to what it counts. */
import { useState } from 'preact/hooks'
import { base, goTo } from '../state/location.ts'
import { moment, momentsBetween } from './format.ts'
import { isForBrowser } from './link.tsx'

export interface TimeBarsProps {
  readonly label: string
  /** Beginnings of the units, in seconds since 1970. */
  readonly times: readonly number[]
  readonly unitSeconds: number
  /** Null and 0 draw nothing. */
  readonly values: readonly (number | null)[]
  /** A part of each value, drawn over it. */
  readonly parts?: readonly (number | null)[] | undefined
  /** What the bars are, and what the parts of them; shown as the legend. */
  readonly names: readonly [all: string, part?: string]
  /** Whether the parts are faults; without parts, whether the bars are. */
  readonly isBad?: boolean
  /** With its unit. */
  readonly format: (value: number) => string
  readonly linkOf: (place: number) => string
}

export function TimeBars(props: TimeBarsProps) {
  const { label, times, unitSeconds, values, parts, names, isBad = false, format, linkOf } = props
  const [active, setActive] = useState(0)
  const all = isBad && names[1] === undefined ? 'all bad' : 'all'
  const top = roundAbove(Math.max(0, ...values.map((value) => value ?? 0)))
  const shown = values.flatMap((value, place) => (value ? [place] : []))
  const first = shown.includes(active) ? active : shown[0]
  const move = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined || first === undefined) return
    event.preventDefault()
    const next = shown[shown.indexOf(first) + step]
    if (next === undefined) return
    setActive(next)
    event.currentTarget.querySelector<HTMLElement>(`[data-place="${next}"]`)?.focus()
  }
  const marks = [0, Math.floor(times.length / 2)]
  return (
    <figure class="time-bars">
      <figcaption class="legend">
        {names.map(
          (name, i) =>
            name !== undefined && (
              <span key={name} class={i === 0 ? all : isBad ? 'part bad' : 'part'}>
                {name}
              </span>
            ),
        )}
      </figcaption>
      <div class="y-axis" aria-hidden="true">
        <span>{top > 0 ? format(top) : ''}</span>
        <span>{top > 0 ? '0' : ''}</span>
      </div>
      <div class="time-plot" role="toolbar" aria-label={label} onKeyDown={move}>
        {times.map((time, place) => {
          const value = values[place] ?? null
          const part = parts?.[place] ?? null
          if (value === null || value === 0) return <span key={time} class="time-bar" />
          const told = [
            `${unitOf(time, unitSeconds)}: ${format(value)} ${names[0]}`,
            ...(part !== null && names[1] !== undefined ? [`${format(part)} ${names[1]}`] : []),
          ].join(', ')
          const to = linkOf(place)
          return (
            <a
              key={time}
              class="time-bar"
              href={base + to}
              data-place={place}
              tabIndex={place === first ? 0 : -1}
              title={told}
              aria-label={told}
              onFocus={() => setActive(place)}
              onClick={(event) => {
                if (isForBrowser(event)) return
                event.preventDefault()
                goTo(to)
              }}
            >
              <span class={all} style={{ height: heightOf(value, top) }} />
              {part !== null && part > 0 && (
                <span class={isBad ? 'part bad' : 'part'} style={{ height: heightOf(part, top) }} />
              )}
            </a>
          )
        })}
      </div>
      <div class="x-axis" aria-hidden="true">
        {marks.map((place) => (
          <span key={place}>{markOf(times[place]!, unitSeconds)}</span>
        ))}
        <span>{markOf(times.at(-1)! + unitSeconds, unitSeconds)}</span>
      </div>
    </figure>
  )
}

/** What is little beside the others is still to be seen. */
function heightOf(value: number, top: number): string {
  return `${Math.max(3, (value / top) * 100)}%`
}

/** 1, 2 or 5, and zeros: what an axis can end with. */
function roundAbove(value: number): number {
  if (value <= 0) return 0
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value * 0.999_999) ?? 10) * power
}

function markOf(seconds: number, unitSeconds: number): string {
  return moment(new Date(seconds * 1000), unitSeconds <= 3600 ? 'clock' : 'day')
}

function unitOf(seconds: number, unitSeconds: number): string {
  const from = new Date(seconds * 1000)
  const isDays = unitSeconds >= 86_400
  return isDays
    ? moment(from, 'day')
    : momentsBetween(from, new Date((seconds + unitSeconds) * 1000))
}
