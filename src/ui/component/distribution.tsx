/** How many values lie in each tenth between 0 and 1, as bars; each bar can be chosen. */
import { useState } from 'preact/hooks'
import { number } from './format.ts'

export interface DistributionProps {
  readonly label: string
  readonly counts: readonly number[]
  /** Of these, how many are looked for; drawn over the others. */
  readonly found?: readonly number[] | undefined
  /** What they are held against; drawn as a line over each bar. */
  readonly base?: readonly number[] | undefined
  /** Bounds of the chosen bar; the upper one belongs to the last bar only. */
  readonly onChoose: (from: number, to: number) => void
}

export function Distribution({ label, counts, found, base, onChoose }: DistributionProps) {
  const [active, setActive] = useState(0)
  const most = Math.max(...counts, ...(base ?? []), 1)
  const move = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(counts.length - 1, active + step))
    setActive(next)
    event.currentTarget.querySelectorAll('button')[next]?.focus()
  }
  return (
    <>
      <div class="distribution" role="toolbar" aria-label={label} onKeyDown={move}>
        {counts.map((count, index) => {
          const from = index / counts.length
          const to = (index + 1) / counts.length
          const before = base ? `, ${number(base[index] ?? 0)} in the base` : ''
          const told = `${percent(from)} to ${percent(to)}: ${number(count)}${before}`
          return (
            <button
              key={index}
              type="button"
              tabIndex={index === active ? 0 : -1}
              title={told}
              aria-label={told}
              onFocus={() => setActive(index)}
              onClick={() => onChoose(from, to)}
            >
              <span class="all" style={{ height: heightOf(count, most) }} />
              {base && (
                <span class="base-line" style={{ height: heightOf(base[index] ?? 0, most) }} />
              )}
              {found && (
                <span class="found" style={{ height: heightOf(found[index] ?? 0, most) }} />
              )}
            </button>
          )
        })}
      </div>
      <p class="distribution-axis" aria-hidden="true">
        <span>{percent(0)}</span>
        <span>{percent(1)}</span>
      </p>
    </>
  )
}

/** Bounds of bars are whole. */
function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** A single value among thousands is still to be seen. */
function heightOf(count: number, most: number): string {
  return count === 0 ? '0' : `${Math.max(4, (count / most) * 100)}%`
}
