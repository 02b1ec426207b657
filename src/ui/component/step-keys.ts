import { useEffect } from 'preact/hooks'

/** `j` and `k` go on to the next and the previous row while one is open. */
export function useStepKeys(isOpen: boolean, step: (by: number) => void): void {
  useEffect(() => {
    if (!isOpen) return
    const onKeyDown = (event: KeyboardEvent) => {
      const { target } = event
      const isTyping = target instanceof Element && target.matches('input, textarea, select')
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'j') step(1)
      if (event.key === 'k') step(-1)
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  })
}
