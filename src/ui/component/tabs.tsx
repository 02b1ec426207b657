/** Views of one thing, of which one is shown. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { base } from '../state/location.ts'
import { isForBrowser } from './link.tsx'
import { moveFocus } from './menu.tsx'

export interface Tab {
  readonly id: string
  readonly title: string
}

export interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly current: string
  readonly onChoose: (id: string) => void
  /** Where each is found by itself: tabs are links then. */
  readonly linkOf?: (id: string) => string
  /** Below each other, where there is room for it. */
  readonly isVertical?: boolean
}

/** Belongs to a `TabPanel` of the same label. */
export function Tabs(props: TabsProps) {
  const { label, tabs, current, onChoose, linkOf, isVertical = false } = props
  const list = useRef<HTMLDivElement>(null)
  // On a phone they are a line that scrolls.
  useEffect(() => {
    const chosen = list.current?.querySelector('[aria-selected=true]')
    chosen?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  const onKeyDown = (event: KeyboardEvent) => {
    const elements = [...(list.current?.querySelectorAll<HTMLElement>('[role=tab]') ?? [])]
    if (!moveFocus(event, elements)) return
    const id = document.activeElement?.getAttribute('data-tab')
    if (id) onChoose(id)
  }
  return (
    <div
      class={isVertical ? 'tabs vertical' : 'tabs'}
      role="tablist"
      aria-label={label}
      {...(isVertical && { 'aria-orientation': 'vertical' })}
      ref={list}
    >
      {tabs.map(({ id, title }) => {
        const shared = {
          key: id,
          role: 'tab',
          id: tabId(label, id),
          'data-tab': id,
          'aria-selected': id === current,
          'aria-controls': panelId(label),
          tabIndex: id === current ? 0 : -1,
          onKeyDown,
        } as const
        if (!linkOf) {
          return (
            <button type="button" {...shared} onClick={() => onChoose(id)}>
              {title}
            </button>
          )
        }
        const choose = (event: MouseEvent) => {
          if (isForBrowser(event)) return
          event.preventDefault()
          onChoose(id)
        }
        return (
          <a {...shared} href={base + linkOf(id)} onClick={choose}>
            {title}
          </a>
        )
      })}
    </div>
  )
}

export function TabPanel({
  label,
  current,
  children,
}: {
  readonly label: string
  readonly current: string
  readonly children: ComponentChildren
}) {
  return (
    <div
      class="tab-panel"
      role="tabpanel"
      id={panelId(label)}
      aria-labelledby={tabId(label, current)}
    >
      {children}
    </div>
  )
}

function panelId(label: string): string {
  return `${label.toLowerCase().replaceAll(' ', '-')}-panel`
}

function tabId(label: string, tab: string): string {
  return `${label.toLowerCase().replaceAll(' ', '-')}-tab-${tab}`
}
