/** Two parts beside each other, with an edge between them that is moved by pointer and by keys. */
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { parameter, setParameters } from '../state/location.ts'

/** Per cent of the width that the first part has. */
const usual = 45
const least = 15
const most = 85
const keyStep = 5

export function Split({
  first,
  second,
  isOpen,
  isWide = false,
  side,
}: {
  readonly first: ComponentChildren
  readonly second: ComponentChildren
  /** Without a second part the first has all. */
  readonly isOpen: boolean
  /** The second part has all; the first stays as it is, out of sight. */
  readonly isWide?: boolean
  /** Beside both, at the left. */
  readonly side?: ComponentChildren
}) {
  const place = useRef<HTMLDivElement>(null)
  const given = Number(parameter('split') ?? usual)
  const share = given >= least && given <= most ? given : usual
  const choose = (next: number) => {
    const kept = Math.round(Math.max(least, Math.min(most, next)))
    setParameters({ split: kept === usual ? undefined : String(kept) })
  }
  const drag = (event: PointerEvent) => {
    const element = place.current
    if (!element) return
    event.preventDefault()
    const { left, width } = element.getBoundingClientRect()
    const shareAt = ({ clientX }: PointerEvent) => ((clientX - left) / width) * 100
    const move = (moved: PointerEvent) => {
      element.style.setProperty('--share', `${Math.max(least, Math.min(most, shareAt(moved)))}%`)
    }
    const end = (ended: PointerEvent) => {
      window.removeEventListener('pointermove', move)
      window.removeEventListener('pointerup', end)
      choose(shareAt(ended))
    }
    window.addEventListener('pointermove', move)
    window.addEventListener('pointerup', end)
  }
  const split = (
    <div
      class={isOpen ? (isWide ? 'split wide' : 'split open') : 'split'}
      ref={place}
      style={{ '--share': `${share}%` }}
    >
      <div class="split-part" inert={isOpen && isWide}>
        {first}
      </div>
      {isOpen && (
        <>
          <hr
            class="split-edge"
            tabIndex={0}
            aria-label="Width of the table"
            aria-orientation="vertical"
            aria-valuenow={share}
            aria-valuemin={least}
            aria-valuemax={most}
            onPointerDown={drag}
            onKeyDown={(event) => {
              if (event.key === 'ArrowLeft') choose(share - keyStep)
              if (event.key === 'ArrowRight') choose(share + keyStep)
            }}
          />
          <div class="split-part">{second}</div>
        </>
      )}
    </div>
  )
  return (
    <div class="sided">
      {side}
      {split}
    </div>
  )
}
