/** Values that the pointer is over can be filtered by: two buttons appear beside them. It stands in what it watches. */
import { useEffect, useRef, useState } from 'preact/hooks'

export interface ValueOffer {
  /** What the button shows. */
  readonly sign: string
  readonly title: string
  /** The condition that it adds to the search. */
  readonly term: string
}

export interface ValueFiltersProps {
  /** What is offered for what is under the pointer, and beside which element; undefined for nothing. */
  readonly offersAt: (
    target: Element,
  ) => { readonly place: Element; readonly offers: readonly ValueOffer[] } | undefined
  readonly onTerm: (term: string) => void
}

interface Shown {
  readonly place: Element
  readonly offers: readonly ValueOffer[]
  readonly top: number
  readonly left: number
}

/** In pixels, of a button and what is around it. */
const buttonWidth = 24

export function ValueFilters({ offersAt, onTerm }: ValueFiltersProps) {
  const own = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<Shown>()
  const latest = useRef({ offersAt, shown })
  latest.current = { offersAt, shown }
  useEffect(() => {
    const watched = own.current?.parentElement
    if (!watched) return
    const hide = () => {
      if (latest.current.shown) setShown(undefined)
    }
    const look = ({ pointerType, target }: PointerEvent) => {
      // A finger that is over a value presses it.
      if (pointerType !== 'mouse' || !(target instanceof Element)) return
      if (own.current?.contains(target)) return
      const found = latest.current.offersAt(target)
      if (!found || found.offers.length === 0) hide()
      else if (found.place !== latest.current.shown?.place)
        setShown({ ...found, ...placeBeside(found) })
    }
    const follow = () => {
      const { shown: last } = latest.current
      if (!last?.place.isConnected) hide()
      else setShown({ ...last, ...placeBeside(last) })
    }
    watched.addEventListener('pointerover', look)
    watched.addEventListener('pointerleave', hide)
    watched.addEventListener('scroll', follow, true)
    return () => {
      watched.removeEventListener('pointerover', look)
      watched.removeEventListener('pointerleave', hide)
      watched.removeEventListener('scroll', follow, true)
    }
  }, [])
  return (
    <div
      class="value-filters"
      ref={own}
      style={shown && { top: `${shown.top}px`, left: `${shown.left}px` }}
    >
      {shown?.offers.map(({ sign, title, term }) => (
        <button
          key={sign}
          type="button"
          tabIndex={-1}
          title={title}
          aria-label={title}
          onClick={() => {
            setShown(undefined)
            onTerm(term)
          }}
        >
          {sign}
        </button>
      ))}
    </div>
  )
}

/** At the end of what it is about, on its first line. */
function placeBeside({ place, offers }: Pick<Shown, 'place' | 'offers'>) {
  const { top, right, height } = place.getBoundingClientRect()
  const left = Math.min(right, window.innerWidth) - offers.length * buttonWidth - 4
  return { top: top + Math.max(0, (Math.min(height, 32) - 22) / 2), left }
}
