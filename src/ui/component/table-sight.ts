/**
 * Which rows of a long table are in sight. Browsers draw no element that is higher than some 17 million
 * pixels: longer tables are that high all the same, the scrollbar then moves through their rows faster
 * than the wheel does.
 */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export const rowHeight = 32

const tallest = 15_000_000

/** Rows beyond those in sight, so that scrolling meets no gaps. */
const spare = 8

/** Rows are drawn by the step, so that few frames of a scroll draw any. */
const step = 4

export interface Sight {
  /** Rows that can be seen. */
  readonly first: number
  readonly last: number
  /** Rows that are drawn, the last one not included. */
  readonly from: number
  readonly to: number
  /** Pixels above and below those that are drawn. */
  readonly above: number
  readonly below: number
  /** Brings a row into sight. */
  reveal(index: number): void
}

interface Drawn {
  readonly first: number
  readonly last: number
  /** By how much rows are moved against where they would be if all were drawn. */
  readonly shift: number
}

export interface RowSize {
  readonly height: number
  /** Pixels at the top and at the bottom of the viewport in which no rows are seen. */
  readonly head: number
  readonly foot: number
}

const ofTable: RowSize = { height: rowHeight, head: rowHeight, foot: 28 }

/** @param size the same object at each call */
export function useSight(
  viewport: RefObject<HTMLElement | null>,
  length: number,
  size: RowSize = ofTable,
): Sight {
  const [drawn, setDrawn] = useState<Drawn>({ first: 0, last: 40, shift: 0 })
  /** Pixels of rows above what is seen; of a table that is too high, more than are scrolled. */
  const top = useRef(0)
  const placedAt = useRef(0)
  const { height, head, foot } = size
  const whole = length * height
  const tall = Math.min(whole, tallest)
  const isScaled = whole > tall
  const factorOf = ({ clientHeight }: HTMLElement) =>
    isScaled ? (whole - clientHeight) / (tall - clientHeight) : 1

  const look = () => {
    const element = viewport.current
    if (!element) return
    const { scrollTop, clientHeight } = element
    if (!isScaled) top.current = scrollTop
    else if (Math.abs(scrollTop - placedAt.current) > 1) {
      top.current = Math.min(scrollTop * factorOf(element), whole - clientHeight + head + foot)
    }
    const first = Math.max(0, Math.floor(top.current / height))
    const last = first + Math.ceil(clientHeight / height)
    const shift = isScaled ? scrollTop - top.current : 0
    setDrawn((before) =>
      before.first === first && before.last === last && before.shift === shift
        ? before
        : { first, last, shift },
    )
  }
  const place = (element: HTMLElement, next: number) => {
    top.current = Math.max(0, Math.min(next, whole - element.clientHeight + head + foot))
    element.scrollTop = top.current / factorOf(element)
    placedAt.current = element.scrollTop
    look()
  }

  useLayoutEffect(look, [length])
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [length])
  useEffect(() => {
    const element = viewport.current
    if (!element || !isScaled) return
    const roll = (event: WheelEvent) => {
      if (event.ctrlKey || event.deltaY === 0) return
      event.preventDefault()
      place(element, top.current + event.deltaY * (event.deltaMode === 0 ? 1 : height))
    }
    element.addEventListener('wheel', roll, { passive: false })
    return () => element.removeEventListener('wheel', roll)
  }, [length])

  const reveal = (index: number) => {
    const element = viewport.current
    if (!element) return
    const start = index * height
    const end = start + height + head + foot
    if (start < top.current) place(element, start)
    else if (end > top.current + element.clientHeight) place(element, end - element.clientHeight)
  }

  const { first, last, shift } = drawn
  // Of a table that is too high, there is no room above for more rows than were scrolled.
  const least = Math.ceil(-shift / height)
  const from = Math.max(0, least, Math.floor((first - spare) / step) * step)
  const to = Math.min(length, Math.ceil((last + spare) / step) * step)
  const above = from * height + shift
  const below = Math.max(0, tall - above - (to - from) * height)
  return { first, last: Math.min(last, length), from, to, above, below, reveal }
}
