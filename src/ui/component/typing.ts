/**
 * Whether what is pressed goes into a text, so that it is no command; also in an editor, whose insides
 * events do not show.
 */
export function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea'))
  )
}

/** Whether a window over the page has the keys to itself. */
export function isInDialog(): boolean {
  return document.querySelector('dialog[open]') !== null
}
