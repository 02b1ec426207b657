import { useLayoutEffect, useRef } from 'preact/hooks'
import { isInDialog, isTyping } from './typing.ts'

/**
 * `j` and `k` go on to the next and the previous row while one is open. They work from the moment in
 * which it is shown, and from where the last key led, even if that is not drawn yet.
 *
 * @param step goes on by so many rows from the id, and tells the id that it came to
 */
export function useStepKeys(
  openId: string | undefined,
  step: (from: string, by: number) => string | undefined,
): void {
  const here = useRef(openId)
  here.current = openId
  const latest = useRef(step)
  latest.current = step
  const isOpen = openId !== undefined
  useLayoutEffect(() => {
    if (!isOpen) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event) || isInDialog()) return
      const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      if (by === 0 || here.current === undefined) return
      here.current = latest.current(here.current, by) ?? here.current
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [isOpen])
}
