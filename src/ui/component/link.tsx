import type { ComponentChildren } from 'preact'
import { base, goTo } from '../state/location.ts'

/** Whether a click asks for a new tab, a new window or a download, which browsers do by themselves. */
export function isForBrowser(event: MouseEvent): boolean {
  return event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
}

/** A link within the page: opens in place, or in a new tab when the person asks for that. */
export function Link({
  to,
  class: className,
  isCurrent = false,
  children,
}: {
  readonly to: string
  readonly class?: string
  readonly isCurrent?: boolean
  readonly children: ComponentChildren
}) {
  const follow = (event: MouseEvent) => {
    if (isForBrowser(event)) return
    event.preventDefault()
    goTo(to)
  }
  return (
    <a
      href={base + to}
      onClick={follow}
      {...(className !== undefined && { class: className })}
      {...(isCurrent && { 'aria-current': 'page' as const })}
    >
      {children}
    </a>
  )
}
