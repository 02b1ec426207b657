import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isInDialog } from './typing.ts'

/**
 * What a button opens under itself and has the focus then: closed by a press beside it, by `close`, and by Escape,
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
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  // Before the next key is read, which is meant for what was opened.
  useLayoutEffect(() => {
    if (!isOpen) return
    place.current?.querySelector<HTMLElement>(first)?.focus()
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !place.current?.contains(target)) setOpen(false)
    }
    // From anywhere: what had the focus in it may be gone since.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isInDialog()) return
      event.preventDefault()
      event.stopPropagation()
      close()
    }
    window.addEventListener('keydown', onKeyDown, true)
    const events = ['pointerdown', ...(isLeftByFocus ? ['focusin'] : [])]
    for (const event of events) window.addEventListener(event, leave)
    return () => {
      window.removeEventListener('keydown', onKeyDown, true)
      for (const event of events) window.removeEventListener(event, leave)
    }
  }, [isOpen])
  return { isOpen, setOpen, close, place, button, id }
}
