import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

/**
 * What a button opens under itself and has the focus then: closed by a press beside it, and by `close`,
 * which gives the focus back.
 *
 * @param first selects what has the focus at first
 * @param isLeftByFocus whether it is closed, too, when the focus goes elsewhere
 */
export function useOpening(first: string, { isLeftByFocus = false } = {}) {
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  // Before the next key is read, which is meant for what was opened.
  useLayoutEffect(() => {
    if (!isOpen) return
    place.current?.querySelector<HTMLElement>(first)?.focus()
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !place.current?.contains(target)) setOpen(false)
    }
    const events = ['pointerdown', ...(isLeftByFocus ? ['focusin'] : [])]
    for (const event of events) window.addEventListener(event, leave)
    return () => {
      for (const event of events) window.removeEventListener(event, leave)
    }
  }, [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return { isOpen, setOpen, close, place, button, id }
}
