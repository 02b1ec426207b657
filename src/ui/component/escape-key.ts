import { useLayoutEffect, useRef } from 'preact/hooks'
import { isInDialog, isTyping } from './typing.ts'

/** Escape closes what is open beside a table, from anywhere but a text that is being written. */
export function useEscapeKey(isOpen: boolean, close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  useLayoutEffect(() => {
    if (!isOpen) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isTyping(event) || isInDialog())
        return
      latest.current()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [isOpen])
}
